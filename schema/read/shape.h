/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the keys of a map in a job file are, known before the file is checked:
 * two spellings of one field are one key, and names that users give are what
 * they are.
 */
#ifndef JOBRUN_SHAPE_H
#define JOBRUN_SHAPE_H

#include "core/job/message.h"

struct schema_options;

struct shape {
	const struct schema_options *options; /* for the providers' blocks */
	const struct message *keys;  /* NULL: any, or nothing is known */
	const struct message *items; /* of what is in the list or map */
};

/* Of the top level of a job. */
struct shape shape_root(const struct schema_options *options);
/* Of the value of a key. */
struct shape shape_under(const struct shape *shape, const char *key);
/* Of the items of a list. */
struct shape shape_item(const struct shape *shape);
/* The name of the field if it is one, else the key itself. */
const char *shape_name(const struct shape *shape, const char *key);

#endif
