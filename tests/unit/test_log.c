/* SPDX-License-Identifier: Apache-2.0 */
/* The log of tasks: what is written, and how readers show it. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/log/log.h"
#include "core/log/log_cursor.h"
#include "tests/support/skip.h"

#define HOST "10.164.0.109"

static char folder[] = "/tmp/test_log.XXXXXX";
static struct error err;

static const struct log_source sources[] = {
	{ "master", 0, 0, HOST },
	{ "worker", 0, 1, HOST },
	{ "worker", 1, 2, HOST },
};

static int setup(void **state)
{
	(void)state;
	strcpy(strrchr(folder, '.'), ".XXXXXX");
	err = (struct error){ 0 };
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return folder_remove(folder, &err);
}

static char *file_path(const char *name)
{
	return mem_printf("%s/logs/%s", folder, name);
}

static char *file_get(const char *name, size_t *len)
{
	char *path = file_path(name);
	char *data = file_read(path, SIZE_MAX / 4, len, &err);

	assert_non_null(data);
	free(path);
	return data;
}

static void file_append(const char *name, const void *data, size_t len)
{
	char *path = file_path(name);
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write(fd, data, len), 0);
	close(fd);
	free(path);
}

static void file_assert(const char *name, const void *data, size_t len)
{
	size_t got_len;
	char *got = file_get(name, &got_len);

	assert_int_equal(got_len, len);
	assert_memory_equal(got, data, len);
	free(got);
}

static struct log_writer *writer_new(const char *type, int index)
{
	struct log_writer *writer = log_writer_open(folder, type, index, &err);

	assert_non_null(writer);
	return writer;
}

static void put(struct log_writer *writer, enum log_stream stream,
		const char *text, int64_t time_ms)
{
	log_writer_add(writer, stream, text, strlen(text), time_ms);
}

/* Writes "0:text|1e:text|"; "e" means standard error. */
static void show(void *arg, const struct log_line *line)
{
	struct buf *out = arg;

	assert_true(!line->plain || !memchr(line->text, '\r', line->len));
	buf_printf(out, "%d%s:", line->source->ordinal,
		   line->stream == LOG_STDERR ? "e" : "");
	if (line->lost)
		buf_printf(out, "lost %d", (int)line->lost);
	buf_add(out, line->text, line->len);
	buf_putc(out, '|');
}

static void step_assert(struct log_reader *reader, bool ended,
			const char *expected)
{
	struct buf out = { 0 };

	assert_int_equal(log_reader_step(reader, ended, show, &out, &err), 0);
	assert_string_equal(buf_text(&out), expected);
	buf_done(&out);
}

static struct log_reader *reader_new(size_t count,
				     const struct log_filter *filter)
{
	struct log_reader *reader =
		log_reader_open(folder, sources, count, filter, &err);

	assert_non_null(reader);
	return reader;
}

static void read_assert(size_t count, const struct log_filter *filter,
			bool ended, const char *expected)
{
	struct log_reader *reader = reader_new(count, filter);

	step_assert(reader, ended, expected);
	step_assert(reader, ended, ""); /* nothing twice */
	log_reader_close(reader);
}

/* How lines look. */

static const struct log_style plain_style = { 0 };
static const struct log_style color_style = { .color = true };

/* Writes one line with a new printer. */
static void line_put(const struct log_line *line, const struct log_style *style,
		     struct buf *out)
{
	struct log_printer *printer = log_printer_new(style);

	log_printer_add(printer, line, out);
	log_printer_end(printer, out);
	log_printer_free(printer);
}

static void line_assert(const char *text, size_t len, const char *expected)
{
	struct log_line line = { .source = &sources[1],
				 .time_ms = 1596681537999,
				 .text = text,
				 .len = len };
	struct log_printer *printer = log_printer_new(&plain_style);
	struct buf out = { 0 };

	log_printer_add(printer, &line, &out);
	assert_int_equal(out.len, strlen(expected) + 38);
	assert_memory_equal(out.data, "2020-08-06 02:38:57 " HOST " [1] ", 37);
	assert_memory_equal(out.data + 37, expected, strlen(expected));
	assert_int_equal(out.data[out.len - 1], '\n');
	log_printer_add(printer, &line, &out);
	log_printer_add(printer, &line, &out);
	assert_int_equal(out.len, 3 * (strlen(expected) + 38));
	assert_memory_equal(out.data, out.data + out.len / 3, out.len / 3);
	assert_memory_equal(out.data, out.data + out.len / 3 * 2, out.len / 3);
	buf_done(&out);
	log_printer_free(printer);
}

static void lines_look_like_xla_dist(void **state)
{
	struct log_line line = { .source = &sources[1], .lost = 812 };
	struct buf out = { 0 };

	(void)state;
	line_assert("Epoch=1", 7, "Epoch=1");
	line_assert("", 0, "");
	line_assert("\r", 1, "");
	line_assert("dos\r", 4, "dos");
	line_assert(" 1%\r 50%\r100%", 13, "100%");
	line_assert(" 1%\r 50%\r100%\r\r", 15, "100%");
	line_assert("\xff\xfe", 2, "\xff\xfe");

	line.text = "a\0b";
	line.len = 3;
	line.lost = 0;
	line_put(&line, &plain_style, &out);
	assert_memory_equal(out.data + out.len - 4, "a\0b\n", 4);
	buf_clear(&out);
	line.lost = 812;
	line.len = 0;
	line_put(&line, &plain_style, &out);
	assert_non_null(strstr(out.data, "[1] (812 bytes of output were lost"));
	buf_done(&out);
}

static void color_is_of_the_task(void **state)
{
	struct log_line line = { .source = &sources[1],
				 .time_ms = 1596681537999,
				 .text = "x",
				 .len = 1 };
	struct log_printer *printer = log_printer_new(&color_style);
	struct buf one = { 0 }, two = { 0 };

	(void)state;
	line_put(&line, &color_style, &one);
	assert_string_equal(one.data, "2020-08-06 02:38:57 \033[32m" HOST
				      " [1]\033[0m x\n");
	log_printer_add(printer, &line, &two);
	assert_string_equal(one.data, two.data);
	/* Another task, the next second, the first task again. */
	line.source = &sources[2];
	line.time_ms++;
	buf_clear(&one);
	buf_clear(&two);
	line_put(&line, &color_style, &one);
	log_printer_add(printer, &line, &two);
	assert_string_equal(one.data, "2020-08-06 02:38:58 \033[33m" HOST
				      " [2]\033[0m x\n");
	assert_string_equal(one.data, two.data);
	line.time_ms += 1000; /* only the second */
	buf_clear(&one);
	buf_clear(&two);
	line_put(&line, &color_style, &one);
	log_printer_add(printer, &line, &two);
	assert_string_equal(one.data, two.data);
	line.source = &sources[1];
	buf_clear(&one);
	buf_clear(&two);
	line_put(&line, &color_style, &one);
	log_printer_add(printer, &line, &two);
	assert_string_equal(one.data, two.data);
	buf_done(&one);
	buf_done(&two);
	log_printer_free(printer);
}

static void lines_take_other_prefixes(void **state)
{
	static const struct {
		struct log_style style;
		const char *expected;
	} cases[] = {
		{ { .prefix = LOG_PREFIX_TASK, .time = LOG_TIME_NONE },
		  "worker 0 | x\n" },
		{ { .prefix = LOG_PREFIX_TASK,
		    .time = LOG_TIME_NONE,
		    .color = true },
		  "\033[32mworker 0 |\033[0m x\n" },
		{ { .prefix = LOG_PREFIX_TASK,
		    .time = LOG_TIME_RELATIVE,
		    .from_ms = 1596681537999 - 3754000,
		    .job = "mnist" },
		  "1:02:34 mnist worker 0 | x\n" },
		{ { .prefix = LOG_PREFIX_NONE, .time = LOG_TIME_NONE }, "x\n" },
		{ { .prefix = LOG_PREFIX_NONE, .time = LOG_TIME_UTC },
		  "2020-08-06 02:38:57Z x\n" },
		{ { .prefix = LOG_PREFIX_HOST, .time = LOG_TIME_NONE },
		  HOST " [1] x\n" },
		/* The clock was set back. */
		{ { .prefix = LOG_PREFIX_NONE,
		    .time = LOG_TIME_RELATIVE,
		    .from_ms = 1596681599999 },
		  "0:00:00 x\n" },
	};
	struct log_line line = { .source = &sources[1],
				 .time_ms = 1596681537999,
				 .text = "x",
				 .len = 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf out = { 0 };

		line_put(&line, &cases[i].style, &out);
		assert_string_equal(out.data, cases[i].expected);
		buf_done(&out);
	}
}

