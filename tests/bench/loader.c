/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader with a model behind it, as small as they get: N readers, each with
 * a share of the samples, and for each sample the same arithmetic.
 *
 *	loader files N PASSES <LIST	a sample is a file, opened and read
 *	loader shards N PASSES <LIST	a tar file of them, read from end to end
 *	loader stream N PASSES URL	the same, through 'jobrun cat'
 *	loader calibrate		nanoseconds of one pass
 *
 * Readers are threads.  The clock starts when each has its first sample, as
 * that of a training does, and stops with the last one.  What comes out, as
 * JSON: how many samples there were in that time, and of all of them, in
 * whatever order, one checksum over all bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/crc32c.h"

#define BLOCK 512
#define PIECE (256 << 10)
#define SAMPLE_MAX (64 << 10)
#define PIXELS 3072
#define CLASSES 10
#define READERS_MAX 64

static int8_t weights[CLASSES][PIXELS];

static struct {
	const char *kind;
	size_t readers;
	long passes;
	char **list; /* paths, or one URL */
	size_t count;
	atomic_size_t started, samples;
	atomic_ullong sum, bytes;
	atomic_long score;
	int64_t begin_ns;
	size_t begin_samples; /* that were done when the clock started */
} all;

struct reader {
	pthread_t thread;
	size_t index;
	bool has_begun;
	int fd;
	pid_t pid; /* of its 'jobrun cat', or 0 */
	char *data;
	size_t at, end; /* what is there of `data` */
};

