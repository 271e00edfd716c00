/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
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
#include "core/base/loop.h"
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

/* text.h */

static void beginnings_and_ends(void **state)
{
	static const struct {
		const char *text, *part;
		bool starts, ends;
	} cases[] = {
		{ "abc", "", true, true },       { "abc", "ab", true, false },
		{ "abc", "bc", false, true },    { "abc", "abc", true, true },
		{ "abc", "xabc", false, false }, { "", "", true, true },
		{ "", "a", false, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		assert_int_equal(text_starts(cases[i].text, cases[i].part),
				 cases[i].starts);
		assert_int_equal(text_ends(cases[i].text, cases[i].part),
				 cases[i].ends);
	}
}

static void the_last_line_says_something(void **state)
{
	static const struct {
		const char *text, *line;
	} cases[] = {
		{ "", "" },
		{ " \n\r\n", "" },
		{ "one", "one" },
		{ "one\ntwo", "two" },
		{ "one\n  two \r\n\n", "  two" },
	};
	size_t i, len;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const char *line = text_last_line(cases[i].text,
						  strlen(cases[i].text), &len);

		assert_int_equal(len, strlen(cases[i].line));
		assert_memory_equal(line, cases[i].line, len);
	}
}

static void distances(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned want; /* with a limit of 3 */
	} cases[] = {
		{ "", "", 0 },        { "a", "", 1 },
		{ "abc", "abc", 0 },  { "abc", "abd", 1 },
		{ "abc", "acb", 1 },  { "abc", "ab", 1 },
		{ "abc", "xabc", 1 }, { "kitten", "sitting", 3 },
		{ "abc", "xyz", 3 },  { "abcdef", "uvwxyz", 4 },
		{ "ca", "abc", 3 },
	};
	char huge[200];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		assert_int_equal(text_distance(cases[i].a, cases[i].b, 3),
				 cases[i].want);
		assert_int_equal(text_distance(cases[i].b, cases[i].a, 3),
				 cases[i].want);
	}
	memset(huge, 'x', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	assert_int_equal(text_distance(huge, "x", 3), 4);
	assert_int_equal(text_distance("x", huge, 3), 4);
}

static void the_nearest_name_is_found(void **state)
{
	static const char *const names[] = { "workerCount", "workerType",
					     "region", "args" };
	static const struct {
		const char *word, *want;
	} cases[] = {
		{ "workerCuont", "workerCount" },
		{ "worker_count", "workerCount" },
		{ "WORKERTYPE", "workerType" },
		{ "worker-type", "workerType" },
		{ "regin", "region" },
		{ "arg", "args" },
		{ "zone", NULL },
		{ "", NULL },
		{ "runtimeVersion", NULL },
	};
	char huge[200];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const char *found =
			text_nearest(cases[i].word, names, COUNT(names));

		if (!cases[i].want)
			assert_null(found);
		else
			assert_string_equal(found, cases[i].want);
	}
	assert_null(text_nearest("args", names, 0));
	memset(huge, 'x', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	assert_null(text_nearest(huge, names, COUNT(names)));
}