/* Colours pass, moves within the task's own lines are obeyed, and everything
 * else is made visible. */
static void a_terminal_is_given_text_only(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "plain", "plain\n" },
		{ "\033[1;31mred\033[0m", "\033[1;31mred\033[0m\n" },
		{ "\033[31mred", "\033[31mred\033[0m\n" },
		{ "a\b\bbc", "bc\n" },
		{ "12345\r\033[Kab", "ab\n" },
		{ "12345\r\033[2Cx", "12x45\n" },
		{ "\033]0;title\a", "\\x1b]0;title\\x07\n" },
		{ "\033[2Jx", "\\x1b[2Jx\n" },
		{ "\033[5;5Hx", "\\x1b[5;5Hx\n" },
		{ "\033c", "\\x1bc\n" },
		{ "\xff\x9b", "\\xff\\x9b\n" },
		{ "\xc2\x9b"
		  "2J",
		  "\\u009b2J\n" },
		{ "\033[?25lx\033[?25h", "x\n" },
	};
	const struct log_style style = { .prefix = LOG_PREFIX_NONE,
					 .time = LOG_TIME_NONE,
					 .terminal = true };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct log_line line = { .source = &sources[1],
					 .time_ms = 1,
					 .text = cases[i].text,
					 .len = strlen(cases[i].text) };
		struct buf out = { 0 };

		line_put(&line, &style, &out);
		assert_string_equal(out.data, cases[i].expected);
		buf_done(&out);
	}
}

/* Two bars as tqdm draws them: each refresh goes back up to the outer one.  The
 * row finished before the first of them stays. */
static void bars_of_several_tasks_keep_apart(void **state)
{
	static const char *const steps[] = {
		"\router 0%\n\rinner 0%\033[A\n\rinner 50%\033[A\n",
		"\rinner 100%\033[A\router 100%\n",
	};
	const struct log_style style = { .prefix = LOG_PREFIX_TASK,
					 .time = LOG_TIME_NONE };
	struct log_printer *printer = log_printer_new(&style);
	struct buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(steps); i++) {
		for (size_t task = 0; task < 2; task++) {
			const char *p = steps[i];
			const char *end;

			for (; (end = strchr(p, '\n')); p = end + 1) {
				struct log_line line = {
					.source = &sources[task],
					.time_ms = 1,
					.text = p,
					.len = (size_t)(end - p)
				};

				log_printer_add(printer, &line, &out);
			}
		}
	}
	log_printer_end(printer, &out);
	assert_string_equal(buf_text(&out), "master 0 | outer 0%\n"
					    "worker 0 | outer 0%\n"
					    "master 0 | outer 100%\n"
					    "master 0 | inner 100%\n"
					    "worker 0 | outer 100%\n"
					    "worker 0 | inner 100%\n");
	buf_done(&out);
	log_printer_free(printer);
}

static void long_lines_are_marked_where_cut(void **state)
{
	const struct log_style style = { .prefix = LOG_PREFIX_NONE,
					 .time = LOG_TIME_NONE };
	struct log_line line = {
		.source = &sources[1], .text = "abc", .len = 3, .more = true
	};
	struct buf out = { 0 };

	(void)state;
	line_put(&line, &style, &out);
	line.rest = true;
	line_put(&line, &style, &out);
	line.more = false;
	line_put(&line, &style, &out);
	assert_string_equal(out.data,
			    "abc" LOG_LINE_CUT "\n" LOG_LINE_CUT
			    "abc" LOG_LINE_CUT "\n" LOG_LINE_CUT "abc\n");
	buf_done(&out);
}

/* What is written. */

static void raw_logs_are_exact(void **state)
{
	struct log_writer *writer = writer_new("worker", 1);
	char *data = mem_alloc(1 << 20);
	size_t at, n;

	(void)state;
	srand(1);
	for (at = 0; at < 1 << 20; at++)
		data[at] = (char)rand();
	for (at = 0; at < 1 << 20; at += n) {
		n = 1 + (size_t)rand() % 70000;
		if (n > (1 << 20) - at)
			n = (1 << 20) - at;
		log_writer_add(writer, at & 1 ? LOG_STDERR : LOG_STDOUT, data,
			       0, 5);
		log_writer_add(writer, LOG_STDERR, data + at, n, 5);
	}
	put(writer, LOG_STDOUT, "one\r\n", 6);
	assert_int_equal(log_writer_lost(writer), 0);
	log_writer_close(writer);
	file_assert("worker-1.stderr", data, 1 << 20);
	file_assert("worker-1.stdout", "one\r\n", 5);
	free(data);
}

static uint64_t index_sum(const char *name, unsigned kind)
{
	size_t len;
	char *data = file_get(name, &len);
	uint64_t sum = 0;

	assert_int_equal(len % sizeof(struct log_record), 0);
	for (size_t i = 0; i < len; i += sizeof(struct log_record)) {
		struct log_record record;

		memcpy(&record, data + i, sizeof(record));
		if (record.kind == kind)
			sum += record.len;
	}
	free(data);
	return sum;
}

/* Output comes through a pipe in pieces of all sizes, the rest after its other
 * end was closed, and from pipe and memory in turn. */
static void what_is_in_a_pipe_is_taken(void **state)
{
	struct log_writer *writer = writer_new("worker", 1);
	char data[60000];
	size_t at, n;
	int ends[2];

	(void)state;
	srand(2);
	for (at = 0; at < sizeof(data); at++)
		data[at] = (char)rand();
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	assert_int_equal(log_writer_take(writer, LOG_STDOUT, ends[0], 10, 1),
			 -1);
	assert_int_equal(errno, EAGAIN);
	for (at = 0; at < sizeof(data); at += n) {
		n = 1 + (size_t)rand() % 7000;
		if (n > sizeof(data) - at)
			n = sizeof(data) - at;
		if (rand() % 8 == 0) {
			log_writer_add(writer, LOG_STDOUT, data + at, n, 3);
			continue;
		}
		assert_int_equal(write(ends[1], data + at, n), n);
		if (n > 1)
			assert_int_equal(log_writer_take(writer, LOG_STDOUT,
							 ends[0], n - 1, 2),
					 n - 1);
		if (at + n == sizeof(data))
			close(ends[1]);
		assert_int_equal(log_writer_take(writer, LOG_STDOUT, ends[0],
						 SIZE_MAX >> 1, 2),
				 1);
	}
	assert_int_equal(log_writer_take(writer, LOG_STDOUT, ends[0], 1, 1), 0);
	close(ends[0]);
	assert_int_equal(log_writer_lost(writer), 0);
	log_writer_close(writer);
	file_assert("worker-1.stdout", data, sizeof(data));
	assert_int_equal(index_sum("worker-1.index", LOG_STDOUT), sizeof(data));
}

