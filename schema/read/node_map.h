/* SPDX-License-Identifier: Apache-2.0 */
/* Finishes a map of a file after reading: duplicate keys, and merge keys. */
#ifndef JOBRUN_NODE_MAP_H
#define JOBRUN_NODE_MAP_H

#include <stddef.h>

struct arena;
struct names;
struct node;
struct problems;

struct map_reader {
	struct arena *mem;
	struct problems *found;
	struct names *keys; /* of one map at a time: memory that is reused */
	size_t *nodes;      /* of the file; merged ones are counted too */
};

/* Reports and drops duplicate keys, then adds what "<<" names. */
void map_end(const struct map_reader *r, struct node *map);

#endif
