/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/yaml_read.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "schema/read/node_reader.h"
#include "schema/yaml/node.h"
#include "schema/problem/problem.h"
#include "schema/yaml/scalar.h"
#include "schema/yaml/source_text.h"

static json_t *node_value(const struct node *node)
{
	const struct item *item;
	json_t *out;

	if (node->kind == NODE_LIST) {
		out = json_array();
		for (item = node->items; item; item = item->next)
			json_array_append_new(out, node_value(item->value));
		return out;
	}
	if (node->kind == NODE_MAP) {
		out = json_object();
		for (item = node->items; item; item = item->next)
			json_object_set_new(out, item->key->text,
					    node_value(item->value));
		return out;
	}
	if (node->kind != NODE_SCALAR || scalar_is_null(node))
		return json_null();
	return json_text(node->text);
}

static int first_problem(const struct problems *found, const char *name,
			 struct error *err)
{
	const struct problem *first = found->count ? &found->items[0] : NULL;

	if (!first)
		return error_set(err, ERROR_INVALID, "'%s' cannot be read",
				 name);
	return error_set(err, ERROR_INVALID, "'%s', line %u: %s", name,
			 first->at.line, first->message);
}

json_t *yaml_read(const char *text, size_t len, const char *name,
		  struct error *err)
{
	struct problems found = { 0 };
	struct node_reader *reader;
	struct source_fault fault;
	struct source source;
	struct document doc;
	json_t *out = NULL;
	char *data = mem_alloc(len + 1);
	int ret;

	memcpy(data, text, len);
	if (source_init(&source, name, 1, data, len, &fault) < 0) {
		error_set(err, ERROR_INVALID, "'%s', line %u: %s", name,
			  fault.line, fault.text);
		goto out;
	}
	reader = node_reader_new(&source, &found);
	ret = node_reader_next(reader, &doc);
	if (ret > 0) {
		/* Refuse a tree that aliases could expand without limit. */
		if (found.errors ||
		    (doc.root && doc.root->weight > NODE_COUNT_MAX))
			first_problem(&found, name, err);
		else
			out = doc.root ? node_value(doc.root) : json_null();
		arena_free(doc.mem);
	} else if (ret < 0) {
		first_problem(&found, name, err);
	} else {
		out = json_null();
	}
	node_reader_free(reader);
out:
	problems_done(&found);
	source_done(&source);
	return out;
}