static bool is_of_folder(int fd)
{
	char link[64], target[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	return !strncmp(target, folder, strlen(folder));
}

/* Files are created with the first byte of each stream, and only the user can
 * read them. */
static void logs_are_private(void **state)
{
	static const char *const names[] = { "", "master-0.stdout",
					     "master-0.stderr",
					     "master-0.index" };
	mode_t old = umask(0);
	struct log_writer *writer = writer_new("master", 0);
	char *path = file_path(names[3]);

	(void)state;
	assert_int_equal(access(path, F_OK), -1);
	free(path);
	put(writer, LOG_STDOUT, "x", 1);
	put(writer, LOG_STDERR, "x", 1);
	umask(old);
	for (size_t i = 0; i < COUNT(names); i++) {
		struct stat st;

		path = file_path(names[i]);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, i ? 0600 : 0700);
		free(path);
	}
	for (int fd = 3; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0 && is_of_folder(fd))
			assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	log_writer_close(writer);
}

static void opening_says_why_not(void **state)
{
	char *file = mem_printf("%s/logs", folder);

	(void)state;
	assert_int_equal(file_write(file, "", 0, &err), 0);
	assert_null(log_writer_open(folder, "master", 0, &err));
	assert_non_null(strstr(err.text, folder));
	assert_int_equal(err.code, ERROR_FAILED);
	log_writer_close(NULL);
	log_reader_close(NULL);
	free(file);
}

/* A writer that was killed left half a record, and a piece without a record. */
static void opening_again_mends(void **state)
{
	struct log_writer *writer = writer_new("master", 0);
	struct log_reader *reader = reader_new(1, NULL);
	size_t len;

	(void)state;
	put(writer, LOG_STDOUT, "a\nb", 1000);
	log_writer_close(writer);
	file_append("master-0.stdout", "c\nd", 3);
	file_append("master-0.index", "\1\0\0\0\0\0\0", 7);
	step_assert(reader, false, "0:a|"); /* not indexed, not shown */
	writer = writer_new("master", 0);
	step_assert(reader, false, "0:bc|");
	/* A repaired piece has the time when its file was last written. */
	put(writer, LOG_STDOUT, "e\n", time_now_ms() + 10000);
	put(writer, LOG_STDERR, "f\n", time_now_ms() - 10000);
	put(writer, LOG_STDERR, "g\n", time_now_ms() + 20000);
	step_assert(reader, false, "0e:f|0:de|0e:g|");
	log_writer_close(writer);
	log_reader_close(reader);
	free(file_get("master-0.index", &len));
	assert_int_equal(len, 5 * 16);
}

/* What is read. */

static void no_logs_is_no_error(void **state)
{
	struct log_reader *reader = reader_new(3, NULL);
	struct log_writer *writer;

	(void)state;
	step_assert(reader, false, "");
	step_assert(reader, true, "");
	writer = writer_new("worker", 0);
	step_assert(reader, false, "");
	put(writer, LOG_STDOUT, "x\n", 1);
	step_assert(reader, false, "1:x|");
	log_writer_close(writer);
	log_reader_close(reader);
	reader = log_reader_open("/nonexistent/folder", sources, 3, NULL, &err);
	assert_non_null(reader);
	step_assert(reader, true, "");
	assert_int_equal(log_reader_watch(reader, &err), -1);
	assert_non_null(strstr(err.text, "/nonexistent/folder"));
	log_reader_close(reader);
}

static void lines_are_merged_by_time(void **state)
{
	struct log_writer *a = writer_new("master", 0);
	struct log_writer *b = writer_new("worker", 0);
	struct log_writer *c = writer_new("worker", 1);

	(void)state;
	put(c, LOG_STDOUT, "c1\nc2\n", 5);
	put(b, LOG_STDOUT, "b1\n", 5);
	put(a, LOG_STDOUT, "a1\n", 5);
	put(a, LOG_STDERR, "a2\na3\n", 5);
	put(a, LOG_STDOUT, "a4\n", 5);
	put(a, LOG_STDOUT, "a5\n", 9);
	put(b, LOG_STDERR, "b2\n", 6);
	put(b, LOG_STDERR, "b3\n", 10);
	put(c, LOG_STDERR, "c3\n", 7);
	/* A clock that was set back changes no order within a stream. */
	put(c, LOG_STDERR, "c4\n", 1);
	put(c, LOG_STDERR, "c5\n", 20);
	read_assert(3, NULL, false,
		    "0:a1|0e:a2|0e:a3|0:a4|1:b1|2:c1|2:c2|1e:b2|2e:c3|"
		    "2e:c4|0:a5|1e:b3|2e:c5|");
	log_writer_close(a);
	log_writer_close(b);
	log_writer_close(c);
}

static void a_line_waits_for_its_end(void **state)
{
	struct log_writer *a = writer_new("master", 0);
	struct log_writer *b = writer_new("worker", 0);
	struct log_reader *reader = reader_new(2, NULL);

	(void)state;
	put(a, LOG_STDOUT, "first ", 1);
	put(b, LOG_STDOUT, "x\n", 2);
	step_assert(reader, false, "1:x|");
	put(a, LOG_STDOUT, "second ", 3);
	put(a, LOG_STDERR, "error\n", 3);
	step_assert(reader, false, "0e:error|");
	put(b, LOG_STDOUT, "y\nz", 4);
	put(a, LOG_STDOUT, "third\n\n\r\n", 5);
	/* The line has the time of its first byte. */
	step_assert(reader, false, "0:first second third|1:y|0:|0:\r|");
	step_assert(reader, false, "");
	put(a, LOG_STDOUT, "open", 6);
	step_assert(reader, true, "1:z|0:open|");
	step_assert(reader, true, "");
	log_writer_close(a);
	log_writer_close(b);
	log_reader_close(reader);
}

static void ended_shows_what_has_no_record(void **state)
{
	struct log_writer *writer = writer_new("master", 0);
	struct log_reader *reader = reader_new(1, NULL);

	(void)state;
	put(writer, LOG_STDOUT, "a\nb", 7000);
	log_writer_close(writer);
	file_append("master-0.stdout", "c\nd\ne", 5);
	file_append("master-0.stderr", "f", 1);
	file_append("master-0.index", "xxx", 3);
	step_assert(reader, false, "0:a|");
	step_assert(reader, true, "0:bc|0:d|0:e|0e:f|");
	step_assert(reader, true, "");
	/* A later writer must not cause lines to be shown twice. */
	writer = writer_new("master", 0);
	put(writer, LOG_STDERR, "h\n", time_now_ms() + 10000);
	put(writer, LOG_STDOUT, "g\n", time_now_ms() + 20000);
	step_assert(reader, true, "0e:h|0:g|");
	log_writer_close(writer);
	log_reader_close(reader);
	read_assert(1, NULL, true, "0:a|0:bc|0:d|0:eg|0e:fh|");
}

static void time_last(void *arg, const struct log_line *line)
{
	*(int64_t *)arg = line->time_ms;
}

static void what_has_no_record_has_a_time(void **state)
{
	struct log_writer *writer = writer_new("master", 0);
	struct log_reader *reader;
	int64_t time_ms = 0;

	(void)state;
	file_append("master-0.stdout", "x", 1);
	reader = reader_new(1, NULL);
	assert_int_equal(
		log_reader_step(reader, true, time_last, &time_ms, &err), 0);
	assert_in_range(time_ms, time_now_ms() - 60000, time_now_ms());
	log_reader_close(reader);
	put(writer, LOG_STDERR, "y", 7000);
	reader = reader_new(1, NULL);
	assert_int_equal(
		log_reader_step(reader, true, time_last, &time_ms, &err), 0);
	assert_int_equal(time_ms, 7000);
	log_reader_close(reader);
	log_writer_close(writer);
}

static void binary_survives(void **state)
{
	struct log_writer *writer = writer_new("master", 0);
	struct log_reader *reader = reader_new(1, NULL);
	char all[257];
	struct buf out = { 0 };

	(void)state;
	for (int i = 0; i < 256; i++)
		all[i] = (char)(i == '\n' ? 0 : i);
	all[256] = '\n';
	log_writer_add(writer, LOG_STDOUT, all, sizeof(all), 1);
	assert_int_equal(log_reader_step(reader, false, show, &out, &err), 0);
	assert_int_equal(out.len, 2 + 256 + 1);
	assert_memory_equal(out.data + 2, all, 256);
	file_assert("master-0.stdout", all, sizeof(all));
	buf_done(&out);
	log_writer_close(writer);
	log_reader_close(reader);
}

