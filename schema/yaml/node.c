/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/yaml/node.h"

#include <string.h>

const struct item *node_item(const struct node *map, const char *key)
{
	const struct item *item;

	if (!map || map->kind != NODE_MAP)
		return NULL;
	for (item = map->items; item; item = item->next)
		if (!strcmp(item->key->text, key))
			return item;
	return NULL;
}

const struct node *node_get(const struct node *map, const char *key)
{
	const struct item *item = node_item(map, key);

	return item ? item->value : NULL;
}

void node_forget_source(const struct node *node)
{
	struct origin *origin;

	for (origin = node->origin; origin; origin = origin->next)
		origin->source = NULL;
}

struct search {
	const struct node *node;
	const struct node **out;
	size_t count, max;
};

/* Searches below `at`; `via` is the alias or merged map that led here last. */
static void search(struct search *s, const struct node *at,
		   const struct node *via)
{
	const struct item *item;

	if (at->kind != NODE_LIST && at->kind != NODE_MAP)
		return;
	for (item = at->items; item && s->count < s->max; item = item->next) {
		const struct node *value = item->value, *by = via;

		if (item->merged && item->merged->anchor)
			by = item->merged;
		if (by && (value == s->node || item->key == s->node))
			s->out[s->count++] = by;
		else
			search(s, value, value->anchor ? value : by);
	}
}

size_t node_uses(const struct node *root, const struct node *node,
		 const struct node **out, size_t max)
{
	struct search s = { .node = node, .out = out, .max = max };

	search(&s, root, NULL);
	return s.count;
}
