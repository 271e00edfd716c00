/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one value of a job file into the member of its field. */
#ifndef JOBRUN_FILL_VALUE_H
#define JOBRUN_FILL_VALUE_H

#include "schema/read/fill.h"

/* A value being read, and its name in messages. */
struct spot {
	const struct field *field;
	const struct node *value;
	const struct path *path;
	const struct node *key; /* of the value; NULL for an item of a list */
};

/* Returns false, after adding a problem, if the value was rejected. */
bool fill_field(struct fill *fill, const struct spot *at, void *member);

/* fill_message() for data that already has its defaults, in place of the value
 * at a spot. */
void fill_keys(struct fill *fill, const struct message *message,
	       const struct spot *at, void *data);

/* Parses a duration; "7200.5s" is rounded up to whole seconds. */
bool fill_parse_duration(const char *text, long *out, struct error *err);

#endif
