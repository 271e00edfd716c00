/* SPDX-License-Identifier: Apache-2.0 */
/* An option of a command is a row: what it is called, and which member of the
 * command's struct takes its value.  cmd/jobrun/ui/options.c parses them. */
#ifndef JOBRUN_OPT_H
#define JOBRUN_OPT_H

#include <stddef.h>

enum opt_type {
	OPT_FLAG,     /* bool */
	OPT_STRING,   /* const char * */
	OPT_CHOICE,   /* const char *, one of those in `value` */
	OPT_NUMBER,   /* long, 0 or more */
	OPT_COUNT,    /* long, 1 or more */
	OPT_DURATION, /* long, seconds */
	OPT_SIZE,     /* uint64_t, bytes */
	OPT_LIST,     /* struct opt_list; can be given several times */
};

#define OPT_LIST_MAX 64

/* What options were given, in their order; several can share one. */
struct opt_list {
	struct {
		const struct opt *opt;
		const char *value;
	} items[OPT_LIST_MAX];
	size_t count;
};

struct opt {
	char letter; /* or 0 */
	const char *name;
	enum opt_type type;
	size_t offset; /* of the member that takes it */
	/* NULL for a flag; of a choice "text|json", where "*" stands for the
	 * providers that render; else a word for it, by which
	 * cmd/jobrun/complete.c knows what to offer: "FILE". */
	const char *value;
	const char *help;
};

#endif
