/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills a message's struct from the nodes of a file by its table, reports
 * everything that does not fit, and fills in the defaults.  Knows no message by
 * name.
 */
#ifndef JOBRUN_FILL_H
#define JOBRUN_FILL_H

#include "core/job/message.h"
#include "schema/problem/problem.h"

struct arena;
struct node;
struct origin;

struct fill {
	struct arena *mem; /* the job's; strings are those of its nodes */
	struct problems *found;
	/* searched to suggest where a key belongs */
	const struct message *root;

	/* Called for a key that the message lacks; returns true if it knows the
	 * key and has handled it.  May be NULL. */
	bool (*other_key)(struct fill *fill, const struct message *message,
			  const struct node *key, const struct node *value,
			  const struct path *path, void *data);
	/* Names that such keys could have, for suggestions; NULL-terminated. */
	const char *const *(*other_names)(const struct fill *fill,
					  const struct message *message);
	/* Suggests a valid form for an invalid string; false if there is none.
	 * May be NULL. */
	bool (*mend)(const struct field *field, const char *text,
		     char out[SHORT_SIZE]);
	/* The job's file: paths in its base files are converted to be relative
	 * to it. */
	const struct origin *origin;
	void *arg; /* the caller's */
};

/* `data` is zeroed; `map` may be NULL (defaults only) or not a map at all. */
void fill_message(struct fill *fill, const struct message *message,
		  const struct node *map, const struct path *path, void *data);

#endif