static void filters_combine(void **state)
{
	struct log_writer *a = writer_new("master", 0);
	struct log_writer *b = writer_new("worker", 0);
	struct log_filter filter = { .tail = SIZE_MAX };
	regex_t loss;

	(void)state;
	put(a, LOG_STDOUT, "Loss=3\nx\nLoss=", 10);
	put(b, LOG_STDOUT, "Loss=4\r\n", 20);
	put(a, LOG_STDOUT, "5\ny\nLoss=6\n", 30);
	put(b, LOG_STDERR, " 1% Loss=9\r 2%\nLoss=7", 40);

	assert_int_equal(regcomp(&loss, "^Loss=.$", REG_EXTENDED | REG_NOSUB),
			 0);
	filter.grep = &loss;
	read_assert(2, &filter, false,
		    "0:Loss=3|0:Loss=5|1:Loss=4\r|0:Loss=6|");
	filter.tail = 2;
	read_assert(2, &filter, false, "1:Loss=4\r|0:Loss=6|");
	read_assert(2, &filter, true, "0:Loss=6|1e:Loss=7|");
	filter.since_ms = 25;
	read_assert(2, &filter, false, "0:Loss=6|");
	filter.grep = NULL;
	filter.tail = SIZE_MAX;
	read_assert(2, &filter, false, "0:y|0:Loss=6|1e: 1% Loss=9\r 2%|");
	filter.since_ms = 30;
	read_assert(2, &filter, false, "0:y|0:Loss=6|1e: 1% Loss=9\r 2%|");
	filter.since_ms = 31;
	read_assert(2, &filter, false, "1e: 1% Loss=9\r 2%|");
	filter.since_ms = 41;
	read_assert(2, &filter, true, "");
	filter.since_ms = 0;
	filter.tail = 0;
	read_assert(2, &filter, true, "");
	filter.tail = 3;
	read_assert(2, &filter, true, "0:Loss=6|1e: 1% Loss=9\r 2%|1e:Loss=7|");
	regfree(&loss);
	log_writer_close(a);
	log_writer_close(b);
}

/* tail is about the existing lines: all later lines come, and so does the
 * unfinished line; since is about all lines. */
static void tail_then_follow(void **state)
{
	struct log_writer *writer = writer_new("master", 0);
	struct log_filter filter = { .tail = 0 };
	struct log_reader *reader = reader_new(1, &filter);
	struct log_reader *one, *since;

	(void)state;
	put(writer, LOG_STDOUT, "a\nb\nopen", 10);
	filter.tail = 1;
	one = reader_new(1, &filter);
	filter.tail = SIZE_MAX;
	filter.since_ms = 11;
	since = reader_new(1, &filter);
	step_assert(reader, false, "");
	step_assert(one, false, "0:b|");
	step_assert(since, false, "");
	put(writer, LOG_STDOUT, " end\nc\n", 20);
	put(writer, LOG_STDOUT, "d\n", 21);
	step_assert(reader, false, "0:open end|0:c|0:d|");
	step_assert(one, false, "0:open end|0:c|0:d|");
	step_assert(since, false, "0:c|0:d|");
	log_reader_close(reader);
	log_reader_close(one);
	log_reader_close(since);
	log_writer_close(writer);
}

/* Readers of values get every state of a bar before its line ends. */
static void states_of_a_line_come_at_once(void **state)
{
	const struct log_filter filter = { .tail = SIZE_MAX, .states = true };
	struct log_writer *writer = writer_new("master", 0);
	struct log_reader *reader = reader_new(1, &filter);
	char *wide = mem_alloc(100001);
	struct buf out = { 0 };

	(void)state;
	put(writer, LOG_STDOUT, "\r1%\r2", 1);
	step_assert(reader, false, "0:|0:1%|");
	put(writer, LOG_STDOUT, "%\r\r3%\r\nnext\n", 2);
	step_assert(reader, false, "0:2%|0:|0:3%|0:|0:next|");
	memset(wide, 'w', 100000);
	put(writer, LOG_STDOUT, wide, 3);
	/* The start of a line is not given out forever. */
	assert_int_equal(log_reader_step(reader, false, show, &out, &err), 0);
	assert_true(out.len >= 65536);
	buf_done(&out);
	free(wide);
	log_reader_close(reader);
	log_writer_close(writer);
}

struct stopper {
	struct log_reader *reader;
	struct buf out;
};

static void show_one(void *arg, const struct log_line *line)
{
	struct stopper *stopper = arg;

	show(&stopper->out, line);
	log_reader_stop(stopper->reader);
}

