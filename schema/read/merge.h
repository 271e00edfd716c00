/* SPDX-License-Identifier: Apache-2.0 */
/* New nodes from nodes: what was read is shared and never changed. */
#ifndef JOBRUN_MERGE_H
#define JOBRUN_MERGE_H

#include <stddef.h>

#include "schema/read/shape.h"

struct arena;
struct item;
struct node;

/* One of two: maps are merged, key by key, and a null takes the key away; of
 * all else `over` is taken.
 * Every node keeps the place that it was read at. */
const struct node *node_merge(struct arena *mem, const struct shape *shape,
			      const struct node *base, const struct node *over);

/* A copy of a list or a map that shares what is in it: its items can be
 * changed, their keys and values can't. */
struct node *node_copy(struct arena *mem, const struct node *node);
/* Adds an item at the end; `key` is NULL in a list. */
void node_add(struct arena *mem, struct node *node, const struct node *key,
	      const struct node *value);
/* The map without a key. */
const struct node *node_without(struct arena *mem, const struct node *map,
				const struct item *item);
/* The map with another value in an item that it has. */
const struct node *node_with(struct arena *mem, const struct node *map,
			     const struct item *item, const struct node *value);

#endif