static void die(const char *what)
{
	fprintf(stderr, "loader: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A layer of a network, again and again. */
static long model(const unsigned char *pixels, long passes)
{
	long best = INT32_MIN;

	for (long i = 0; i < passes; i++) {
		const int8_t *row = weights[i % CLASSES];
		int32_t sum = 0;

		for (int j = 0; j < PIXELS; j++)
			sum += row[j] * pixels[j];
		best = sum > best ? sum : best;
	}
	return best;
}

static void take(struct reader *reader, const char *sample, size_t len)
{
	if (len < PIXELS) {
		fprintf(stderr, "loader: a sample of %zu bytes\n", len);
		exit(1);
	}
	if (!reader->has_begun) {
		reader->has_begun = true;
		if (atomic_fetch_add(&all.started, 1) + 1 == all.readers) {
			all.begin_samples = atomic_load(&all.samples);
			all.begin_ns = now_ns();
		}
	}
	/* A sum, as the order is another each time. */
	atomic_fetch_add(&all.sum, crc32c_add(0, sample, len));
	atomic_fetch_add(&all.bytes, len);
	atomic_fetch_add(&all.score,
			 model((const unsigned char *)sample + len - PIXELS,
			       all.passes));
	atomic_fetch_add(&all.samples, 1);
}

static void open_file(struct reader *reader, const char *path)
{
	reader->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (reader->fd < 0)
		die(path);
	reader->at = reader->end = 0;
}

static void read_files(struct reader *reader)
{
	for (size_t i = reader->index; i < all.count; i += all.readers) {
		ssize_t n;

		open_file(reader, all.list[i]);
		n = read(reader->fd, reader->data, SAMPLE_MAX);
		if (n < 0)
			die(all.list[i]);
		close(reader->fd);
		take(reader, reader->data, (size_t)n);
	}
}

/* The next `len` bytes of the stream, valid until the next call; NULL at its
 * end. */
static const char *next(struct reader *reader, size_t len)
{
	const char *out;

	if (reader->end - reader->at < len) {
		memmove(reader->data, reader->data + reader->at,
			reader->end - reader->at);
		reader->end -= reader->at;
		reader->at = 0;
	}
	while (reader->end < reader->at + len) {
		ssize_t n = read(reader->fd, reader->data + reader->end,
				 PIECE - reader->end);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die("read");
		if (n == 0)
			return NULL;
		reader->end += (size_t)n;
	}
	out = reader->data + reader->at;
	reader->at += len;
	return out;
}

/* All members of the tar files that follow each other; blocks of zeroes are
 * between them. */
static void read_tars(struct reader *reader)
{
	const char *header;

	while ((header = next(reader, BLOCK))) {
		bool is_file = header[156] == '0';
		const char *contents;
		size_t size;

		if (!header[0])
			continue;
		size = strtoul(header + 124, NULL, 8);
		if (size > SAMPLE_MAX)
			die("a large member");
		contents = next(reader, (size + BLOCK - 1) / BLOCK * BLOCK);
		if (!contents)
			die("a torn archive");
		if (is_file)
			take(reader, contents, size);
	}
}

static void read_shards(struct reader *reader)
{
	for (size_t i = reader->index; i < all.count; i += all.readers) {
		open_file(reader, all.list[i]);
		read_tars(reader);
		close(reader->fd);
	}
}

static void start_stream(struct reader *reader)
{
	char split[64];
	const char *program = getenv("JOBRUN");
	int ends[2];

	snprintf(split, sizeof(split), "--split=device=%zu/%zu", reader->index,
		 all.readers);
	if (pipe2(ends, O_CLOEXEC) < 0)
		die("pipe");
	reader->pid = fork();
	if (reader->pid < 0)
		die("fork");
	if (!reader->pid) {
		dup2(ends[1], STDOUT_FILENO);
		execl(program, "jobrun", "cat", split, "--read-ahead=1MiB",
		      all.list[0], (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	reader->fd = ends[0];
}

static void read_stream(struct reader *reader)
{
	int status;

	read_tars(reader);
	close(reader->fd);
	if (waitpid(reader->pid, &status, 0) < 0 || status) {
		fprintf(stderr, "loader: jobrun cat: status %d\n", status);
		exit(1);
	}
}

static void *run(void *arg)
{
	struct reader *reader = arg;

	reader->data = malloc(PIECE);
	if (!reader->data)
		die("memory");
	if (!strcmp(all.kind, "files"))
		read_files(reader);
	else if (!strcmp(all.kind, "shards"))
		read_shards(reader);
	else
		read_stream(reader);
	free(reader->data);
	return NULL;
}

static void read_list(void)
{
	char *line = NULL;
	size_t size = 0, room = 0;
	ssize_t n;

	while ((n = getline(&line, &size, stdin)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		if (all.count == room) {
			room = room ? room * 2 : 1024;
			all.list = realloc(all.list, room * sizeof(char *));
		}
		if (!all.list || !(all.list[all.count++] = strdup(line)))
			die("memory");
	}
	free(line);
}

static int calibrate(void)
{
	unsigned char pixels[PIXELS];
	const long passes = 20000;
	int64_t best = INT64_MAX;
	long score = 2;

	for (int i = 0; i < PIXELS; i++)
		pixels[i] = (unsigned char)now_ns();
	for (int i = 0; i < 10; i++) {
		int64_t start = now_ns(), taken;

		score += model(pixels, passes);
		taken = now_ns() - start;
		best = taken < best ? taken : best;
	}
	printf("%.3f\n", (double)best / (double)passes);
	/* Looked at, so that it is computed. */
	return score == 1;
}

int main(int argc, char **argv)
{
	static struct reader readers[READERS_MAX];
	int64_t end;

	for (int i = 0; i < CLASSES * PIXELS; i++)
		weights[i / PIXELS][i % PIXELS] = (int8_t)(i * 37 % 255 - 127);
	if (argc == 2 && !strcmp(argv[1], "calibrate"))
		return calibrate();
	if (argc < 4)
		return 64;
	all.kind = argv[1];
	all.readers = strtoul(argv[2], NULL, 10);
	all.passes = strtol(argv[3], NULL, 10);
	if (!all.readers || all.readers > READERS_MAX)
		return 64;
	if (argc > 4)
		all.list = argv + 4;
	else
		read_list();
	for (size_t i = 0; i < all.readers; i++) {
		readers[i].index = i;
		if (argc > 4)
			start_stream(&readers[i]);
	}
	for (size_t i = 0; i < all.readers; i++)
		if (pthread_create(&readers[i].thread, NULL, run, &readers[i]))
			die("thread");
	for (size_t i = 0; i < all.readers; i++)
		pthread_join(readers[i].thread, NULL);
	end = now_ns();
	printf("{\"samples\": %zu, \"counted\": %zu, \"seconds\": %.6f, "
	       "\"bytes\": %llu, \"sum\": %llu, \"score\": %ld}\n",
	       atomic_load(&all.samples),
	       atomic_load(&all.samples) - all.begin_samples,
	       (double)(end - all.begin_ns) / 1e9, atomic_load(&all.bytes),
	       atomic_load(&all.sum), atomic_load(&all.score));
	return 0;
}