static void a_sink_can_stop(void **state)
{
	struct log_writer *a = writer_new("master", 0);
	struct log_writer *b = writer_new("worker", 0);
	struct stopper stopper = { reader_new(2, NULL), { 0 } };

	(void)state;
	put(a, LOG_STDOUT, "a\nb\n", 1);
	put(b, LOG_STDOUT, "c\nd\n", 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(log_reader_step(stopper.reader, false,
						 show_one, &stopper, &err),
				 0);
	assert_string_equal(stopper.out.data, "0:a|0:b|1:c|");
	put(a, LOG_STDOUT, "e\n", 2);
	step_assert(stopper.reader, false, "1:d|0:e|");
	buf_done(&stopper.out);
	log_reader_close(stopper.reader);
	log_writer_close(a);
	log_writer_close(b);
}

/* Files that are not as we write them. */

static void an_index_may_lie(void **state)
{
	struct log_record lies[] = {
		{ 1, 2, LOG_STDOUT },
		{ 2, 0, LOG_STDOUT },
		{ 3, 7, 99 },
		{ 4, 1000000, LOG_STDOUT },
		{ 5, 4000000000, 0 },
		{ 6, UINT32_MAX, LOG_STDERR },
		{ 7, 3, LOG_KIND_LOST },
	};
	struct log_filter filter = { .tail = 2 };
	struct log_reader *reader;

	(void)state;
	log_writer_close(writer_new("master", 0));
	file_append("master-0.stdout", "a\nb\nc", 5);
	file_append("master-0.stderr", "d\ne", 3);
	file_append("master-0.index", lies, sizeof(lies));
	reader = reader_new(1, NULL);
	step_assert(reader, false, "0:a|0:b|0:c|0e:d|0:lost 3|");
	step_assert(reader, true, "0e:e|");
	log_reader_close(reader);
	read_assert(1, &filter, false, "0e:d|0:lost 3|");
}

static void files_may_vanish(void **state)
{
	struct log_writer *writer = writer_new("master", 0);
	struct log_reader *open_reader = reader_new(1, NULL);
	struct log_reader *reader;
	char *path = file_path("master-0.stdout");

	(void)state;
	put(writer, LOG_STDOUT, "a\n", 1);
	put(writer, LOG_STDERR, "b\n", 1);
	step_assert(open_reader, false, "0:a|0e:b|");
	assert_int_equal(unlink(path), 0);
	read_assert(1, NULL, true, "0e:b|");
	put(writer, LOG_STDOUT, "c\n", 2);
	step_assert(open_reader, false, "0:c|");
	reader = reader_new(1, NULL);
	assert_true(log_reader_watch(reader, &err) >= 0);
	assert_int_equal(folder_remove(folder, &err), 0);
	step_assert(reader, true, "");
	step_assert(open_reader, true, "");
	log_reader_close(reader);
	log_reader_close(open_reader);
	log_writer_close(writer);
	free(path);
}

static void a_raw_file_may_be_cut(void **state)
{
	struct log_writer *writer = writer_new("master", 0);
	struct log_reader *reader = reader_new(1, NULL);
	char *path = file_path("master-0.stdout");

	(void)state;
	put(writer, LOG_STDOUT, "a\nb\nc\n", 1);
	step_assert(reader, false, "0:a|0:b|0:c|");
	put(writer, LOG_STDOUT, "d\ne\n", 2);
	assert_int_equal(truncate(path, 3), 0);
	step_assert(reader, false, "");
	step_assert(reader, true, "");
	log_reader_close(reader);
	read_assert(1, NULL, true, "0:a|0:b|");
	log_writer_close(writer);
	free(path);
}

/* A writer that can't index a piece takes it back, so bytes without a record
 * may change. */
static void what_has_no_record_may_change(void **state)
{
	struct log_writer *writer = writer_new("master", 0);
	struct log_reader *reader = reader_new(1, NULL);
	char *path = file_path("master-0.stdout");

	(void)state;
	put(writer, LOG_STDOUT, "a\nb", 1);
	file_append("master-0.stdout", "XX\n", 3);
	step_assert(reader, false, "0:a|");
	assert_int_equal(truncate(path, 3), 0);
	put(writer, LOG_STDOUT, "c\nd\n", 2);
	step_assert(reader, false, "0:bc|0:d|");
	log_reader_close(reader);
	log_writer_close(writer);
	free(path);
}

/* Great lengths. */

static void count_line(void *arg, const struct log_line *line)
{
	*(size_t *)arg += line->len + !line->more;
}

/* A reader that looked again at bytes it knows would take minutes. */
static void a_huge_line_is_read_once(void **state)
{
	const size_t total = (size_t)64 << 20, piece = 4096;
	struct log_writer *writer = writer_new("master", 0);
	struct log_reader *reader = reader_new(1, NULL);
	struct log_filter filter = { .tail = 1 };
	char *data = mem_alloc(piece);
	clock_t before = clock();
	size_t got = 0;

	(void)state;
	memset(data, 'x', piece);
	for (size_t n = 0; n < total; n += piece) {
		log_writer_add(writer, LOG_STDOUT, data, piece, 1);
		assert_int_equal(
			log_reader_step(reader, false, count_line, &got, &err),
			0);
	}
	assert_int_equal(got, total - LOG_LINE_MAX);
	put(writer, LOG_STDOUT, "\ny\n", 2);
	assert_int_equal(log_reader_step(reader, false, count_line, &got, &err),
			 0);
	assert_int_equal(got, total + 3);
	log_reader_close(reader);
	read_assert(1, &filter, false, "0:y|");
	put(writer, LOG_STDERR, "z\n", 1);
	filter.tail = 3;
	got = 0;
	reader = reader_new(1, &filter);
	assert_int_equal(log_reader_step(reader, true, count_line, &got, &err),
			 0);
	/* The line comes with its last piece. */
	assert_in_range(got, LOG_LINE_MAX / 2, LOG_LINE_MAX + 5);
	log_reader_close(reader);
	log_writer_close(writer);
	free(data);
	assert_true((clock() - before) / CLOCKS_PER_SEC < 20);
}

static void show_length(void *arg, const struct log_line *line)
{
	buf_printf(arg, "%s%zu ", line->more && !line->rest ? "+" : "",
		   line->len);
}

/* Checks the lengths of the pieces in which a pattern is found. */
static void pieces_assert(const char *pattern, const char *want)
{
	struct log_filter filter = { .tail = SIZE_MAX };
	struct buf out = { 0 };
	struct log_reader *reader;
	regex_t regex;

	assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	filter.grep = &regex;
	for (int i = 0; i < 2; i++) {
		buf_clear(&out);
		reader = reader_new(1, &filter);
		assert_int_equal(
			log_reader_step(reader, false, show_length, &out, &err),
			0);
		log_reader_close(reader);
		assert_string_equal(buf_text(&out), want);
		filter.tail = 100; /* the same, found from the end */
	}
	regfree(&regex);
	buf_done(&out);
}

static void a_pattern_is_found_across_pieces(void **state)
{
	const size_t max = LOG_LINE_MAX;
	struct log_writer *writer = writer_new("master", 0);
	char *line = mem_alloc(3 * max);

	(void)state;
	memset(line, 'a', 3 * max);
	memcpy(line + max - 3, "needle", 6);
	memcpy(line + 2 * max - 4, "last", 4);
	line[2 * max] = 'b';
	line[2 * max + 100] = '\n';
	put(writer, LOG_STDOUT, "one\n", 1);
	log_writer_add(writer, LOG_STDOUT, line, 2 * max + 101, 1);
	put(writer, LOG_STDOUT, "dle\n", 1);
	/* The piece before was not shown, except for its end. */
	pieces_assert("needle", "69632 ");
	/* The piece before was shown. */
	pieces_assert("nee|needle", "+65536 65536 ");
	pieces_assert("lastb", "4196 ");
	/* '^' and '$' match at the ends of the line only. */
	pieces_assert("^dle", "3 ");
	pieces_assert("^a", "+65536 ");
	pieces_assert("^b|^one", "3 ");
	pieces_assert("last$|nee$", "");
	pieces_assert("ba+$", "100 ");
	free(line);
	log_writer_close(writer);
}

/* A line longer than memory should hold comes in parts, without loss. */
static void a_line_without_end_comes_in_parts(void **state)
{
	struct log_writer *writer = writer_new("master", 0);
	struct log_index index = { folder, &sources[0], -1, 0, 0 };
	struct log_cursor *cursor = mem_alloc(sizeof(*cursor));
	size_t total = 0, lines = 0;
	bool last = false;
	char data[1000];

	(void)state;
	memset(data, 'x', sizeof(data));
	for (int i = 0; i < 1000; i++)
		log_writer_add(writer, LOG_STDOUT, data, sizeof(data), 1);
	put(writer, LOG_STDOUT, "\n", 1);
	log_cursor_init(cursor, &index, LOG_STDOUT, 4096);
	assert_int_equal(log_index_look(&index, &err), 0);
	log_cursor_begin(cursor);
	for (;; lines++) {
		assert_int_equal(log_cursor_next(cursor, false, &err), 0);
		if (!cursor->ready)
			break;
		assert_in_range(cursor->line.len, 0, LOG_LINE_MAX);
		assert_int_equal(cursor->line.rest, lines > 0);
		total += cursor->line.len;
		last = !cursor->line.more;
	}
	log_cursor_end(cursor);
	assert_true(last);
	assert_int_equal(lines, 1 + 1000 * sizeof(data) / LOG_LINE_MAX);
	assert_int_equal(total, 1000 * sizeof(data));
	assert_true(cursor->room < 200000);
	log_cursor_done(cursor);
	close(index.fd);
	free(cursor);
	log_writer_close(writer);
}

/* A comparison with a model: every line written, sorted and filtered in the
 * simplest way. */

#define MODEL_LINES 1500

struct model_line {
	int64_t time_ms;
	int ordinal;
	int record;
	enum log_stream stream;
	char text[24];
	bool open; /* no newline yet */
};

struct model {
	struct model_line lines[MODEL_LINES];
	size_t count;
	size_t open[3][LOG_STREAMS]; /* 1 + the line, or 0 */
	int records[3];
};

static void model_write(struct model *model, struct log_writer **writers)
{
	int64_t time_ms = 1000;

	while (model->count + 8 < MODEL_LINES) {
		int task = rand() % 3;
		enum log_stream stream = rand() % 4 ? LOG_STDOUT : LOG_STDERR;
		size_t *open = &model->open[task][stream];
		struct buf piece = { 0 };

		time_ms += rand() % 3;
		for (int parts = rand() % 6; parts >= 0; parts--) {
			struct model_line *line;
			size_t n;

			if (!*open) {
				line = &model->lines[model->count++];
				*line = (struct model_line){
					time_ms, task, model->records[task],
					stream,  "",   true
				};
				*open = model->count;
			}
			line = &model->lines[*open - 1];
			n = strlen(line->text);
			if (rand() % 4 && n < 18) {
				snprintf(line->text + n, sizeof(line->text) - n,
					 "%d", rand() % 1000);
				buf_puts(&piece, line->text + n);
			} else {
				buf_putc(&piece, '\n');
				line->open = false;
				*open = 0;
			}
		}
		log_writer_add(writers[task], stream, piece.data, piece.len,
			       time_ms);
		model->records[task]++;
		buf_done(&piece);
	}
}

static bool model_is_after(const struct model_line *a,
			   const struct model_line *b)
{
	if (a->time_ms != b->time_ms)
		return a->time_ms > b->time_ms;
	if (a->ordinal != b->ordinal)
		return a->ordinal > b->ordinal;
	return a->record > b->record;
}

/* Sorts by insertion, which keeps the order of equal lines. */
static void model_sort(struct model *model)
{
	for (size_t i = 1; i < model->count; i++) {
		struct model_line line = model->lines[i];
		size_t k = i;

		for (; k && model_is_after(&model->lines[k - 1], &line); k--)
			model->lines[k] = model->lines[k - 1];
		model->lines[k] = line;
	}
}

static void model_show(const struct model *model,
		       const struct log_filter *filter, bool ended,
		       struct buf *out)
{
	size_t skip = 0;

	for (int pass = 0; pass < 2; pass++) {
		size_t count = 0;

		for (size_t i = 0; i < model->count; i++) {
			const struct model_line *line = &model->lines[i];

			if ((line->open && !ended) ||
			    line->time_ms < filter->since_ms ||
			    (filter->grep &&
			     regexec(filter->grep, line->text, 0, NULL, 0)))
				continue;
			if (pass && count >= skip)
				buf_printf(out, "%d%s:%s|", line->ordinal,
					   line->stream ? "e" : "", line->text);
			count++;
		}
		skip = count > filter->tail ? count - filter->tail : 0;
	}
}

static void reader_agrees_with_model(void **state)
{
	struct log_writer *writers[3] = { writer_new("master", 0),
					  writer_new("worker", 0),
					  writer_new("worker", 1) };
	struct model *model = mem_alloc(sizeof(*model));
	struct buf expected = { 0 };
	regex_t seven;

	(void)state;
	assert_int_equal(regcomp(&seven, "77", REG_NOSUB), 0);
	srand(7);
	model_write(model, writers);
	model_sort(model);
	for (int i = 0; i < 200; i++) {
		struct log_filter filter = { .tail = SIZE_MAX };
		bool ended = rand() % 2;

		if (rand() % 2)
			filter.tail = (size_t)rand() % 300;
		if (rand() % 2)
			filter.since_ms =
				1000 + rand() % (model->lines[model->count - 1]
							 .time_ms -
						 990);
		if (rand() % 2)
			filter.grep = &seven;
		buf_clear(&expected);
		model_show(model, &filter, ended, &expected);
		read_assert(3, &filter, ended, buf_text(&expected));
	}
	buf_done(&expected);
	regfree(&seven);
	free(model);
	for (int i = 0; i < 3; i++)
		log_writer_close(writers[i]);
}

/* The window in which the last lines are searched must grow. */
static void show_open(void *arg, const struct log_line *line)
{
	if (line->len)
		show(arg, line);
}

static void open_lines_assert(struct log_reader *reader, const char *expected)
{
	struct buf out = { 0 };

	log_reader_open_lines(reader, show_open, &out);
	assert_string_equal(buf_text(&out), expected);
	buf_done(&out);
}

/* The line is given once, when it is complete. */
static void a_line_without_end_can_be_seen(void **state)
{
	struct log_writer *a = writer_new("master", 0);
	struct log_writer *b = writer_new("worker", 0);
	struct log_reader *reader = reader_new(2, NULL);

	(void)state;
	open_lines_assert(reader, "");
	put(a, LOG_STDOUT, "x\n10%\r", 1);
	step_assert(reader, false, "0:x|");
	open_lines_assert(reader, "0:10%\r|");
	put(b, LOG_STDERR, "Name?", 2);
	step_assert(reader, false, "");
	open_lines_assert(reader, "0:10%\r|1e:Name?|");
	put(a, LOG_STDOUT, "20%", 3);
	step_assert(reader, false, "");
	open_lines_assert(reader, "0:10%\r20%|1e:Name?|");
	put(a, LOG_STDOUT, "\n", 4);
	step_assert(reader, false, "0:10%\r20%|");
	open_lines_assert(reader, "1e:Name?|");
	step_assert(reader, true, "1e:Name?|");
	open_lines_assert(reader, "");
	log_reader_close(reader);
	log_writer_close(a);
	log_writer_close(b);
}

struct printed {
	struct log_printer *printer;
	struct buf text;
	size_t calls;
};

static void print_line(void *arg, const struct log_line *line)
{
	struct printed *out = arg;

	log_printer_add(out->printer, line, &out->text);
	out->calls++;
}

static void print_block(void *arg, const struct log_line *lines)
{
	struct printed *out = arg;

	assert_int_equal(lines->text[lines->len - 1], '\n');
	log_printer_add_block(out->printer, lines, &out->text);
	out->calls++;
}

static void blocks_are_the_same_lines(void **state)
{
	struct log_writer *writers[3];
	struct printed lines = { .printer = log_printer_new(&color_style) };
	struct printed blocks = { .printer = log_printer_new(&color_style) };
	struct log_reader *by_line = reader_new(3, NULL);
	struct log_reader *by_block = reader_new(3, NULL);

	(void)state;
	srand(3);
	log_reader_take_blocks(by_block, print_block);
	for (int i = 0; i < 3; i++)
		writers[i] = writer_new(sources[i].type, sources[i].index);
	for (int64_t now = 0; now < 300; now++) {
		char data[5000];
		size_t len = 1 + (size_t)rand() % sizeof(data);
		int most = 1 + rand() % 200; /* of a line, about */

		for (size_t i = 0; i < len; i++)
			data[i] = rand() % most == 0    ? '\n'
				  : rand() % 20000 == 0 ? '\r'
							: (char)rand();
		log_writer_add(writers[rand() % 3], LOG_STDOUT, data, len,
			       now * 100);
		if (now % 50)
			continue;
		assert_int_equal(log_reader_step(by_line, false, print_line,
						 &lines, &err),
				 0);
		assert_int_equal(log_reader_step(by_block, false, print_line,
						 &blocks, &err),
				 0);
	}
	assert_int_equal(
		log_reader_step(by_line, true, print_line, &lines, &err), 0);
	assert_int_equal(
		log_reader_step(by_block, true, print_line, &blocks, &err), 0);
	assert_int_equal(lines.text.len, blocks.text.len);
	assert_memory_equal(lines.text.data, blocks.text.data, lines.text.len);
	assert_true(blocks.calls < lines.calls / 2);
	for (int i = 0; i < 3; i++)
		log_writer_close(writers[i]);
	log_reader_close(by_line);
	log_reader_close(by_block);
	log_printer_free(lines.printer);
	log_printer_free(blocks.printer);
	buf_done(&lines.text);
	buf_done(&blocks.text);
}

static void tail_of_long_logs(void **state)
{
	static const size_t tails[] = { 0, 1, 10, 1500, 5000, 60000, 200000 };
	struct log_writer *writer = writer_new("master", 0);
	struct buf text = { 0 }, expected = { 0 };

	(void)state;
	for (int i = 0; i < 100000; i++) {
		buf_printf(&text, "line %d%s\n", i,
			   i % 1000 ? "" : ", which is a long one");
		if (i % 57 == 0) {
			log_writer_add(writer, LOG_STDOUT, text.data, text.len,
				       i);
			buf_clear(&text);
		}
	}
	log_writer_add(writer, LOG_STDOUT, text.data, text.len, 100000);
	for (size_t t = 0; t < COUNT(tails); t++) {
		struct log_filter filter = { .tail = tails[t] };
		size_t first = tails[t] > 100000 ? 0 : 100000 - tails[t];

		buf_clear(&expected);
		for (size_t i = first; i < 100000; i++)
			buf_printf(&expected, "0:line %d%s|", (int)i,
				   i % 1000 ? "" : ", which is a long one");
		read_assert(1, &filter, false, buf_text(&expected));
	}
	buf_done(&text);
	buf_done(&expected);
	log_writer_close(writer);
}

/* No window has the start of the unfinished line. */
static void tail_0_keeps_a_long_open_line(void **state)
{
	struct log_writer *writer = writer_new("master", 0);
	struct log_filter filter = { .tail = 0 };
	struct log_reader *reader = reader_new(1, &filter);
	struct buf text = { 0 };
	size_t got = 0;

	(void)state;
	buf_puts(&text, "before\n");
	buf_fill(&text, 'x', 1000000);
	log_writer_add(writer, LOG_STDOUT, text.data, text.len, 1);
	assert_int_equal(log_reader_step(reader, false, count_line, &got, &err),
			 0);
	assert_int_equal(got, 0);
	put(writer, LOG_STDOUT, "\n", 2);
	assert_int_equal(log_reader_step(reader, false, count_line, &got, &err),
			 0);
	/* The line comes without the pieces that were there before. */
	assert_in_range(got, 1, LOG_LINE_MAX + 1);
	buf_done(&text);
	log_reader_close(reader);
	log_writer_close(writer);
}

static void last_assert(size_t count, const char *expected)
{
	struct buf out = { 0 };

	assert_int_equal(log_last_lines(folder, "master", 0, LOG_STDERR, count,
					&out, &err),
			 0);
	assert_string_equal(buf_text(&out), expected);
	buf_done(&out);
}

static void last_lines_are_for_messages(void **state)
{
	struct log_writer *writer;
	struct buf out = { 0 };
	char line[1001];

	(void)state;
	last_assert(3, "");
	writer = writer_new("master", 0);
	last_assert(3, "");
	put(writer, LOG_STDERR, "a\n", 1);
	last_assert(3, "a\n");
	put(writer, LOG_STDERR, "\nb\r\n 1%\r 2%\rError: x\nopen", 1);
	last_assert(0, "");
	last_assert(1, "open\n");
	last_assert(2, "Error: x\nopen\n");
	last_assert(4, "\nb\nError: x\nopen\n");
	last_assert(9, "a\n\nb\nError: x\nopen\n");
	memset(line, 'y', sizeof(line));
	line[1000] = '\n';
	for (int i = 0; i < 200; i++)
		log_writer_add(writer, LOG_STDERR, line, sizeof(line), 1);
	assert_int_equal(log_last_lines(folder, "master", 0, LOG_STDERR, 100,
					&out, &err),
			 0);
	assert_int_equal(out.len, 65536);
	put(writer, LOG_STDERR, "end\n", 1);
	last_assert(1, "end\n");
	buf_done(&out);
	log_writer_close(writer);
}

/* Disk full. */

static uint64_t file_size(const char *name)
{
	size_t len;

	free(file_get(name, &len));
	return len;
}

struct total {
	uint64_t bytes; /* with newlines */
	uint64_t lost;
	uint64_t losses;
	bool out_of_order;
	int64_t last_ms;
};

static void add_up(void *arg, const struct log_line *line)
{
	struct total *total = arg;

	total->bytes += line->lost ? 0 : line->len + 1;
	total->lost += line->lost;
	total->losses += line->lost != 0;
	total->out_of_order |= line->time_ms < total->last_ms;
	total->last_ms = line->time_ms;
}

/* Adds a piece, directly or through a pipe. */
static void add_some(struct log_writer *writer, int *pipe_ends,
		     const char *data, size_t len, int64_t time_ms)
{
	if (!pipe_ends) {
		log_writer_add(writer, LOG_STDOUT, data, len, time_ms);
		return;
	}
	assert_int_equal(write(pipe_ends[1], data, len), len);
	while (len) {
		ssize_t n = log_writer_take(writer, LOG_STDOUT, pipe_ends[0],
					    len, time_ms);

		assert_in_range(n, 1, len);
		len -= (size_t)n;
	}
}

/* There is space, then none, then some again. */
static void survives_loss(void (*fill)(bool full), int *pipe_ends)
{
	struct log_writer *writer = writer_new("master", 0);
	struct log_reader *reader = reader_new(1, NULL);
	struct total total = { 0 };
	char piece[1000];
	uint64_t written = 0;
	int64_t time_ms = 1;

	memset(piece, 'x', sizeof(piece));
	piece[sizeof(piece) - 1] = '\n';
	put(writer, LOG_STDOUT, "before\n", 0);
	step_assert(reader, false, "0:before|");
	fill(true);
	for (; time_ms < 3000; time_ms += 5) {
		add_some(writer, pipe_ends, piece, sizeof(piece), time_ms);
		written += sizeof(piece);
	}
	assert_true(log_writer_lost(writer) > written / 2);
	assert_int_equal(file_size("master-0.stdout"),
			 written - log_writer_lost(writer) + 7);
	assert_int_equal(index_sum("master-0.index", LOG_STDOUT),
			 file_size("master-0.stdout"));
	assert_int_equal(log_reader_step(reader, false, add_up, &total, &err),
			 0);
	assert_in_range(total.losses, 1, 5); /* not one per piece */
	fill(false);
	put(writer, LOG_STDOUT, "after\n", time_ms);
	assert_int_equal(
		index_sum("master-0.index", LOG_STDOUT | LOG_KIND_LOST),
		log_writer_lost(writer));
	log_writer_add(writer, LOG_STDERR, piece, sizeof(piece), time_ms);
	written += 6 + sizeof(piece);
	log_writer_close(writer);
	assert_int_equal(log_reader_step(reader, true, add_up, &total, &err),
			 0);
	assert_false(total.out_of_order);
	/* Each loss may include a newline. */
	assert_in_range(written - total.lost - total.bytes + total.losses, 0,
			total.losses);
	log_reader_close(reader);
}

static void survives_loss_both_ways(void (*fill)(bool full))
{
	char *logs = file_path("");
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	survives_loss(fill, NULL);
	assert_int_equal(folder_remove(logs, &err), 0);
	survives_loss(fill, ends);
	close(ends[0]);
	close(ends[1]);
	free(logs);
}

static void limit_files(bool full)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = full ? 20500 : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void loss_is_counted_at_a_limit(void **state)
{
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	survives_loss_both_ways(limit_files);
}

static void fill_disk(bool full)
{
	char *path = mem_printf("%s/filler", folder);
	char block[4096] = { 0 };
	int fd;

	if (full) {
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
		while (write(fd, block, sizeof(block)) > 0)
			;
		assert_int_equal(ftruncate(fd, 40960), 0);
		close(fd);
	} else {
		assert_int_equal(unlink(path), 0);
	}
	free(path);
}

static void loss_is_counted_on_a_full_disk(void **state)
{
	(void)state;
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", folder, "tmpfs", 0, "size=64k") < 0)
		skip_because(__func__, "may not mount");
	survives_loss_both_ways(fill_disk);
	assert_int_equal(umount(folder), 0);
}

/* The index ends in the middle of a record: the record and its byte must be
 * taken back. */
static void a_full_index_takes_the_piece_back(void **state)
{
	struct log_writer *writer = writer_new("master", 0);
	struct rlimit limit;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 10 * 16 + 7;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 25; i++)
		put(writer, LOG_STDOUT, "\n", i);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(log_writer_lost(writer), 15);
	file_assert("master-0.stdout", "\n\n\n\n\n\n\n\n\n\n", 10);
	assert_int_equal(file_size("master-0.index"), 160);
	put(writer, LOG_STDOUT, "x\n", 30);
	read_assert(1, NULL, false,
		    "0:|0:|0:|0:|0:|0:|0:|0:|0:|0:|0:lost 15|"
		    "0:x|");
	log_writer_close(writer);
}

