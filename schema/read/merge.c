/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/merge.h"

#include <string.h>

#include "core/base/alloc.h"
#include "schema/yaml/names.h"
#include "schema/yaml/node.h"
#include "schema/yaml/scalar.h"

struct tail {
	struct arena *mem;
	struct node *node;
	struct item **at;
};

static struct tail tail_new(struct arena *mem, const struct node *like)
{
	struct node *node = arena_alloc(mem, sizeof(*node));

	*node = *like;
	node->items = NULL;
	node->count = 0;
	return (struct tail){ mem, node, &node->items };
}

static struct item *put(struct tail *tail, const struct item *like)
{
	struct item *item = arena_alloc(tail->mem, sizeof(*item));

	*item = *like;
	item->next = NULL;
	*tail->at = item;
	tail->at = &item->next;
	tail->node->count++;
	return item;
}

struct node *node_copy(struct arena *mem, const struct node *node)
{
	struct tail tail = tail_new(mem, node);
	const struct item *item;

	for (item = node->items; item; item = item->next)
		put(&tail, item);
	return tail.node;
}

void node_add(struct arena *mem, struct node *node, const struct node *key,
	      const struct node *value)
{
	struct item **at = &node->items;
	struct item *item = arena_alloc(mem, sizeof(*item));

	while (*at)
		at = &(*at)->next;
	item->key = key;
	item->value = value;
	*at = item;
	node->count++;
}

const struct node *node_without(struct arena *mem, const struct node *map,
				const struct item *without)
{
	struct tail tail = tail_new(mem, map);
	const struct item *item;

	for (item = map->items; item; item = item->next)
		if (item != without)
			put(&tail, item);
	return tail.node;
}

const struct node *node_with(struct arena *mem, const struct node *map,
			     const struct item *with, const struct node *value)
{
	struct tail tail = tail_new(mem, map);
	const struct item *item;

	for (item = map->items; item; item = item->next) {
		struct item *copy = put(&tail, item);

		if (item == with)
			copy->value = value;
	}
	return tail.node;
}

static const void **name_of(struct names *names, const struct shape *shape,
			    const struct item *item)
{
	const char *name = shape_name(shape, item->key->text);

	return names_at(names, name, strlen(name));
}

/* Merges two maps.  A field in two spellings stays as it is and is reported
 * elsewhere. */
static const struct node *merge_maps(struct arena *mem,
				     const struct shape *shape,
				     const struct node *base,
				     const struct node *over)
{
	struct tail tail = tail_new(mem, over);
	struct names names = { 0 };
	const struct item *item, *other;
	struct shape under;
	const void **known;

	for (item = over->items; item; item = item->next) {
		known = name_of(&names, shape, item);
		if (!*known)
			*known = item;
	}
	for (item = base->items; item; item = item->next) {
		other = *name_of(&names, shape, item);
		if (!other)
			put(&tail, item);
	}
	names_clear(&names);
	for (item = base->items; item; item = item->next) {
		known = name_of(&names, shape, item);
		if (!*known)
			*known = item;
	}
	for (item = over->items; item; item = item->next) {
		other = *name_of(&names, shape, item);
		if (!other) {
			put(&tail, item);
			continue;
		}
		if (scalar_is_null(item->value))
			continue;
		under = shape_under(shape, item->key->text);
		put(&tail, item)->value =
			node_merge(mem, &under, other->value, item->value);
	}
	names_done(&names);
	return tail.node;
}

const struct node *node_merge(struct arena *mem, const struct shape *shape,
			      const struct node *base, const struct node *over)
{
	if (base->kind == NODE_MAP && over->kind == NODE_MAP)
		return merge_maps(mem, shape, base, over);
	return over;
}
