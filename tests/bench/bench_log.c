/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast output is written and read: bench_log [FOLDER [MB PER TASK]].
 * Eight tasks, lines of a hundred bytes, pieces as a full pipe gives them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/log/log.h"

#define TASKS 8
#define PIECE 65536

struct output {
	struct log_printer *printer;
	struct buf buf;
	size_t lines;
	size_t bytes;
};

static void format(void *arg, const struct log_line *line)
{
	struct output *out = arg;

	log_printer_add(out->printer, line, &out->buf);
	out->lines++;
	if (out->buf.len > PIECE) {
		out->bytes += out->buf.len;
		buf_clear(&out->buf);
	}
}

static void count(void *arg, const struct log_line *line)
{
	struct output *out = arg;

	out->bytes += line->len;
	out->lines++;
}

/* Of CPU time, so that others on the machine matter less. */
static int64_t clock_ms(void)
{
	return (int64_t)clock() * 1000 / CLOCKS_PER_SEC;
}

static void report(const char *what, double bytes, int64_t start_ms)
{
	int64_t ms = clock_ms() - start_ms;

	printf("%-28s %6.0f MB %6.0f MB/s\n", what, bytes / 1e6,
	       bytes / 1e3 / (double)(ms ? ms : 1));
}

static void read_back(const char *what, const char *folder,
		      const struct log_source *sources, size_t tail,
		      log_sink *sink, double bytes)
{
	struct log_filter filter = { .tail = tail };
	static const struct log_style style = { 0 };
	struct output out = { .printer = log_printer_new(&style) };
	struct error err = { 0 };
	int64_t start = clock_ms();
	struct log_reader *reader =
		log_reader_open(folder, sources, TASKS, &filter, &err);

	if (!reader || log_reader_step(reader, true, sink, &out, &err) < 0)
		printf("%s: %s\n", what, err.text);
	report(what, bytes, start);
	log_reader_close(reader);
	log_printer_free(out.printer);
	buf_done(&out.buf);
}

static void run(const char *folder, size_t total, size_t piece)
{
	struct log_writer *writers[TASKS];
	struct log_source sources[TASKS];
	struct error err = { 0 };
	char *data = mem_alloc(piece + 1);
	double bytes = (double)total * TASKS;
	int64_t start;

	for (size_t i = 0; i < piece; i++)
		data[i] = (char)(i % 100 == 99 ? '\n' : 'a' + i % 26);
	printf("pieces of %zu bytes\n", piece);
	for (int i = 0; i < TASKS; i++) {
		sources[i] =
			(struct log_source){ "worker", i, i, "10.164.0.109" };
		writers[i] = log_writer_open(folder, "worker", i, &err);
		if (!writers[i]) {
			printf("%s\n", err.text);
			exit(1);
		}
	}
	start = clock_ms();
	for (size_t n = 0; n < total; n += piece) {
		int64_t now = time_now_ms();

		for (int i = 0; i < TASKS; i++)
			log_writer_add(writers[i], LOG_STDOUT, data, piece,
				       now);
	}
	report("write", bytes, start);
	for (int i = 0; i < TASKS; i++)
		log_writer_close(writers[i]);
	read_back("read", folder, sources, SIZE_MAX, count, bytes);
	read_back("read and format", folder, sources, SIZE_MAX, format, bytes);
	read_back("the last 100 lines", folder, sources, 100, format, bytes);
	free(data);
}

int main(int argc, char **argv)
{
	const char *top = argc > 1 ? argv[1] : "/dev/shm";
	size_t mb = argc > 2 ? (size_t)atoi(argv[2]) : 250;
	struct rusage usage;
	struct error err = { 0 };

	for (size_t piece = PIECE; piece >= 100; piece /= piece / 100) {
		char *folder = mem_printf("%s/bench_log.XXXXXX", top);

		if (!mkdtemp(folder))
			return 1;
		run(folder, (piece < PIECE ? mb / 8 : mb) << 20, piece);
		if (folder_remove(folder, &err) < 0)
			printf("%s\n", err.text);
		free(folder);
		if (piece < PIECE)
			break;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("largest: %ld MB\n", usage.ru_maxrss / 1024);
	return 0;
}
