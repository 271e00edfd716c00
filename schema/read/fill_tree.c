/* SPDX-License-Identifier: Apache-2.0 */
/* Maps with any content, which jobrun passes on to another system. */
#include "schema/read/fill_part.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "schema/yaml/node.h"
#include "schema/yaml/scalar.h"

static json_t *scalar_json(const struct node *node, bool texts)
{
	double real;
	long whole;
	bool flag, odd;

	if (!node->plain ||
	    (texts && strcmp(node->text, "true") != 0 &&
	     strcmp(node->text, "false") != 0 && !scalar_is_null(node)))
		return json_text(node->text);
	switch (scalar_kind(node)) {
	case SCALAR_NULL:
		return json_null();
	case SCALAR_BOOL:
		return scalar_bool(node, &flag) ? json_boolean(flag)
						: json_null();
	case SCALAR_INT:
		if (scalar_int(node, &whole, &odd))
			return json_integer(whole);
		break;
	case SCALAR_FLOAT:
		if (scalar_double(node, &real))
			return json_real(real);
		break;
	default:
		break;
	}
	return json_text(node->text);
}

static json_t *tree_json(const struct node *node, bool texts)
{
	const struct item *item;
	json_t *out;

	switch (node->kind) {
	case NODE_MAP:
		out = json_object();
		for (item = node->items; item; item = item->next)
			if (!json_object_get(out, item->key->text))
				json_put(out, item->key->text,
					 tree_json(item->value, texts));
		return out;
	case NODE_LIST:
		out = json_array();
		for (item = node->items; item; item = item->next)
			json_array_append_new(out,
					      tree_json(item->value, texts));
		return out;
	case NODE_SCALAR:
		return scalar_json(node, texts);
	default:
		return json_null();
	}
}

/* Where the problems that a check of the tree finds are in the file. */
struct tree_spot {
	struct fill *fill;
	const struct spot *at;
};

/* Returns the key or value at the next step of a path, and moves the path
 * behind that step. */
static const struct node *step(const struct node *node, const char **path,
			       const struct node **key)
{
	const struct item *item = node->items;
	size_t len, i;

	if (**path == '[') {
		for (i = strtoul(*path + 1, NULL, 10); item && i; i--)
			item = item->next;
		*path += strcspn(*path, "]");
		*path += **path == ']';
	} else {
		*path += **path == '.';
		/* Keys may contain dots, so match whole keys of the map. */
		for (len = 0; item; item = item->next) {
			size_t n = item->key->count;

			if (!strncmp(*path, item->key->text, n) &&
			    (!(*path)[n] || strchr(".[", (*path)[n])))
				break;
		}
		len = item ? item->key->count : strcspn(*path, ".[");
		*path += len;
	}
	*key = item && item->key ? item->key : NULL;
	return item ? item->value : NULL;
}

static void tell(void *ctx, const char *path, const char *text,
		 const char *hint)
{
	const struct tree_spot *spot = ctx;
	const struct node *node = spot->at->value, *key = NULL, *below;
	struct path here = { .up = spot->at->path, .name = path };
	const struct node *shown = node;

	while (*path && node->kind != NODE_SCALAR) {
		below = step(node, &path, &key);
		if (!below)
			break;
		node = below;
		shown = key ? key : node;
	}
	problem_add(spot->fill->found, SEVERITY_ERROR, shown,
		    *here.name ? &here : spot->at->path, "format", "%s", text);
	if (hint)
		problem_hint(spot->fill->found, "%s", hint);
}

bool fill_tree(struct fill *fill, const struct spot *at, const char **out)
{
	struct tree_spot spot = { .fill = fill, .at = at };
	json_t *tree;
	char *text;

	if (!fill_is_map(fill, at))
		return false;
	tree = tree_json(at->value, at->field->flags & FIELD_NUMBERS);
	if (at->field->check_tree)
		at->field->check_tree(tree, tell, &spot);
	text = json_canonical(tree);
	*out = arena_strdup(fill->mem, text);
	free(text);
	json_decref(tree);
	return true;
}
