/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files of other programs as JSON with YAML's types, and the line of
 * every value. */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "schema/import/import.h"
#include "schema/problem/problem.h"
#include "schema/read/node_reader.h"
#include "schema/yaml/node.h"
#include "schema/yaml/node_json.h"
#include "schema/yaml/source_text.h"

/* Notes the line of each value by its path, such as "spec.tasks.0". */
static void put_lines(const struct node *node, const char *path, json_t *lines)
{
	const struct item *item;
	size_t i = 0;

	if (node->kind != NODE_MAP && node->kind != NODE_LIST)
		return;
	for (item = node->items; item; item = item->next, i++) {
		char *below =
			item->key ? mem_printf("%s%s%s", path, *path ? "." : "",
					       item->key->text)
				  : mem_printf("%s%s%zu", path,
					       *path ? "." : "", i);

		json_put_int(lines, below,
			     item->key ? item->key->line : item->value->line);
		put_lines(item->value, below, lines);
		free(below);
	}
}

static void take_document(const struct document *doc, json_t *out)
{
	json_t *lines;

	/* Skip a tree that aliases could expand without limit. */
	if (!doc->root || doc->root->kind != NODE_MAP ||
	    doc->root->weight > NODE_COUNT_MAX)
		return;
	lines = json_object();
	put_lines(doc->root, "", lines);
	json_array_append_new(out,
			      json_pack("{s:o,s:o}", "value",
					node_json(doc->root), "lines", lines));
}

json_t *import_documents(const char *path, char *data, size_t len,
			 struct problems *found, struct error *err)
{
	json_t *out = json_array();
	struct node_reader *reader;
	struct source_fault fault;
	struct source source;
	struct document doc;

	if (source_init(&source, path, 1, data, len, &fault) < 0) {
		problem_add_at(found, SEVERITY_ERROR, &source, fault.line,
			       fault.column, 1, "encoding", "%s", fault.text);
	} else {
		reader = node_reader_new(&source, found);
		while (node_reader_next(reader, &doc) > 0) {
			take_document(&doc, out);
			arena_free(doc.mem);
		}
		node_reader_free(reader);
	}
	source_done(&source);
	if (!found->errors && json_array_size(out))
		return out;
	json_decref(out);
	error_set(err, ERROR_INVALID, "'%s' is not a map of keys", path);
	return NULL;
}

int import_typed_config(struct import *import, const char *value,
			struct error *err)
{
	json_t *documents;
	size_t len;
	char *data = file_read_argument(value, SOURCE_SIZE_MAX, &len, err);

	if (!data)
		return -1;
	documents = import_documents(value, data, len, import->found, err);
	if (!documents)
		return -1;
	json_decref(import->config);
	import->config = json_incref(
		json_object_get(json_array_get(documents, 0), "value"));
	json_decref(documents);
	return 0;
}
