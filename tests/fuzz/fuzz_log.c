/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the index of a task's log, and as its output.  A wrong index
 * gives wrong times, but every byte of the output is read once and in order, by
 * readers of all lines and of the last ones, and a writer continues after it.
 */
#include <assert.h>
#include <stdint.h>

#include "core/log/log.h"
#include "tests/support/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct log_source source = { "worker", 0, 0, "::1" };

static void take(void *arg, const struct log_line *line)
{
	struct buf *texts = arg;

	assert(line->source == &source && line->stream <= LOG_STDERR);
	if (line->lost)
		return;
	buf_add(&texts[line->stream], line->text, line->len);
	buf_puts(&texts[line->stream], "\n");
}

static void read_all(const char *folder, const struct log_filter *filter,
		     struct buf texts[2])
{
	struct log_reader *reader;
	struct error err = { 0 };

	reader = log_reader_open(folder, &source, 1, filter, &err);
	if (!reader)
		abort();
	if (log_reader_step(reader, false, take, texts, &err) < 0 ||
	    log_reader_step(reader, true, take, texts, &err) < 0)
		assert(err.text[0]);
	log_reader_close(reader);
}

/* Checks the text: as given, except that a line also ends where bytes were
 * lost. */
static void check_text(const struct buf *got, const uint8_t *want, size_t len)
{
	size_t i = 0, at = 0;

	for (;; i++, at++) {
		while (i < got->len && got->data[i] == '\n')
			i++;
		while (at < len && want[at] == '\n')
			at++;
		if (i == got->len || at == len)
			break;
		assert((uint8_t)got->data[i] == want[at]);
	}
	assert(i == got->len && at == len);
}

static void go_on(const char *folder)
{
	struct log_writer *writer;
	struct error err;

	writer = log_writer_open(folder, "worker", 0, &err);
	if (!writer)
		abort();
	log_writer_add(writer, LOG_STDERR, "more\n", 5, 1);
	log_writer_close(writer);
}

/* The first byte is the number of records, 16 bytes each, in the index. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct log_filter last = { .tail = 3 };
	static const struct log_filter states = { .tail = SIZE_MAX,
						  .states = true,
						  .since_ms = 1000 };
	size_t index = size ? data[0] * 16u : 0, half;
	struct buf texts[2] = { 0 }, some[2] = { 0 }, tail = { 0 };
	struct error err;
	const char *folder = scratch_folder();

	if (size) {
		data++;
		size--;
	}
	if (index > size)
		index = size;
	half = (size - index) / 2;
	scratch_file("logs/worker-0.index", data, index);
	data += index;
	size -= index;
	scratch_file("logs/worker-0.stdout", data, half);
	scratch_file("logs/worker-0.stderr", data + half, size - half);
	read_all(folder, NULL, texts);
	check_text(&texts[0], data, half);
	check_text(&texts[1], data + half, size - half);
	read_all(folder, &last, some);
	read_all(folder, &states, some);
	log_last_lines(folder, "worker", 0, LOG_STDERR, 3, &tail, &err);
	go_on(folder);
	buf_done(&texts[0]);
	buf_done(&texts[1]);
	buf_done(&some[0]);
	buf_done(&some[1]);
	buf_done(&tail);
	return 0;
}