static void loss_ends_a_line(void **state)
{
	struct log_record records[] = {
		{ 1, 5, LOG_STDOUT },
		{ 2, 9, LOG_STDOUT | LOG_KIND_LOST },
		{ 3, 1, LOG_STDERR | LOG_KIND_LOST },
		{ 4, 6, LOG_STDOUT },
		{ 5, 4, LOG_STDOUT | LOG_KIND_LOST },
	};
	struct log_filter filter = { .since_ms = 2, .tail = SIZE_MAX };

	(void)state;
	log_writer_close(writer_new("master", 0));
	file_append("master-0.stdout",
		    "a\ncut"
		    "tail\nx",
		    11);
	file_append("master-0.index", records, sizeof(records));
	read_assert(1, NULL, false,
		    "0:a|0:cut|0:lost 9|0e:lost 1|0:tail|0:x|0:lost 4|");
	read_assert(1, &filter, false,
		    "0:lost 9|0e:lost 1|0:tail|0:x|0:lost 4|");
	filter.since_ms = 4;
	read_assert(1, &filter, false, "0:tail|0:x|0:lost 4|");
	filter.since_ms = 5;
	read_assert(1, &filter, true, "0:lost 4|");
	filter.since_ms = 0;
	filter.tail = 3;
	read_assert(1, &filter, true, "0:tail|0:x|0:lost 4|");
}

