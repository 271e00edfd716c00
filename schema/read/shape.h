/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of keys in a job file's maps, needed before the file is checked:
 * two spellings of a field are one key, and names given by users stay as they
 * are.
 */
#ifndef JOBRUN_SHAPE_H
#define JOBRUN_SHAPE_H

#include "core/job/message.h"

struct schema_options;

struct shape {
	const struct schema_options *options; /* for the providers' blocks */
	const struct message *keys;           /* NULL: any key, or unknown */
	const struct message *items; /* of the items of the list or map */
};

/* The shape of the top level of a job. */
struct shape shape_root(const struct schema_options *options);
/* The shape of the value of a key. */
struct shape shape_under(const struct shape *shape, const char *key);
/* The shape of the items of a list. */
struct shape shape_item(const struct shape *shape);
/* The name of the field if the key is one, else the key itself. */
const char *shape_name(const struct shape *shape, const char *key);

#endif