static void numbers_are_whole(void **state)
{
	static const struct {
		const char *text;
		long value;
		const char *error;
	} cases[] = {
		{ "0", 0, NULL },
		{ "100", 100, NULL },
		{ "-5", -5, NULL },
		{ "007", 7, NULL },
		{ "", 0, "'' is not a whole number" },
		{ " 1", 0, "' 1' is not a whole number" },
		{ "1 ", 0, "'1 ' is not a whole number" },
		{ "1.5", 0, "'1.5' is not a whole number" },
		{ "0x10", 0, "'0x10' is not a whole number" },
		{ "1e3", 0, "'1e3' is not a whole number" },
		{ "101", 0, "'101' is not between -5 and 100" },
		{ "-6", 0, "'-6' is not between -5 and 100" },
		{ "99999999999999999999", 0,
		  "'99999999999999999999' is not between -5 and 100" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct error err = { 0 };
		long value = 77;
		int ret = number_parse(cases[i].text, -5, 100, &value, &err);

		assert_int_equal(ret, cases[i].error ? -1 : 0);
		assert_int_equal(value, cases[i].error ? 77 : cases[i].value);
		assert_string_equal(err.text,
				    cases[i].error ? cases[i].error : "");
	}
}

static void durations_are_read(void **state)
{
	static const struct {
		const char *text;
		long seconds;
		const char *error; /* the end of it */
	} cases[] = {
		{ "0", 0, NULL },
		{ "90", 90, NULL },
		{ "90s", 90, NULL },
		{ "15m", 900, NULL },
		{ "2h30m", 9000, NULL },
		{ "1d", 86400, NULL },
		{ "1d1h1m1s", 90061, NULL },
		{ "1h30", 3630, NULL },
		{ "36500d", 36500L * 86400, NULL },
		{ "36501d", 0, "is too long" },
		{ "36500d1s", 0, "is too long" },
		{ "9999999999999h", 0, "is too long" },
		{ "99999999999999999999999", 0, "is too long" },
		{ "", 0, "an empty duration" },
		{ "h", 0, "or 2h30m" },
		{ "-5s", 0, "or 2h30m" },
		{ "1.5h", 0, "or 2h30m" },
		{ "5s3m", 0, "or 2h30m" },
		{ "5m5m", 0, "or 2h30m" },
		{ "5s5", 0, "or 2h30m" },
		{ "5w", 0, "or 2h30m" },
		{ " 5s", 0, "or 2h30m" },
		{ "5s ", 0, "or 2h30m" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct error err = { 0 };
		long s = -1;
		int ret = duration_parse(cases[i].text, &s, &err);

		if (ret != (cases[i].error ? -1 : 0) ||
		    s != (cases[i].error ? -1 : cases[i].seconds) ||
		    !text_ends(err.text, cases[i].error ? cases[i].error : ""))
			fail_msg("'%s': %d %ld %s", cases[i].text, ret, s,
				 err.text);
		if (!cases[i].error)
			assert_string_equal(err.text, "");
	}
}

static void sizes_are_read(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
		const char *error; /* its end, or NULL */
	} cases[] = {
		{ "0", 0, NULL },
		{ "500000", 500000, NULL },
		{ "7B", 7, NULL },
		{ "3kB", 3000, NULL },
		{ "3K", 3000, NULL },
		{ "3KiB", 3072, NULL },
		{ "64MB", 64000000, NULL },
		{ "64MiB", 67108864, NULL },
		{ "1.5GB", 1500000000, NULL },
		{ "1.5Ki", 1536, NULL },
		{ "1.125T", UINT64_C(1125000000000), NULL },
		{ "1000PB", UINT64_C(1000000000000000000), NULL },
		{ "1001PB", 0, "is too large" },
		{ "99999999999999999999999", 0, "is too large" },
		{ "", 0, "64MB or 1GiB" },
		{ "MB", 0, "64MB or 1GiB" },
		{ "-1", 0, "64MB or 1GiB" },
		{ "1.5", 0, "64MB or 1GiB" },
		{ "1.5B", 0, "64MB or 1GiB" },
		{ "1.2345MB", 0, "64MB or 1GiB" },
		{ "1 MB", 0, "64MB or 1GiB" },
		{ "1MBs", 0, "64MB or 1GiB" },
		{ "1mB", 0, "64MB or 1GiB" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct error err = { 0 };
		uint64_t bytes = 77;
		int ret = size_parse(cases[i].text, &bytes, &err);

		if (ret != (cases[i].error ? -1 : 0) ||
		    bytes != (cases[i].error ? 77 : cases[i].bytes) ||
		    !text_ends(err.text, cases[i].error ? cases[i].error : ""))
			fail_msg("'%s': %d %llu %s", cases[i].text, ret,
				 (unsigned long long)bytes, err.text);
	}
}

static void durations_are_written(void **state)
{
	static const struct {
		long seconds;
		const char *want;
	} cases[] = {
		{ 0, "0s" },        { 59, "59s" },       { 60, "1m00s" },
		{ 3599, "59m59s" }, { 3600, "1h00m" },   { 86399, "23h59m" },
		{ 86400, "1d00h" }, { 273600, "3d04h" },
	};
	char text[32];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		duration_format(cases[i].seconds, text, sizeof(text));
		assert_string_equal(text, cases[i].want);
	}
	duration_format(273600, text, 4);
	assert_string_equal(text, "3d0");
}

static void sizes_are_written(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *want;
	} cases[] = {
		{ 0, "0 B" },
		{ 812, "812 B" },
		{ 999, "999 B" },
		{ 1000, "1.0 kB" },
		{ 3400, "3.4 kB" },
		{ 9949, "9.9 kB" },
		{ 9950, "10 kB" },
		{ 999499, "999 kB" },
		{ 999500, "1.0 MB" },
		{ 12000000, "12 MB" },
		{ UINT64_MAX, "18 EB" },
	};
	char text[32];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		size_format(cases[i].bytes, text, sizeof(text));
		assert_string_equal(text, cases[i].want);
	}
}

