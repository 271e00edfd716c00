/* SPDX-License-Identifier: Apache-2.0 */
/* The basics: errors, memory, buffers, JSON, digests, libraries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/crc32c.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/library.h"
#include "core/base/text.h"

static int set_up(void **state)
{
	char *folder = mem_strdup("/tmp/jobrun-base-XXXXXX");

	*state = folder;
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	struct error err;
	int ret = folder_remove(*state, &err);

	free(*state);
	return ret;
}

/* error.h */

static void errors_are_put_together(void **state)
{
	struct error err = { .where = "job.yaml:1:2" };
	char huge[600];

	(void)state;
	assert_int_equal(error_set(&err, ERROR_USAGE, "no %s", "x"), -1);
	assert_string_equal(err.text, "no x");
	assert_string_equal(err.where, "");
	assert_int_equal(err.code, ERROR_USAGE);
	strcpy(err.where, "job.yaml:1:2");
	assert_int_equal(error_prefix(&err, "create '%s'", "vm"), -1);
	assert_string_equal(err.text, "create 'vm': no x");
	assert_string_equal(err.where, "job.yaml:1:2");
	assert_int_equal(err.code, ERROR_USAGE);

	errno = EACCES;
	assert_int_equal(error_errno(&err, "cannot open '%s'", "f"), -1);
	assert_string_equal(err.text, "cannot open 'f': Permission denied");
	assert_int_equal(err.code, ERROR_DENIED);
	errno = EPERM;
	error_errno(&err, "x");
	assert_int_equal(err.code, ERROR_DENIED);
	errno = ENOENT;
	error_errno(&err, "x");
	assert_int_equal(err.code, ERROR_FAILED);

	memset(huge, 'x', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	error_set(&err, ERROR_FAILED, "%s", huge);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	error_prefix(&err, "%s", huge);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	errno = ENOENT;
	error_errno(&err, "%s", huge);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

/* alloc.h */

static void an_arena_keeps_all(void **state)
{
	struct arena *mem = arena_new();
	char *texts[300];
	size_t i, j;
	char *zero;

	(void)state;
	for (i = 0; i < COUNT(texts); i++) {
		texts[i] = arena_printf(mem, "%zu", i);
		zero = arena_alloc(mem, i * i);
		assert_int_equal((uintptr_t)zero % _Alignof(max_align_t), 0);
		for (j = 0; j < i * i; j++)
			assert_int_equal(zero[j], 0);
		memset(zero, 0xff, i * i);
	}
	for (i = 0; i < COUNT(texts); i++)
		assert_int_equal(atoi(texts[i]), i);
	assert_string_equal(arena_strdup(mem, ""), "");
	assert_string_equal(arena_strndup(mem, "abc", 2), "ab");
	arena_free(mem);
	arena_free(NULL);
}

/* buf.h */

static void a_buffer_grows(void **state)
{
	struct buf buf = { 0 };
	char *text;
	int i;

	(void)state;
	assert_string_equal(buf_text(&buf), "");
	/* Reserved, and then nothing was read. */
	buf_reserve(&buf, 10);
	assert_string_equal(buf_text(&buf), "");
	buf_drop(&buf, 0);
	buf_clear(&buf);
	for (i = 0; i < 1000; i++)
		buf_printf(&buf, "%03d,", i);
	assert_int_equal(buf.len, 4000);
	assert_memory_equal(buf.data + 3996, "999,", 5);
	buf_drop(&buf, 3996);
	assert_string_equal(buf_text(&buf), "999,");
	buf_fill(&buf, '-', 3);
	buf_putc(&buf, '!');
	buf_add(&buf, "a\0b", 3);
	assert_int_equal(buf.len, 11);
	assert_memory_equal(buf.data, "999,---!a\0b", 12);
	buf_clear(&buf);
	assert_string_equal(buf_text(&buf), "");
	buf_puts(&buf, "x");
	memcpy(buf_reserve(&buf, 70000), "yz", 2);
	buf.len += 2;
	assert_memory_equal(buf.data, "xyz", 3);
	buf.data[buf.len] = '\0';
	text = buf_take(&buf);
	assert_string_equal(text, "xyz");
	assert_int_equal(buf.len, 0);
	free(text);
	text = buf_take(&buf);
	assert_string_equal(text, "");
	free(text);
	buf_add(&buf, NULL, 0);
	assert_string_equal(buf_text(&buf), "");
	buf_done(&buf);
	buf_done(&buf);
}

/* json.h */

static void text_becomes_json(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ NULL, "null" },
		{ "", "\"\"" },
		{ "a\"b\\\n\x01", "\"a\\\"b\\\\\\n\\u0001\"" },
		{ "\xc3\xbc", "\"\xc3\xbc\"" },
		{ "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
		{ "a\xff"
		  "b",
		  "\"a\xef\xbf\xbd"
		  "b\"" },
		{ "\xc3", "\"\xef\xbf\xbd\"" },
		{ "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"" }, /* overlong */
		{ "\xed\xa0\x80", /* half of a surrogate pair */
		  "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xf4\x90\x80\x80", /* beyond U+10FFFF */
		  "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		json_t *value = json_text(cases[i].text);
		char *text = json_canonical(value);

		assert_string_equal(text, cases[i].want);
		free(text);
		json_decref(value);
	}
}

static void json_is_written_and_read(void **state)
{
	json_t *object = json_object(), *back;
	struct error err = { 0 };
	struct buf out = { 0 };
	char *text;

	(void)state;
	json_put_text(object, "z", "last");
	json_put_int(object, "a", -1);
	json_put(object, "list", json_array());
	text = json_canonical(object);
	assert_string_equal(text, "{\"a\":-1,\"list\":[],\"z\":\"last\"}");
	json_print(object, &out);
	assert_string_equal(buf_text(&out),
			    "{\n  \"z\": \"last\",\n"
			    "  \"a\": -1,\n  \"list\": []\n}\n");
	back = json_read(text, strlen(text), "f", &err);
	assert_true(json_equal(object, back));
	assert_string_equal(json_get_text(back, "z", "?"), "last");
	assert_string_equal(json_get_text(back, "a", "?"), "?");
	assert_null(json_get_text(back, "none", NULL));
	assert_int_equal(json_get_int(back, "a", 5), -1);
	assert_int_equal(json_get_int(back, "z", 5), 5);
	assert_int_equal(json_get_int(back, "none", 5), 5);
	json_decref(back);
	json_decref(object);
	free(text);
	buf_done(&out);
}

static void bad_json_is_refused(void **state)
{
	static const char *const cases[] = {
		"", "{", "{\"a\":1,\"a\":2}", "[1,]", "\"\xff\"", "{} x"
	};
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		memset(&err, 0, sizeof(err));
		assert_null(json_read(cases[i], strlen(cases[i]), "plan.json",
				      &err));
		assert_true(text_starts(err.text, "plan.json:1:"));
	}
	assert_null(json_read("[1]", 2, "f", &err)); /* only so many bytes */
}

/* digest.h */

static void digests_are_sha256(void **state)
{
	static const char *const abc = "ba7816bf8f01cfea414140de5dae2223"
				       "b00361a396177a9cb410ff61f20015ad";
	struct digest one = { "" }, two = { "" };
	struct digester *digester;
	struct error err = { 0 };
	char *path = path_join(*state, "f");
	uint64_t bytes = 5;
	uint32_t crc = crc32c_add(0, "a", 1);
	int fd;

	digest_bytes("abc", 3, &one);
	assert_string_equal(one.hex, abc);
	digester = digester_new();
	digester_add(digester, "a", 1);
	digester_add(digester, "bc", 2);
	digester_end(digester, &two);
	digester_free(digester);
	assert_string_equal(two.hex, abc);

	assert_int_equal(file_write(path, "bc", 2, &err), 0);
	fd = open(path, O_RDONLY);
	digester = digester_new();
	digester_add(digester, "a", 1);
	assert_int_equal(
		digester_add_file(digester, fd, path, &bytes, &crc, &err), 0);
	digester_end(digester, &two);
	digester_free(digester);
	close(fd);
	assert_string_equal(two.hex, abc);
	assert_int_equal(bytes, 7);
	assert_int_equal(crc, crc32c_add(0, "abc", 3));

	digester = digester_new();
	fd = open(*state, O_RDONLY);
	assert_int_equal(digester_add_file(digester, fd, "f", NULL, NULL, &err),
			 -1);
	assert_string_equal(err.text, "cannot read 'f': Is a directory");
	close(fd);
	digester_free(digester);
	digester_free(NULL);
	free(path);
}

static void texts_do_not_run_together(void **state)
{
	static const char *const cases[][2] = {
		{ "ab", "c" }, { "a", "bc" }, { "abc", "" }, { "", "abc" }
	};
	struct digest all[COUNT(cases)];
	size_t i, j;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct digester *digester = digester_new();

		digester_add_text(digester, cases[i][0]);
		digester_add_text(digester, cases[i][1]);
		digester_end(digester, &all[i]);
		digester_free(digester);
		for (j = 0; j < i; j++)
			assert_string_not_equal(all[i].hex, all[j].hex);
	}
}

/* library.h */

static void a_missing_library_is_said(void **state)
{
	static void (*call)(void);
	static const struct library_symbol none[] = { { "no_such_call", &call },
						      { NULL, NULL } };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(library_open("libnone.so.9", none, &err), -1);
	assert_true(text_starts(err.text, "cannot open libnone.so.9 ("));
	assert_int_equal(library_open("libc.so.6", none, &err), -1);
	assert_string_equal(err.text, "libc.so.6 has no 'no_such_call'");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_are_put_together),
		cmocka_unit_test(an_arena_keeps_all),
		cmocka_unit_test(a_buffer_grows),
		cmocka_unit_test(text_becomes_json),
		cmocka_unit_test(json_is_written_and_read),
		cmocka_unit_test(bad_json_is_refused),
		TEST(digests_are_sha256),
		cmocka_unit_test(texts_do_not_run_together),
		cmocka_unit_test(a_missing_library_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