/* Watching. */

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, timeout_ms) == 1;
}

static void watch_says_when_to_look(void **state)
{
	struct log_reader *reader = reader_new(3, NULL);
	struct log_writer *a, *b;
	int fd = log_reader_watch(reader, &err);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(log_reader_watch(reader, &err), fd);
	step_assert(reader, false, "");
	assert_false(is_readable(fd, 0));
	a = writer_new("master", 0); /* makes the folder */
	assert_true(is_readable(fd, 1000));
	step_assert(reader, false, "");
	assert_false(is_readable(fd, 0));
	put(a, LOG_STDOUT, "x\n", 1);
	assert_true(is_readable(fd, 1000));
	step_assert(reader, false, "0:x|");
	assert_false(is_readable(fd, 0));
	b = writer_new("worker", 1);
	put(b, LOG_STDERR, "y\n", 1); /* a file in a folder that is there */
	assert_true(is_readable(fd, 1000));
	step_assert(reader, false, "2e:y|");
	put(b, LOG_STDERR, "z\n", 1);
	assert_true(is_readable(fd, 1000));
	step_assert(reader, false, "2e:z|");
	assert_false(is_readable(fd, 0));
	log_writer_close(a);
	log_writer_close(b);
	log_reader_close(reader);
}

/* Readers beside a writer that is killed. */

