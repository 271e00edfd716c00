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