static void times_are_written(void **state)
{
	char text[40];
	int64_t now;

	(void)state;
	time_format(INT64_C(1795228737120), text, sizeof(text));
	assert_string_equal(text, "2026-11-21T02:38:57.120Z");
	time_format(0, text, sizeof(text));
	assert_string_equal(text, "1970-01-01T00:00:00.000Z");
	assert_true(time_parse("2026-11-21T02:38:57.120Z") ==
		    INT64_C(1795228737120));
	assert_true(time_parse("2026-11-21T02:38:57.120456789Z") ==
		    INT64_C(1795228737120));
	assert_true(time_parse("1970-01-01T00:00:01Z") == 1000);
	assert_true(time_parse("1969-12-31T16:00:01.5-08:00") == 1500);
	assert_true(time_parse("1970-01-01T01:30:01+01:30") == 1000);
	assert_true(time_parse("1970-01-01T01:30:01+0130") == -1);
	assert_true(time_parse("1970-01-01T01:30:01+01:300") == -1);
	assert_true(time_parse("2026-11-21T02:38:57.120") == -1);
	assert_true(time_parse("2026-11-21") == -1);
	assert_true(time_parse("") == -1);
	setenv("TZ", "UTC-2", 1);
	tzset();
	time_format_log(INT64_C(1596681537999), text, sizeof(text));
	assert_string_equal(text, "2020-08-06 04:38:57");
	unsetenv("TZ");
	tzset();
	now = time_monotonic_ms();
	assert_true(time_monotonic_ms() - now >= 0);
	assert_true(time_now_ms() > INT64_C(1700000000000));
}

