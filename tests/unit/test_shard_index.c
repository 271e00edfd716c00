/* SPDX-License-Identifier: Apache-2.0 */
#include "core/shard/shard_index.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static const char whole[] =
	"{\n"
	"  \"formatVersion\": 1,\n"
	"  \"samples\": 5,\n"
	"  \"files\": 9,\n"
	"  \"bytes\": 30720,\n"
	"  \"classes\": [\n"
	"    \"cat\",\n"
	"    \"dog\"\n"
	"  ],\n"
	"  \"shards\": [\n"
	"    {\n"
	"      \"name\": \"b.tar\",\n"
	"      \"samples\": 3,\n"
	"      \"files\": 6,\n"
	"      \"bytes\": 20480,\n"
	"      \"crc32c\": \"yZRlqg==\",\n"
	"      \"sha256\": \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca4"
	"95991b7852b855\"\n"
	"    },\n"
	"    {\n"
	"      \"name\": \"a.tar\",\n"
	"      \"url\": \"gs://other/x/a.tar\",\n"
	"      \"samples\": 2,\n"
	"      \"files\": 3,\n"
	"      \"bytes\": 10240,\n"
	"      \"crc32c\": \"AAAAAA==\"\n"
	"    }\n"
	"  ]\n"
	"}\n";

static void an_index_comes_back_as_it_was(void **state)
{
	struct arena *mem = arena_new();
	struct shard_index index;
	struct error err = { 0 };
	struct buf text = { 0 };

	(void)state;
	shard_index_parse(whole, strlen(whole), "i", mem, &index, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(index.count, 2);
	assert_string_equal(index.shards[0].name, "b.tar");
	assert_int_equal(index.shards[0].samples, 3);
	assert_int_equal(index.shards[0].files, 6);
	assert_int_equal(index.shards[0].bytes, 20480);
	assert_string_equal(index.shards[0].crc32c, "yZRlqg==");
	assert_int_equal(strlen(index.shards[0].sha256.hex), 64);
	assert_string_equal(index.shards[1].sha256.hex, "");
	assert_null(index.shards[0].url);
	assert_string_equal(index.shards[1].url, "gs://other/x/a.tar");
	assert_int_equal(index.class_count, 2);
	assert_string_equal(index.classes[1], "dog");
	assert_int_equal(index.samples, 5);
	assert_int_equal(index.files, 9);
	assert_int_equal(index.bytes, 30720);
	shard_index_print(&index, &text);
	assert_string_equal(buf_text(&text), whole);
	buf_done(&text);
	arena_free(mem);
}

/* Returns `whole` with `from` replaced by `to`. */
static char *changed(const char *from, const char *to)
{
	const char *at = strstr(whole, from);
	struct buf text = { 0 };

	assert_non_null(at);
	buf_add(&text, whole, (size_t)(at - whole));
	buf_puts(&text, to);
	buf_puts(&text, at + strlen(from));
	return buf_take(&text);
}

static void what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *from, *to, *want;
	} cases[] = {
		{ "\"formatVersion\": 1", "\"formatVersion\": 2",
		  "'i': this version of jobrun reads the format version 1, not "
		  "2" },
		{ "\"formatVersion\": 1", "\"version\": 1",
		  "'i': it is not an index of shards" },
		{ "b.tar", "../b.tar",
		  "'i': shards[0]: \"name\" must be the name of a file beside "
		  "the index" },
		{ "b.tar", "..",
		  "'i': shards[0]: \"name\" must be the name of a file beside "
		  "the index" },
		{ "b.tar", "\\u001b[2J",
		  "'i': shards[0]: \"name\" has control characters" },
		{ "b.tar", "a.tar", "'i': 'a.tar' is listed twice" },
		{ "x/a.tar", "x/b.tar",
		  "'i': shards[1]: 'a.tar': \"url\" must be a URL that ends in "
		  "its name" },
		{ "gs://other", "../other",
		  "'i': shards[1]: 'a.tar': \"url\" must be a URL that ends in "
		  "its name" },
		{ "\"samples\": 3", "\"samples\": 0",
		  "'i': shards[0]: 'b.tar': \"samples\" must be a number above "
		  "0" },
		{ "\"bytes\": 20480", "\"bytes\": \"20480\"",
		  "'i': shards[0]: 'b.tar': \"bytes\" must be a number above "
		  "0" },
		{ "\"bytes\": 20480", "\"bytes\": 9223372036854775807",
		  "'i': its sums are too large" },
		{ "\"files\": 6", "\"files\": 2",
		  "'i': shards[0]: 'b.tar': there are fewer files than "
		  "samples" },
		{ "yZRlqg==", "c99465aa?",
		  "'i': shards[0]: 'b.tar': \"crc32c\" is no CRC-32C in base "
		  "64" },
		{ "\"e3b0", "\"E3B0",
		  "'i': shards[0]: 'b.tar': \"sha256\" is no SHA-256 in lower "
		  "case" },
		{ "\"samples\": 5", "\"samples\": 6",
		  "'i': \"samples\" is 6, but its shards have 5" },
		{ "\"dog\"", "7", "'i': \"classes\" must be a list of names" },
		{ "\"shards\": [", "\"shards\": [], \"more\": [",
		  "'i': \"shards\" must be a list with at least one" },
		{ "\"shards\": [", "\"shards\": [7,",
		  "'i': shards[0]: a shard is not an object" },
		{ "]\n}\n", "]\n",
		  "'i' is not an index of shards: it is not JSON" },
	};
	struct shard_index index;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		char *text = changed(cases[i].from, cases[i].to);
		struct arena *mem = arena_new();
		struct error err = { 0 };

		assert_int_equal(shard_index_parse(text, strlen(text), "i", mem,
						   &index, &err),
				 -1);
		assert_string_equal(err.text, cases[i].want);
		assert_int_equal(err.code, ERROR_INVALID);
		arena_free(mem);
		free(text);
	}
}

static void keys_that_are_unknown_do_no_harm(void **state)
{
	char *text = changed("\"name\"", "\"colour\": \"red\", \"name\"");
	struct arena *mem = arena_new();
	struct shard_index index;
	struct error err = { 0 };

	(void)state;
	shard_index_parse(text, strlen(text), "i", mem, &index, &err);
	assert_string_equal(err.text, "");
	arena_free(mem);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_index_comes_back_as_it_was),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(keys_that_are_unknown_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
