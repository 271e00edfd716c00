/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of a job file: positions, aliases, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/buf.h"
#include "schema/read/node_reader.h"
#include "schema/yaml/node.h"
#include "schema/problem/problem.h"
#include "schema/yaml/scalar.h"
#include "schema/yaml/source_text.h"

struct tree {
	struct source source;
	struct source_fault fault;
	struct problems found;
	struct document doc;
	int ret; /* for the first document */
};

static void tree_init(struct tree *tree, const char *text, size_t len)
{
	struct node_reader *reader;
	char *data = mem_alloc(len + 1);

	memset(tree, 0, sizeof(*tree));
	memcpy(data, text, len);
	tree->ret = source_init(&tree->source, "a.yaml", 1, data, len,
				&tree->fault);
	if (tree->ret < 0)
		return;
	reader = node_reader_new(&tree->source, &tree->found);
	tree->ret = node_reader_next(reader, &tree->doc);
	node_reader_free(reader);
}

static void tree_done(struct tree *tree)
{
	arena_free(tree->doc.mem);
	problems_done(&tree->found);
	source_done(&tree->source);
}

static void read_text(struct tree *tree, const char *text)
{
	tree_init(tree, text, strlen(text));
}

static void places_are_kept(void **state)
{
	const struct node *node;
	struct tree tree;

	(void)state;
	read_text(&tree, "\xef\xbb\xbf"
			 "a: \"x\"\r\n"
			 "gr\xc3\xb6\xc3\x9f"
			 "e: [1,\n  two]\n");
	assert_int_equal(tree.ret, 1);
	node = node_get(tree.doc.root, "a");
	assert_int_equal(node->line, 1);
	assert_int_equal(node->column, 4);
	assert_int_equal(node->length, 3);
	assert_false(node->plain);
	node = node_get(tree.doc.root, "gr\xc3\xb6\xc3\x9f"
				       "e");
	assert_int_equal(node->line, 2);
	assert_int_equal(node->column, 8);
	assert_int_equal(node->count, 2);
	node = node->items->next->value;
	assert_int_equal(node->line, 3);
	assert_int_equal(node->column, 3);
	assert_true(node->plain);
	tree_done(&tree);
}

static void aliases_share(void **state)
{
	struct tree tree;

	(void)state;
	read_text(&tree, "a: &x [1]\nb: *x\nc: &x 2\nd: *x\n");
	assert_int_equal(tree.ret, 1);
	/* An alias has a position of its own, and the contents of its
	 * anchor. */
	assert_ptr_equal(node_get(tree.doc.root, "a"),
			 node_get(tree.doc.root, "b")->anchor);
	assert_ptr_equal(node_get(tree.doc.root, "a")->items,
			 node_get(tree.doc.root, "b")->items);
	assert_int_equal(node_get(tree.doc.root, "b")->line, 2);
	assert_string_equal(node_get(tree.doc.root, "d")->text, "2");
	tree_done(&tree);
}

/* Returns the first problem of a text as "line:column rule". */
static const char *first_problem(const char *text, size_t len, char out[64])
{
	struct tree tree;

	tree_init(&tree, text, len);
	if (tree.source.text && tree.ret < 0 && !tree.found.count)
		snprintf(out, 64, "%u:%u encoding", tree.fault.line,
			 tree.fault.column);
	else if (tree.found.count)
		snprintf(out, 64, "%u:%u %s", tree.found.items[0].at.line,
			 tree.found.items[0].at.column,
			 tree.found.items[0].rule);
	else
		snprintf(out, 64, "none");
	tree_done(&tree);
	return out;
}

static void bad_text_has_a_place(void **state)
{
	static const struct {
		const char *text;
		const char *problem;
	} cases[] = {
		{ "a: b\n", "none" },
		{ "", "none" },
		{ "a: 1\na: 2\n", "2:1 duplicate-key" },
		{ "a: *b\n", "1:4 yaml-alias" },
		{ "a: &b [*b]\n", "1:8 yaml-alias" },
		{ "a: &b {c: {d: *b}}\n", "1:15 yaml-alias" },
		{ "<<: 1\n", "1:5 yaml-merge" },
		{ "<<: [{a: 1}, 2]\n", "1:14 yaml-merge" },
		{ "'<<': 1\n", "none" },
		{ "{[a]: b}\n", "1:2 yaml-key" },
		{ "a: !x b\n", "1:4 yaml-tag" },
		{ "a: !!str 1\n", "none" },
		{ "a: \"x\\0y\"\n", "1:6 yaml-text" },
		{ "a:\n\tb: c\n", "2:1 yaml" },
		{ "a: 'b\nc: d\n", "1:4 yaml" },
		{ "a: [b\n", "1:4 yaml" },
		{ "a: b\x01\n", "1:5 encoding" },
		{ "a: \xff\n", "1:4 encoding" },
		{ "a: \xc0\xaf\n", "1:4 encoding" },
		{ "a: \xed\xa0\x80\n", "1:4 encoding" },
		{ "\xc3\xa9: 1\r\n\xc3\xa9\xc3\xa9\x7f", "2:3 encoding" },
		{ "a: 1\n\xef\xbb\xbf"
		  "b: 2\n",
		  "2:1 encoding" },
	};
	char out[64];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		assert_string_equal(first_problem(cases[i].text,
						  strlen(cases[i].text), out),
				    cases[i].problem);
	assert_string_equal(first_problem("a: b\0c\n", 7, out), "1:5 encoding");
	assert_string_equal(first_problem("\xff\xfe"
					  "a\0:\0 \0\0\xd8",
					  10, out),
			    "1:4 encoding");
	assert_string_equal(first_problem("\xff\xfe"
					  "a\0:",
					  5, out),
			    "1:2 encoding");
}