static void signals_have_names(void **state)
{
	char text[32];

	(void)state;
	signal_format(SIGTERM, text, sizeof(text));
	assert_string_equal(text, "SIGTERM");
	signal_format(SIGRTMIN + 1, text, sizeof(text));
	assert_string_equal(text, "signal 35");
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
	int fd;

	assert_int_equal(digest_bytes("abc", 3, &one, &err), 0);
	assert_string_equal(one.hex, abc);
	digester = digester_new(&err);
	digester_add(digester, "a", 1);
	digester_add(digester, "bc", 2);
	digester_end(digester, &two);
	digester_free(digester);
	assert_string_equal(two.hex, abc);

	assert_int_equal(file_write(path, "bc", 2, &err), 0);
	fd = open(path, O_RDONLY);
	digester = digester_new(&err);
	digester_add(digester, "a", 1);
	assert_int_equal(digester_add_file(digester, fd, path, &bytes, &err),
			 0);
	digester_end(digester, &two);
	digester_free(digester);
	close(fd);
	assert_string_equal(two.hex, abc);
	assert_int_equal(bytes, 7);

	digester = digester_new(&err);
	fd = open(*state, O_RDONLY);
	assert_int_equal(digester_add_file(digester, fd, "f", NULL, &err), -1);
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
	struct error err;
	size_t i, j;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct digester *digester = digester_new(&err);

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

/* file.h */

/* However it is divided; the first is that of RFC 3720, B.4. */
static void checksums_of_parts_make_that_of_the_whole(void **state)
{
	static const size_t sizes[] = { 0,     1,     7,     8,
					24575, 24576, 24577, 24591,
					49151, 49152, 100003 };
	unsigned char *data = mem_alloc(100003);
	size_t i, j;

	(void)state;
	assert_int_equal(crc32c_add(0,
				    "\0\0\0\0\0\0\0\0"
				    "\0\0\0\0\0\0\0\0"
				    "\0\0\0\0\0\0\0\0"
				    "\0\0\0\0\0\0\0\0",
				    32),
			 0x8a9136aa);
	for (i = 0; i < 100003; i++)
		data[i] = (unsigned char)(i * i >> 3);
	for (i = 0; i < COUNT(sizes); i++) {
		uint32_t whole = crc32c_add(0, data, sizes[i]), parts = 0;

		for (j = 0; j < sizes[i]; j++)
			parts = crc32c_add(parts, data + j, 1);
		assert_int_equal(whole, parts);
		assert_int_equal(
			crc32c_join(crc32c_add(0, data, sizes[i] / 3),
				    crc32c_add(0, data + sizes[i] / 3,
					       sizes[i] - sizes[i] / 3),
				    sizes[i] - sizes[i] / 3),
			whole);
	}
	free(data);
}

static void paths_are_joined_and_split(void **state)
{
	static const struct {
		const char *folder, *name, *want;
	} joins[] = {
		{ "a", "b", "a/b" }, { "a/", "b", "a/b" },
		{ "/", "b", "/b" },  { "", "b", "b" },
		{ "a", "/b", "/b" }, { "a", "b/c", "a/b/c" },
	};
	static const struct {
		const char *path, *folder, *base;
	} splits[] = {
		{ "a/b.yaml", "a", "b.yaml" },
		{ "b", ".", "b" },
		{ "/b", "/", "b" },
		{ "/a/b/c", "/a/b", "c" },
		{ "a/", "a", "" },
	};
	char *text;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(joins); i++) {
		text = path_join(joins[i].folder, joins[i].name);
		assert_string_equal(text, joins[i].want);
		free(text);
	}
	for (i = 0; i < COUNT(splits); i++) {
		text = path_folder(splits[i].path);
		assert_string_equal(text, splits[i].folder);
		free(text);
		assert_string_equal(path_base(splits[i].path), splits[i].base);
	}
}

static void relative_paths_become_absolute(void **state)
{
	char *here = getcwd(NULL, 0);
	char *gone = path_join(*state, "gone");
	char *want = path_join(here, "a/b");
	char *text = path_absolute("./a/b");

	assert_string_equal(text, want);
	free(text);
	text = path_absolute("/a/b");
	assert_string_equal(text, "/a/b");
	free(text);
	assert_int_equal(mkdir(gone, 0700), 0);
	assert_int_equal(chdir(gone), 0);
	assert_int_equal(rmdir(gone), 0);
	text = path_absolute("a/b");
	assert_string_equal(text, "a/b");
	free(text);
	assert_int_equal(chdir(here), 0);
	free(want);
	free(gone);
	free(here);
}

static void files_are_read_up_to_a_limit(void **state)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 100000 };
	char *path = path_join(*state, "f");
	struct error err;
	size_t i, j, len;
	char *data;

	for (i = 0; i < COUNT(sizes); i++) {
		const size_t limits[] = { sizes[i], sizes[i] + 1, 1 << 20,
					  SIZE_MAX };
		char *text = mem_alloc(sizes[i]);

		memset(text, 'x', sizes[i]);
		assert_int_equal(file_write(path, text, sizes[i], &err), 0);
		for (j = 0; j < COUNT(limits); j++) {
			len = 77;
			data = file_read(path, limits[j], &len, &err);
			assert_non_null(data);
			assert_int_equal(len, sizes[i]);
			assert_memory_equal(data, text, len);
			assert_int_equal(data[len], '\0');
			free(data);
		}
		if (sizes[i]) {
			len = 77;
			assert_null(file_read(path, sizes[i] - 1, &len, &err));
			assert_int_equal(err.code, ERROR_INVALID);
			assert_non_null(strstr(err.text, "' is larger than "));
			assert_int_equal(len, 77);
		}
		free(text);
	}
	free(path);
}

