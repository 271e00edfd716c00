/* SPDX-License-Identifier: Apache-2.0 */
/* Values heard in the output of a training program, and found again later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/checkpoint/saver_heard.h"
#include "core/job/message.h"
#include "core/log/metric.h"

struct place {
	char folder[64];
	char path[96];
	char old[104];
	struct error err;
};

static int make_place(void **state)
{
	struct place *p = mem_alloc(sizeof(*p));

	strcpy(p->folder, "/tmp/jobrun-test.XXXXXX");
	assert_non_null(mkdtemp(p->folder));
	snprintf(p->path, sizeof(p->path), "%s/.heard", p->folder);
	snprintf(p->old, sizeof(p->old), "%s.old", p->path);
	*state = p;
	return 0;
}

static int remove_place(void **state)
{
	struct place *p = *state;

	assert_int_equal(folder_remove(p->folder, &p->err), 0);
	free(p);
	return 0;
}

static void add(struct heard *heard, int stream, const char *text,
		int64_t time_ms)
{
	heard_add(heard, stream, text, strlen(text), time_ms);
}

/* Returns "STEP EPOCH VALUE" at that time. */
static const char *found(struct place *p, int64_t time_ms)
{
	struct checkpoint what = { .step = -1, .epoch = -1, .value = NAN };
	static char text[80];

	assert_int_equal(heard_fill(p->path, "score", time_ms, &what, &p->err),
			 0);
	snprintf(text, sizeof(text), "%lld %g %s%g", (long long)what.step,
		 what.epoch, what.metric ? what.metric : "",
		 what.metric ? what.value : 0);
	return text;
}

static void what_was_said_last_is_found(void **state)
{
	struct place *p = *state;
	struct heard *heard = heard_open(p->path, "score", NULL, &p->err);

	assert_non_null(heard);
	assert_string_equal(found(p, 100), "-1 -1 0");
	add(heard, 0, "Epoch=1 Step=10 Loss=0.5\nnothing of it\n", 10);
	assert_string_equal(found(p, 9), "-1 -1 0");
	assert_string_equal(found(p, 10), "10 1 0");
	/* Lines come in pieces, between those of the other stream. */
	add(heard, 0, "Epoch=2 sco", 20);
	add(heard, 1, "warning: x=1\nScore: 0.25\n", 21);
	assert_string_equal(found(p, 30), "10 1 score0.25");
	add(heard, 0, "re=0.75", 22);
	assert_string_equal(found(p, 30), "10 1 score0.25");
	add(heard, 0, "\n", 23);
	/* A line has the time of its first byte. */
	assert_string_equal(found(p, 20), "10 2 score0.75");
	/* A bar that is redrawn counts as a line each time. */
	add(heard, 1, "score=1\rscore=2\rscore=3", 40);
	assert_string_equal(found(p, 40), "10 2 score2");
	/* A value that is not a number is unknown. */
	add(heard, 0, "score=nan\n", 50);
	assert_string_equal(found(p, 50), "10 2 0");
	heard_close(heard);
	/* A new writer starts without values. */
	heard = heard_open(p->path, "score", NULL, &p->err);
	assert_string_equal(found(p, 100), "-1 -1 0");
	heard_close(heard);
}

static void a_name_is_surer_than_the_log(void **state)
{
	struct checkpoint what = { .step = 7, .epoch = -1, .value = NAN };
	struct place *p = *state;
	struct heard *heard = heard_open(p->path, "score", NULL, &p->err);

	add(heard, 0, "Step=8 score=3\n", 1);
	assert_int_equal(heard_fill(p->path, "score", 1, &what, &p->err), 0);
	assert_int_equal(what.step, 7);
	assert_true(what.value == 3);
	heard_close(heard);
}

static void patterns_find_what_names_do_not(void **state)
{
	struct pair pair = { "score", "reached ([0-9.]+) of" };
	struct pairs patterns = { 1, &pair };
	struct place *p = *state;
	struct heard *heard = heard_open(p->path, "score", &patterns, &p->err);

	add(heard, 0, "we have reached 12.5 of 20\n", 1);
	assert_string_equal(found(p, 1), "-1 -1 score12.5");
	heard_close(heard);
	pair.value = "(";
	assert_null(heard_open(p->path, "score", &patterns, &p->err));
	assert_non_null(strstr(p->err.text, "metric 'score': "));
}

static void what_it_takes_is_bounded(void **state)
{
	struct place *p = *state;
	struct heard *heard = heard_open(p->path, "score", NULL, &p->err);
	char *line = mem_alloc(METRIC_LINE_MAX * 4);
	const int64_t start_ms = 1700000000000;
	struct stat st;

	/* Only the beginning of an endless line is parsed. */
	memset(line, 'x', METRIC_LINE_MAX * 4 - 1);
	memcpy(line, "score=4 ", 8);
	for (int i = 0; i < 4; i++)
		add(heard, 0, line, 1);
	add(heard, 0, "score=5\n", 1);
	assert_string_equal(found(p, 1), "-1 -1 score4");
	free(line);
	for (int i = 0; i < 40000; i++) {
		char text[64];

		snprintf(text, sizeof(text), "step=%d score=%d\n", i, i);
		add(heard, 0, text, start_ms + i);
		if (i % 10000)
			continue;
		snprintf(text, sizeof(text), "%d -1 score%d", i, i);
		assert_string_equal(found(p, start_ms + i), text);
	}
	heard_close(heard);
	assert_int_equal(stat(p->path, &st), 0);
	assert_true(st.st_size < HEARD_MAX + 128);
	assert_int_equal(stat(p->old, &st), 0);
	assert_true(st.st_size < HEARD_MAX + 128);
	/* If the writer was killed between the two files, the old one is
	 * used. */
	assert_int_equal(unlink(p->path), 0);
	assert_true(strncmp(found(p, INT64_MAX), "-1", 2) != 0);
}

static void what_is_broken_is_passed_over(void **state)
{
	static const char text[] = "5 1 1 0.5\n\nx\n6 2\n\377\n7 3 1 0.7\n8 4 ";
	struct place *p = *state;

	assert_int_equal(file_write(p->path, text, sizeof(text) - 1, &p->err),
			 0);
	assert_string_equal(found(p, 100), "3 1 score0.7");
	assert_string_equal(found(p, 6), "1 1 score0.5");
}

int main(void)
{
#define TEST(test)                                                             \
	cmocka_unit_test_setup_teardown(test, make_place, remove_place)
	const struct CMUnitTest tests[] = {
		TEST(what_was_said_last_is_found),
		TEST(a_name_is_surer_than_the_log),
		TEST(patterns_find_what_names_do_not),
		TEST(what_it_takes_is_bounded),
		TEST(what_is_broken_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
