/* SPDX-License-Identifier: Apache-2.0 */
/* Makes new nodes from nodes: nodes that were read are shared and never
 * changed. */
#ifndef JOBRUN_MERGE_H
#define JOBRUN_MERGE_H

#include <stddef.h>

#include "schema/read/shape.h"

struct arena;
struct item;
struct node;

/* Merges two nodes: maps key by key, where null removes the key; for anything
 * else `over` wins.  Every node keeps the position where it was read. */
const struct node *node_merge(struct arena *mem, const struct shape *shape,
			      const struct node *base, const struct node *over);

/* A copy of a list or a map that shares its contents: its items can be changed,
 * but not their keys and values. */
struct node *node_copy(struct arena *mem, const struct node *node);
/* Adds an item at the end; `key` is NULL in a list. */
void node_add(struct arena *mem, struct node *node, const struct node *key,
	      const struct node *value);
/* The map without a key. */
const struct node *node_without(struct arena *mem, const struct node *map,
				const struct item *item);
/* The map with another value for one of its items. */
const struct node *node_with(struct arena *mem, const struct node *map,
			     const struct item *item, const struct node *value);

#endif