static void what_is_no_file_is_refused(void **state)
{
	struct error err;
	char want[256];
	size_t len;

	assert_null(file_read(*state, 100, &len, &err));
	snprintf(want, sizeof(want), "'%s' is a directory", (char *)*state);
	assert_string_equal(err.text, want);
	assert_null(file_read("/nowhere/f", 100, &len, &err));
	assert_string_equal(err.text, "cannot open '/nowhere/f': No such file "
				      "or directory");
	assert_null(file_read("/dev/zero", 100, &len, &err));
	assert_string_equal(err.text, "'/dev/zero' is larger than 100 bytes");
}

static void pipes_are_read(void **state)
{
	struct error err;
	int pipes[2];
	size_t len;
	char *data;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(fd_write(pipes[1], "hello", 5), 0);
	close(pipes[1]);
	data = file_read_fd(pipes[0], "-", 100, &len, &err);
	assert_string_equal(data, "hello");
	assert_int_equal(len, 5);
	free(data);
	close(pipes[0]);
}

static void files_are_replaced_whole(void **state)
{
	char *path = path_join(*state, "f");
	char *below = path_join(*state, "f/g");
	struct error err;
	struct stat st;
	size_t len;
	char *data;

	assert_int_equal(file_write(path, "old", 3, &err), 0);
	assert_int_equal(file_write(path, "new!", 4, &err), 0);
	data = file_read(path, 100, &len, &err);
	assert_string_equal(data, "new!");
	free(data);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(file_write(below, "x", 1, &err), -1);
	assert_true(text_ends(err.text, ": Not a directory"));
	/* A folder can't be replaced, and nothing is left beside it. */
	assert_int_equal(file_write(*state, "x", 1, &err), -1);
	assert_int_equal(fd_write(-1, "x", 1), -1);
	assert_int_equal(errno, EBADF);
	free(below);
	free(path);
}

