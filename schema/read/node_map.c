/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/node_map.h"

#include <string.h>

#include "core/base/json.h"
#include "schema/yaml/names.h"
#include "schema/yaml/node.h"
#include "schema/problem/problem.h"

#define NO_BREAK_SPACE "\xc2\xa0"

static bool is_merge_key(const struct node *key)
{
	return key->kind == NODE_SCALAR && key->plain &&
	       !strcmp(key->text, "<<");
}

static void report_duplicate(const struct map_reader *r, const struct node *key,
			     const struct node *first)
{
	char name[SHORT_SIZE];

	problem_add(r->found, SEVERITY_ERROR, key, NULL, "duplicate-key",
		    "duplicate key \"%s\", first given at line %u",
		    text_short(key->text, name), first->line);
	problem_also(r->found, first, "first given here");
	problem_hint(r->found, is_merge_key(key)
				       ? "merge several maps by one key: <<: "
					 "[*a, *b]"
				       : "remove one of the two: programs "
					 "differ in which one they use");
}

/* Reports a map as the key of a map, which is what "{{ name }}" is in YAML. */
static void report_key(const struct map_reader *r, const struct node *map,
		       const struct node *key)
{
	if (key->kind == NODE_MAP && key->line == map->line &&
	    key->column == map->column + 1) {
		problem_add(r->found, SEVERITY_ERROR, map, NULL, "yaml-key",
			    "\"{{\" starts a template, but jobrun fills in no "
			    "templates");
		problem_hint(r->found, "write the value itself");
		return;
	}
	problem_add(r->found, SEVERITY_ERROR, key, NULL, "yaml-key",
		    "a key must be a plain string, found a %s",
		    key->kind == NODE_MAP ? "map" : "list");
}

/* Reports no-break spaces before a key: in YAML they are letters of it, so that
 * it starts too far to the left. */
static bool is_after_no_break(const struct map_reader *r,
			      const struct node *key)
{
	unsigned n = 0;

	while (!strncmp(key->text + 2 * n, NO_BREAK_SPACE, 2))
		n++;
	if (!n || !key->plain || !key->origin->source)
		return false;
	problem_add_at(r->found, SEVERITY_ERROR, key->origin->source, key->line,
		       key->column, n, "yaml",
		       "no-break space (U+00A0) used for indentation");
	problem_hint(r->found, "it looks like a space, but YAML takes it for a "
			       "letter: write spaces");
	problem_fix(r->found, key, "%*s%s", (int)n, "", key->text + 2 * n);
	return true;
}

/* Refuses the key of placeholders: plans would take the map for a secret and
 * hide it. */
static bool is_reserved(const struct map_reader *r, const struct node *key)
{
	if (strcmp(key->text, JSON_PLACEHOLDER_KEY) != 0)
		return false;
	problem_add(r->found, SEVERITY_ERROR, key, NULL, "reserved-key",
		    "\"" JSON_PLACEHOLDER_KEY
		    "\" is a key reserved for jobrun");
	problem_hint(r->found, "choose another name");
	return true;
}

/* Reports and drops duplicate keys and keys that are no text. */
static struct item **drop_duplicates(const struct map_reader *r,
				     struct node *map)
{
	struct item **at = &map->items;
	const struct item *other;
	struct item *item;
	const void **known;

	names_clear(r->keys);
	while ((item = *at)) {
		const struct node *key = item->key, *first = NULL;

		if (key->kind != NODE_SCALAR) {
			if (key->kind != NODE_BAD)
				report_key(r, map, key);
			goto drop;
		}
		if (is_after_no_break(r, key))
			goto drop;
		if (is_reserved(r, key))
			goto drop;
		if (map->count > 16) {
			known = names_at(r->keys, key->text, key->count);
			first = *known;
			if (!first)
				*known = key;
		} else {
			for (other = map->items; other != item;
			     other = other->next)
				if (other->key->count == key->count &&
				    !memcmp(other->key->text, key->text,
					    key->count))
					first = other->key;
		}
		if (!first) {
			at = &item->next;
			continue;
		}
		report_duplicate(r, key, first);
	drop:
		*at = item->next;
		map->count--;
	}
	return at;
}

/* Adds the entries of a map that the other map lacks. */
static void merge_map(const struct map_reader *r, struct node *map,
		      struct item ***tail, const struct node *from)
{
	const struct item *item;
	struct item *copy;
	const void **known;

	for (item = from->items; item && *r->nodes <= NODE_COUNT_MAX;
	     item = item->next) {
		known = names_at(r->keys, item->key->text, item->key->count);
		if (*known)
			continue;
		*known = item->key;
		copy = arena_alloc(r->mem, sizeof(*copy));
		copy->key = item->key;
		copy->value = item->value;
		copy->merged = from;
		**tail = copy;
		*tail = &copy->next;
		map->count++;
		++*r->nodes;
	}
}

static void merge(const struct map_reader *r, struct node *map,
		  struct item ***tail, const struct node *from)
{
	const struct item *item;

	if (from->kind == NODE_MAP) {
		merge_map(r, map, tail, from);
		return;
	}
	for (item = from->kind == NODE_LIST ? from->items : NULL; item;
	     item = item->next) {
		if (item->value->kind == NODE_MAP)
			merge_map(r, map, tail, item->value);
		else if (item->value->kind != NODE_BAD)
			break;
	}
	if (from->kind == NODE_BAD || (from->kind == NODE_LIST && !item))
		return;
	problem_add(r->found, SEVERITY_ERROR, item ? item->value : from, NULL,
		    "yaml-merge", "\"<<\" merges maps, but this is not a map");
	problem_hint(r->found, "write <<: *name, where &name stands before a "
			       "map");
}

void map_end(const struct map_reader *r, struct node *map)
{
	bool is_empty = !map->count;
	struct item **tail = drop_duplicates(r, map);
	struct item **at, *item;
	const struct node *from = NULL;

	if (!map->count && !is_empty) {
		map->kind = NODE_BAD;
		return;
	}

	for (at = &map->items; (item = *at); at = &item->next) {
		if (!is_merge_key(item->key))
			continue;
		from = item->value;
		*at = item->next;
		if (!*at)
			tail = at;
		map->count--;
		break;
	}
	if (!from)
		return;
	names_clear(r->keys);
	for (item = map->items; item; item = item->next)
		*names_at(r->keys, item->key->text, item->key->count) =
			item->key;
	merge(r, map, &tail, from);
}
