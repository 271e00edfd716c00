/* SPDX-License-Identifier: Apache-2.0 */
/* Finishes a map after reading: handles duplicate keys and merge keys. */
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
	struct names *keys; /* scratch memory, used for one map at a time */
	size_t *nodes;      /* of the file; includes merged ones */
};

/* Reports and drops duplicate keys, then adds the contents of "<<". */
void map_end(const struct map_reader *r, struct node *map);

#endif
