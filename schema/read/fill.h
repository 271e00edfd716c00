/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills a message's struct from the nodes of a file by its table, reports
 * everything that does not fit, and fills in the defaults.  Knows no message
 * by name.
 */
#ifndef JOBRUN_FILL_H
#define JOBRUN_FILL_H

#include "core/job/message.h"
#include "schema/problem/problem.h"

struct arena;
struct node;
struct origin;

struct fill {
	struct arena *mem; /* of the job; texts are those of its nodes */
	struct problems *found;
	const struct message *root; /* searched for where a key belongs */

	/* Asked about a key that the message does not have; true if it knows
	 * the key and has dealt with it.  May be NULL. */
	bool (*other_key)(struct fill *fill, const struct message *message,
			  const struct node *key, const struct node *value,
			  const struct path *path, void *data);
	/* Names that such keys could have, for suggestions; up to NULL. */
	const char *const *(*other_names)(const struct fill *fill,
					  const struct message *message);
	/* A text of the right form for one that has not, for a suggestion;
	 * false if there is none.  May be NULL. */
	bool (*mend)(const struct field *field, const char *text,
		     char out[SHORT_SIZE]);
	/* The file of the job: what a base of it calls a path is called
	 * from there. */
	const struct origin *origin;
	void *arg; /* the caller's */
};

/* `data` is zeroed, `map` may be NULL (defaults only) or no map at all. */
void fill_message(struct fill *fill, const struct message *message,
		  const struct node *map, const struct path *path, void *data);

#endif
