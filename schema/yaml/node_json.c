/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/yaml/node_json.h"

#include "core/base/json.h"
#include "schema/yaml/scalar.h"

static json_t *scalar_json(const struct node *node)
{
	double real;
	long whole;
	bool yes, odd;

	switch (scalar_kind(node)) {
	case SCALAR_NULL:
		return json_null();
	case SCALAR_BOOL:
		return scalar_bool(node, &yes) ? json_boolean(yes)
					       : json_text(node->text);
	case SCALAR_INT:
		if (scalar_int(node, &whole, &odd))
			return json_integer(whole);
		/* fallthrough */
	case SCALAR_FLOAT:
		return scalar_double(node, &real) ? json_real(real)
						  : json_text(node->text);
	default:
		return json_text(node->text);
	}
}

json_t *node_json(const struct node *node)
{
	const struct item *item;
	json_t *out;

	if (node->kind == NODE_SCALAR)
		return scalar_json(node);
	if (node->kind == NODE_LIST) {
		out = json_array();
		for (item = node->items; item; item = item->next)
			json_array_append_new(out, node_json(item->value));
		return out;
	}
	out = json_object();
	if (node->kind != NODE_MAP)
		return out;
	/* Merged keys come last, as explicit keys win. */
	for (item = node->items; item; item = item->next)
		if (!json_object_get(out, item->key->text))
			json_object_set_new(out, item->key->text,
					    node_json(item->value));
	return out;
}