static void check_limit(const char *before, const char *piece, size_t count,
			const char *problem)
{
	struct buf text = { 0 };
	char out[64];
	clock_t start = clock();
	size_t i;

	buf_puts(&text, before);
	for (i = 0; i < count; i++)
		buf_puts(&text, piece);
	assert_string_equal(first_problem(text.data, text.len, out), problem);
	assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
	buf_done(&text);
}

static void limits_hold(void **state)
{
	(void)state;
	check_limit("", "[", 100000, "1:101 limit");
	check_limit("", "[\n", 100000, "101:1 limit");
	check_limit("", "{a: ", 100000, "1:401 limit");
	check_limit("", "- ", 100000, "1:201 limit");
	check_limit("a: [", "x,", 1000000, "1:199999 limit");
	check_limit("a: ", "x", 4000000, "none");
	check_limit("", "%TAG !a! b\n", 3, "2:1 yaml");
	/* The same key repeated: the first thousand problems are kept. */
	check_limit("a: 1\n", "a: 1\n", 40000, "2:1 duplicate-key");
}

static void aliases_do_not_explode(void **state)
{
	struct buf text = { 0 };
	char out[64];
	int i;

	(void)state;
	buf_puts(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
	for (i = 1; i < 100; i++)
		buf_printf(&text, "a%d: &a%d [*a%d, *a%d, *a%d]\n", i, i, i - 1,
			   i - 1, i - 1);
	assert_string_equal(first_problem(text.data, text.len, out),
			    "100:24 limit");
	buf_clear(&text);
	buf_puts(&text, "a0: &a0 {k0: v}\n");
	for (i = 1; i < 5000; i++)
		buf_printf(&text, "a%d: &a%d {<<: *a%d, k%d: v}\n", i, i, i - 1,
			   i);
	assert_non_null(
		strstr(first_problem(text.data, text.len, out), "limit"));
	buf_done(&text);
}

static void scalars_mean_what_yaml_says(void **state)
{
	static const struct {
		const char *text;
		enum scalar_kind kind;
		double value;
	} cases[] = {
		{ "1", SCALAR_INT, 1 },         { "-12", SCALAR_INT, -12 },
		{ "0777", SCALAR_INT, 511 },    { "0x1F", SCALAR_INT, 31 },
		{ "0b11", SCALAR_INT, 3 },      { "1_000", SCALAR_INT, 1000 },
		{ "2.10", SCALAR_FLOAT, 2.1 },  { "5000.", SCALAR_FLOAT, 5000 },
		{ ".5", SCALAR_FLOAT, 0.5 },    { "1e-5", SCALAR_FLOAT, 1e-5 },
		{ "on", SCALAR_BOOL, NAN },     { "No", SCALAR_BOOL, NAN },
		{ "", SCALAR_NULL, NAN },       { "~", SCALAR_NULL, NAN },
		{ "null", SCALAR_NULL, NAN },   { "none", SCALAR_TEXT, NAN },
		{ "1.2.3", SCALAR_TEXT, NAN },  { "08", SCALAR_TEXT, 8 },
		{ "0x", SCALAR_TEXT, NAN },     { "-", SCALAR_TEXT, NAN },
		{ ".", SCALAR_TEXT, NAN },      { "_", SCALAR_TEXT, NAN },
		{ "e5", SCALAR_TEXT, NAN },     { ".inf", SCALAR_TEXT, NAN },
		{ "1e999", SCALAR_FLOAT, NAN },
	};
	struct node node = { .kind = NODE_SCALAR, .plain = true };
	double value;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		node.text = cases[i].text;
		assert_int_equal(scalar_kind(&node), cases[i].kind);
		value = NAN;
		assert_int_equal(scalar_double(&node, &value),
				 !isnan(cases[i].value));
		assert_true(isnan(value) || value == cases[i].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_kept),
		cmocka_unit_test(aliases_share),
		cmocka_unit_test(bad_text_has_a_place),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(aliases_do_not_explode),
		cmocka_unit_test(scalars_mean_what_yaml_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
