/* SPDX-License-Identifier: Apache-2.0 */
/* Short forms of text: names, numbers, durations, sizes, times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/nearest.h"
#include "core/base/text.h"
#include "core/base/units.h"

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
		{ "reg", "region" },
		{ "zone", NULL },
		{ "", NULL },
		{ "runtimeVersion", NULL },
	};
	char huge[200];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const char *found =
			nearest_name(cases[i].word, names, COUNT(names));

		if (!cases[i].want)
			assert_null(found);
		else
			assert_string_equal(found, cases[i].want);
	}
	assert_null(nearest_name("args", names, 0));
	memset(huge, 'x', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	assert_null(nearest_name(huge, names, COUNT(names)));
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