static void a_new_file_is_never_in_the_place_of_another(void **state)
{
	char *path = path_join(*state, "new");
	char *folder = path_join(*state, "a/b");
	struct error err = { 0 };
	struct stat st;
	mode_t before;
	char *text;
	size_t len;

	assert_int_equal(file_create(path, 0750, "one", 3, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	assert_int_equal(file_create(path, 0640, "two", 3, &err), 1);
	text = file_read(path, 10, &len, &err);
	assert_string_equal(text, "one");
	free(text);
	/* A link that leads nowhere is something, too. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("nowhere", path), 0);
	assert_int_equal(file_create(path, 0640, "two", 3, &err), 1);
	assert_string_equal(err.text, "");

	before = umask(027);
	assert_int_equal(folder_make_mode(folder, 0777, &err), 0);
	umask(before);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	free(path);
	path = path_join(*state, "absent/new");
	assert_int_equal(file_create(path, 0640, "two", 3, &err), -1);
	assert_non_null(strstr(err.text, "cannot create"));
	free(folder);
	free(path);
}

static void folders_are_made_and_removed(void **state)
{
	static const char *const names[] = { "a",    "a/b/c", "a/b/c/",
					     "x//y", "./z",   "" };
	char outside[] = "/tmp/jobrun-outside-XXXXXX";
	char *path, *below;
	struct error err;
	struct stat st;
	size_t i;

	assert_non_null(mkdtemp(outside));
	for (i = 0; i < COUNT(names); i++) {
		path = path_join(*state, names[i]);
		assert_int_equal(folder_make(path, &err), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0700);
		free(path);
	}
	assert_int_equal(folder_make("/", &err), 0);
	assert_int_equal(folder_make("", &err), -1);

	path = path_join(*state, "a/file");
	assert_int_equal(file_write(path, "", 0, &err), 0);
	assert_int_equal(folder_make(path, &err), -1);
	assert_true(text_ends(err.text, "a/file': Not a directory"));
	below = path_join(path, "below");
	assert_int_equal(folder_make(below, &err), -1);
	free(below);
	free(path);

	/* A link is removed, not what it leads to. */
	path = path_join(*state, "a/out");
	assert_int_equal(symlink(outside, path), 0);
	free(path);
	path = path_join(*state, "a");
	assert_int_equal(folder_remove(path, &err), 0);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(folder_remove(path, &err), 0);
	assert_int_equal(stat(outside, &st), 0);
	free(path);
	assert_int_equal(rmdir(outside), 0);
}

/* loop.h */

struct trace {
	struct loop *loop;
	struct loop_event *other;
	struct buf text;
	int fd;
	int count;
};

static void add_a(void *arg, uint32_t events)
{
	struct trace *trace = arg;

	assert_int_equal(events, 0);
	buf_putc(&trace->text, 'a');
}

static void add_b(void *arg, uint32_t events)
{
	(void)events;
	buf_putc(&((struct trace *)arg)->text, 'b');
}

static void stop(void *arg, uint32_t events)
{
	(void)events;
	loop_stop(((struct trace *)arg)->loop);
}

static void timers_fire_in_order(void **state)
{
	struct error err = { 0 };
	struct trace trace = { .loop = loop_new(&err) };
	int64_t start = time_monotonic_ms();
	struct loop_event *gone;

	(void)state;
	assert_int_equal(loop_run(trace.loop, &err), 0); /* nothing to do */
	loop_add_timer(trace.loop, 30, add_b, &trace);
	loop_add_timer(trace.loop, 10, add_a, &trace);
	loop_add_timer(trace.loop, -5, add_b, &trace);
	loop_add_timer(trace.loop, 10, add_a, &trace);
	gone = loop_add_timer(trace.loop, 20, add_b, &trace);
	loop_remove(trace.loop, gone);
	loop_remove(trace.loop, NULL);
	assert_int_equal(loop_run(trace.loop, &err), 0);
	assert_string_equal(buf_text(&trace.text), "baab");
	assert_true(time_monotonic_ms() - start >= 30);

	loop_add_timer(trace.loop, 0, stop, &trace);
	loop_add_timer(trace.loop, 60000, add_a, &trace);
	assert_int_equal(loop_run(trace.loop, &err), 0);
	loop_free(trace.loop);
	loop_free(NULL);
	buf_done(&trace.text);
}

static void read_some(void *arg, uint32_t events)
{
	struct trace *trace = arg;
	char text[16];
	ssize_t n = read(trace->fd, text, sizeof(text));

	if (n > 0) {
		buf_add(&trace->text, text, (size_t)n);
	} else {
		assert_true(events & EPOLLHUP);
		loop_remove(trace->loop, trace->other);
		close(trace->fd);
	}
}

static void write_one(void *arg, uint32_t events)
{
	struct trace *trace = arg;

	(void)events;
	if (trace->count < 3) {
		trace->count++;
		assert_int_equal(write(trace->fd, "x", 1), 1);
		loop_add_timer(trace->loop, 1, write_one, arg);
	} else {
		close(trace->fd);
	}
}

static void descriptors_are_served(void **state)
{
	struct error err = { 0 };
	struct loop *loop = loop_new(&err);
	struct trace in = { .loop = loop }, out = { .loop = loop };
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	in.fd = pipes[0];
	out.fd = pipes[1];
	in.other = loop_add_fd(loop, pipes[0], EPOLLIN, read_some, &in, &err);
	assert_non_null(in.other);
	loop_add_timer(loop, 0, write_one, &out);
	/* Ends by itself: the pipe is closed, the timer has fired. */
	assert_int_equal(loop_run(loop, &err), 0);
	assert_string_equal(buf_text(&in.text), "xxx");
	assert_null(loop_add_fd(loop, -1, EPOLLIN, read_some, &in, &err));
	assert_string_equal(err.text, "cannot wait for a descriptor: Bad file "
				      "descriptor");
	loop_free(loop);
	buf_done(&in.text);
}

/* Two readable pipes: whichever comes first removes the other. */
static void remove_other(void *arg, uint32_t events)
{
	struct trace *trace = arg;

	(void)events;
	trace->count++;
	loop_remove(trace->loop, trace->other);
	loop_stop(trace->loop);
}

static void remove_two(void *arg, uint32_t events)
{
	struct trace *traces = arg;

	(void)events;
	traces[0].count++;
	loop_remove(traces[0].loop, traces[0].other);
	loop_remove(traces[0].loop, traces[1].other);
}

static void callbacks_may_remove_each_other(void **state)
{
	struct error err = { 0 };
	struct loop *loop = loop_new(&err);
	struct trace one = { .loop = loop }, two[2] = { { .loop = loop } };
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	two[0].other =
		loop_add_fd(loop, pipes[0], EPOLLIN, remove_two, two, &err);
	two[1].other =
		loop_add_fd(loop, pipes[1], EPOLLOUT, remove_two, two, &err);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(two[0].count, 1);

	one.other = loop_add_timer(loop, 5, add_a, &one);
	loop_add_timer(loop, 5, remove_other, &one);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(one.count, 1);
	/* Left in the loop: loop_free() has to see to it. */
	loop_add_timer(loop, 5, add_a, &one);
	assert_non_null(
		loop_add_fd(loop, pipes[0], EPOLLIN, read_some, &one, &err));
	loop_free(loop);
	close(pipes[0]);
	close(pipes[1]);
	buf_done(&one.text);
}

static void again_now(void *arg, uint32_t events)
{
	struct trace *trace = arg;

	(void)events;
	if (trace->count++ < 1000000)
		loop_add_timer(trace->loop, 0, again_now, arg);
}

/* A timer that renews itself for "now" does not shut out descriptors. */
static void timers_leave_room(void **state)
{
	struct error err = { 0 };
	struct trace trace = { .loop = loop_new(&err) };
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	assert_non_null(
		loop_add_fd(trace.loop, pipes[0], EPOLLIN, stop, &trace, &err));
	loop_add_timer(trace.loop, 0, again_now, &trace);
	assert_int_equal(loop_run(trace.loop, &err), 0);
	assert_true(trace.count < 1000000);
	loop_free(trace.loop);
	close(pipes[0]);
	close(pipes[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void paths_are_made_relative(void **state)
{
	static const struct {
		const char *folder, *path, *want;
	} cases[] = {
		{ ".", "base/b", "base/b" },
		{ ".", "./../b", "../b" },
		{ "jobs", "base/b", "../base/b" },
		{ "jobs", "jobs/src", "src" },
		{ "jobs/x", "jobs/y/z", "../y/z" },
		{ "jobs/x", "jobsy/z", "../../jobsy/z" },
		{ "/a/b", "/a/c", "../c" },
		{ "a", "/b", "/b" },
		{ "../a", "b", "b" }, /* nobody knows where that is */
		{ "../a", "../b", "../b" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		char *got = path_relative(cases[i].folder, cases[i].path);

		assert_string_equal(got, cases[i].want);
		free(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beginnings_and_ends),
		cmocka_unit_test(the_last_line_says_something),
		cmocka_unit_test(distances),
		cmocka_unit_test(the_nearest_name_is_found),
		cmocka_unit_test(numbers_are_whole),
		cmocka_unit_test(durations_are_read),
		cmocka_unit_test(durations_are_written),
		cmocka_unit_test(sizes_are_read),
		cmocka_unit_test(sizes_are_written),
		cmocka_unit_test(times_are_written),
		cmocka_unit_test(signals_have_names),
		cmocka_unit_test(errors_are_put_together),
		cmocka_unit_test(an_arena_keeps_all),
		cmocka_unit_test(a_buffer_grows),
		cmocka_unit_test(text_becomes_json),
		cmocka_unit_test(json_is_written_and_read),
		cmocka_unit_test(bad_json_is_refused),
		TEST(digests_are_sha256),
		cmocka_unit_test(texts_do_not_run_together),
		cmocka_unit_test(a_missing_library_is_said),
		cmocka_unit_test(checksums_of_parts_make_that_of_the_whole),
		cmocka_unit_test(paths_are_joined_and_split),
		TEST(relative_paths_become_absolute),
		TEST(files_are_read_up_to_a_limit),
		TEST(what_is_no_file_is_refused),
		cmocka_unit_test(pipes_are_read),
		cmocka_unit_test(paths_are_made_relative),
		TEST(files_are_replaced_whole),
		TEST(a_new_file_is_never_in_the_place_of_another),
		TEST(folders_are_made_and_removed),
		cmocka_unit_test(timers_fire_in_order),
		cmocka_unit_test(descriptors_are_served),
		cmocka_unit_test(callbacks_may_remove_each_other),
		cmocka_unit_test(timers_leave_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