struct check {
	long next[3][LOG_STREAMS];
	bool partial[3][LOG_STREAMS];
	struct buf raw[3][LOG_STREAMS]; /* contents of the lines */
};

/* Writes "7 aaaaaaa": the number of a line, and a length that depends on it. */
static size_t numbered(char *out, long n)
{
	size_t len = (size_t)sprintf(out, "%ld ", n);
	size_t fill = (size_t)(n * 7919 % 311);

	memset(out + len, 'a' + (int)(n % 26), fill);
	len += fill;
	out[len++] = '\n';
	return len;
}

static void check_line(void *arg, const struct log_line *line)
{
	struct check *check = arg;
	int i = line->source->ordinal;
	char expected[400];
	size_t len = numbered(expected, check->next[i][line->stream]++) - 1;

	assert_false(check->partial[i][line->stream]);
	if (line->len != len) {
		assert_true(line->len < len);
		check->partial[i][line->stream] = true;
	}
	assert_memory_equal(line->text, expected, line->len);
	buf_add(&check->raw[i][line->stream], line->text, line->len);
	buf_putc(&check->raw[i][line->stream], '\n');
}

static void write_for_ever(unsigned seed)
{
	struct log_writer *writers[3];
	struct buf bufs[3][LOG_STREAMS] = { 0 };
	long next[3][LOG_STREAMS] = { 0 };
	char line[400];

	srand(seed);
	for (int i = 0; i < 3; i++) {
		writers[i] = log_writer_open(folder, sources[i].type,
					     sources[i].index, &err);
		if (!writers[i])
			_exit(1);
	}
	for (;;) {
		int i = rand() % 3, k = rand() % 4 == 0;
		struct buf *buf = &bufs[i][k];
		size_t n = 1 + (size_t)rand() % (rand() % 8 ? 300 : 20000);

		while (buf->len < n)
			buf_add(buf, line, numbered(line, next[i][k]++));
		log_writer_add(writers[i], (enum log_stream)k, buf->data, n,
			       time_now_ms());
		buf_drop(buf, n);
	}
}

static void check_raw(struct check *check)
{
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < LOG_STREAMS; k++) {
			char *path = log_stream_path(folder, sources[i].type,
						     sources[i].index,
						     (enum log_stream)k);
			size_t len = 0;
			char *data = file_read(path, SIZE_MAX / 4, &len, &err);
			struct buf *raw = &check->raw[i][k];

			/* The child may have been killed before it wrote the
			 * newline. */
			if (len && data[len - 1] != '\n')
				assert_int_equal(len + 1, raw->len);
			else
				assert_int_equal(len, raw->len);
			if (len)
				assert_memory_equal(data, raw->data, len);
			buf_done(raw);
			free(data);
			free(path);
		}
	}
}

static void killed_once(unsigned seed)
{
	struct log_reader *reader = reader_new(3, NULL);
	struct check *check = mem_alloc(sizeof(*check));
	int64_t until;
	int watch = log_reader_watch(reader, &err);
	pid_t pid;

	assert_true(watch >= 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		write_for_ever(seed);
	until = time_monotonic_ms() + 1 + (int64_t)(seed * 37 % 60);
	while (time_monotonic_ms() < until) {
		if (is_readable(watch, 5))
			assert_int_equal(log_reader_step(reader, false,
							 check_line, check,
							 &err),
					 0);
	}
	for (int i = 0; i < 3; i++)
		assert_false(check->partial[i][0] || check->partial[i][1]);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(log_reader_step(reader, true, check_line, check, &err),
			 0);
	check_raw(check);
	free(check);
	log_reader_close(reader);
}

static void killed_writers_lose_nothing(void **state)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		killed_once(seed);
		teardown(state);
		setup(state);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(lines_look_like_xla_dist),
		TEST(color_is_of_the_task),
		TEST(lines_take_other_prefixes),
		TEST(a_terminal_is_given_text_only),
		TEST(bars_of_several_tasks_keep_apart),
		TEST(long_lines_are_marked_where_cut),
		TEST(raw_logs_are_exact),
		TEST(what_is_in_a_pipe_is_taken),
		TEST(logs_are_private),
		TEST(opening_says_why_not),
		TEST(opening_again_mends),
		TEST(no_logs_is_no_error),
		TEST(lines_are_merged_by_time),
		TEST(a_line_waits_for_its_end),
		TEST(ended_shows_what_has_no_record),
		TEST(what_has_no_record_has_a_time),
		TEST(binary_survives),
		TEST(filters_combine),
		TEST(tail_then_follow),
		TEST(states_of_a_line_come_at_once),
		TEST(a_sink_can_stop),
		TEST(an_index_may_lie),
		TEST(files_may_vanish),
		TEST(a_raw_file_may_be_cut),
		TEST(what_has_no_record_may_change),
		TEST(a_huge_line_is_read_once),
		TEST(a_pattern_is_found_across_pieces),
		TEST(a_line_without_end_comes_in_parts),
		TEST(reader_agrees_with_model),
		TEST(a_line_without_end_can_be_seen),
		TEST(blocks_are_the_same_lines),
		TEST(tail_of_long_logs),
		TEST(tail_0_keeps_a_long_open_line),
		TEST(last_lines_are_for_messages),
		TEST(loss_is_counted_at_a_limit),
		TEST(loss_is_counted_on_a_full_disk),
		TEST(a_full_index_takes_the_piece_back),
		TEST(loss_ends_a_line),
		TEST(watch_says_when_to_look),
		TEST(killed_writers_lose_nothing),
#undef TEST
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
