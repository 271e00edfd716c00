/* SPDX-License-Identifier: Apache-2.0 */
/* An option of a command is one row: its name, and the member of the command's
 * struct that takes its value. cmd/jobrun/ui/options.c parses options. */
#ifndef JOBRUN_OPT_H
#define JOBRUN_OPT_H

#include <stddef.h>

enum opt_type {
	OPT_FLAG,     /* bool */
	OPT_STRING,   /* const char * */
	OPT_CHOICE,   /* const char *, one of the words in `value` */
	OPT_NUMBER,   /* long, 0 or more */
	OPT_COUNT,    /* long, 1 or more */
	OPT_DURATION, /* long, seconds */
	OPT_SIZE,     /* uint64_t, bytes */
	OPT_LIST,     /* struct opt_list; may be given several times */
};

#define OPT_LIST_MAX 64

/* The options given, in order; several options can share one list. */
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
	size_t offset; /* of the member that receives the value */
	/* NULL for a flag; "text|json" for a choice, where "*" stands for the
	 * providers that render; else a placeholder, such as "FILE", from which
	 * cmd/jobrun/complete.c knows what to offer. */
	const char *value;
	const char *help;
};

#endif
