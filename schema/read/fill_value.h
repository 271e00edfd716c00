/* SPDX-License-Identifier: Apache-2.0 */
/* One value of a job file, read into the member of its field. */
#ifndef JOBRUN_FILL_VALUE_H
#define JOBRUN_FILL_VALUE_H

#include "schema/read/fill.h"

/* A value that is being read, and what to call it in messages. */
struct spot {
	const struct field *field;
	const struct node *value;
	const struct path *path;
};

/* False, with a problem, if it was not taken. */
bool fill_field(struct fill *fill, const struct spot *at, void *member);

/* fill_message() for what has its defaults already. */
void fill_keys(struct fill *fill, const struct message *message,
	       const struct node *map, const struct path *path, void *data);

/* "7200.5s" is rounded up to whole seconds. */
bool fill_parse_duration(const char *text, long *out, struct error *err);

#endif
