/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/stream/stream_fifos.h"
#include "core/stream/stream_output.h"
#include "core/data/tar_header.h"
#include "tests/support/stream_fixture.h"

#define CONSUMERS 4

/* A reader of a FIFO, and its objects: `first`, `first` + CONSUMERS and so on,
 * each once. */
struct reader {
	const char *folder;
	const struct stream_fixture *f;
	uint64_t first, next, limit;
	size_t asked; /* requests for the next object */
	char url[64];
	pthread_t thread;
	uint64_t whole, rest, total;
	bool wrong;
	char last[16]; /* bytes after the right ones */
};

static int next_object(void *arg, struct stream_object *out, struct error *err)
{
	struct reader *one = arg;
	uint64_t object = one->first + CONSUMERS * one->asked++;

	(void)err;
	if (object >= one->f->count)
		return 0;
	snprintf(one->url, sizeof(one->url), "http://127.0.0.1:%d/%llu",
		 one->f->port, (unsigned long long)object);
	*out = (struct stream_object){ .url = one->url,
				       .size = STREAM_SIZE_UNKNOWN };
	return 1;
}

static void pass_whole(struct reader *one)
{
	while (one->whole < one->f->count &&
	       one->rest == one->f->server.size(one->whole)) {
		one->whole += CONSUMERS;
		one->rest = 0;
	}
}

static void compare(struct reader *one, const char *data, size_t len)
{
	char expected[4096];
	uint64_t left;
	size_t n;

	for (; len && !one->wrong; data += n, len -= n) {
		pass_whole(one);
		left = one->whole < one->f->count
			       ? one->f->server.size(one->whole) - one->rest
			       : 0;
		n = len < sizeof(expected) ? len : sizeof(expected);
		n = left < n ? (size_t)left : n;
		shard_server_fill(one->whole, one->rest, expected, n);
		one->wrong = !n || memcmp(data, expected, n) != 0;
		if (one->wrong)
			snprintf(one->last, sizeof(one->last), "%.*s",
				 len < 15 ? (int)len : 15, data);
		else
			one->rest += n;
	}
	pass_whole(one);
}

static void *read_fifo(void *arg)
{
	struct reader *one = arg;
	char data[4096], *path;
	ssize_t n;
	int fd;

	path = mem_printf("%s/%llu", one->folder,
			  (unsigned long long)one->first);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while ((n = read(fd, data, sizeof(data))) > 0) {
		compare(one, data, (size_t)n);
		one->total += (uint64_t)n;
		if (one->limit && one->total >= one->limit)
			break;
	}
	close(fd);
	free(path);
	return NULL;
}

/* Starts the readers, which must be there before the FIFOs are written to. */
static void start_readers(struct reader *readers, const char *folder,
			  const struct stream_fixture *f)
{
	uint64_t i;

	for (i = 0; i < CONSUMERS; i++) {
		char *path =
			mem_printf("%s/%llu", folder, (unsigned long long)i);

		mkfifo(path, 0600);
		free(path);
		readers[i].folder = folder;
		readers[i].f = f;
		readers[i].first = readers[i].whole = i;
		pthread_create(&readers[i].thread, NULL, read_fifo,
			       &readers[i]);
	}
}

static void stream(struct stream_fixture *f, struct reader *readers,
		   struct stream_fifo *fifos, const char *folder)
{
	static const struct retry_policy quick = { .first_ms = 1, .max_ms = 4 };
	struct http_options options = { .host_connections = 32 };
	struct http *http = http_new(&options, &f->err);
	size_t i;

	assert_non_null(http);
	f->up = shard_server_start(&f->server);
	f->port = shard_server_port(f->up);
	f->how.read_ahead = 16 << 20;
	f->how.connections = 16;
	f->how.retry = &quick;
	f->how.patience_ms = 60000;
	f->how.stall_timeout_s = 60;
	start_readers(readers, folder, f);
	for (i = 0; i < CONSUMERS; i++) {
		fifos[i].next = next_object;
		fifos[i].arg = &readers[i];
	}
	assert_int_equal(stream_fifos_run(http, &f->how, folder, fifos,
					  CONSUMERS, &f->err),
			 0);
	for (i = 0; i < CONSUMERS; i++)
		pthread_join(readers[i].thread, NULL);
	http_free(http);
	stream_fixture_stop(f);
}

static bool there_is(const char *folder, size_t number, const char *suffix)
{
	char *path = mem_printf("%s/%zu%s", folder, number, suffix);
	bool there = access(path, F_OK) == 0;

	free(path);
	return there;
}

static char *make_folder(void)
{
	char path[] = "/tmp/fifos-XXXXXX";

	return mem_strdup(mkdtemp(path));
}

static void remove_folder(char *folder)
{
	struct error err;

	assert_int_equal(folder_remove(folder, &err), 0);
	free(folder);
}

static enum shard_fault passing_soon(uint64_t object, uint64_t n, void *arg)
{
	return stream_faults_passing(object, n + 1, arg);
}

static void two_thousand_faults_change_nothing(void **state)
{
	struct stream_fixture f = { .server = { .size = stream_sizes_small,
						.ranges = true,
						.fault = passing_soon },
				    .count = 1700 };
	struct reader readers[CONSUMERS] = { 0 };
	struct stream_fifo fifos[CONSUMERS] = { 0 };
	char *folder = make_folder();
	size_t i, faults = 0;

	(void)state;
	stream(&f, readers, fifos, folder);
	for (i = 0; i < CONSUMERS; i++) {
		assert_int_equal(fifos[i].end, STREAM_DONE);
		assert_false(readers[i].wrong);
		assert_true(readers[i].whole >= f.count);
		assert_true(there_is(folder, i, ".done"));
		assert_false(there_is(folder, i, ""));
	}
	for (i = FAULT_CLOSE; i < FAULT_STALL; i++)
		faults += f.faults[i];
	print_message("%zu faults\n", faults);
	assert_true(faults >= 2000);
	remove_folder(folder);
}

static enum shard_fault gone_for_one(uint64_t object, uint64_t n, void *arg)
{
	const uint64_t *which = arg;

	(void)n;
	return object == *which ? FAULT_GONE : FAULT_NONE;
}

/* The error of one consumer does not affect the others, and does not look like
 * an end. */
static void who_is_left_hears_it(void **state)
{
	uint64_t gone;
	struct stream_fixture f = { .server = { .size = stream_sizes_large,
						.ranges = true,
						.fault = gone_for_one,
						.arg = &gone },
				    .count = 12 };
	size_t i, bad;

	(void)state;
	for (gone = 1; gone < 12; gone += 4) {
		struct reader readers[CONSUMERS] = { 0 };
		struct stream_fifo fifos[CONSUMERS] = { 0 };
		char *folder = make_folder();

		/* Another consumer leaves. */
		readers[2].limit = 100000;
		stream(&f, readers, fifos, folder);
		bad = gone % CONSUMERS;
		assert_int_equal(fifos[bad].end, -1);
		assert_non_null(
			strstr(fifos[bad].err.text, "it does not exist"));
		assert_true(there_is(folder, bad, ".failed"));
		assert_false(there_is(folder, bad, ".done"));
		/* The reader gets all objects before it, and then data that is
		 * no tar file. */
		assert_int_equal(readers[bad].whole, gone);
		assert_true(readers[bad].wrong);
		assert_string_equal(readers[bad].last, "././@LongLink");
		assert_int_equal(fifos[2].end, STREAM_READER_GONE);
		assert_false(there_is(folder, 2, ".done"));
		for (i = 0; i < CONSUMERS; i += 3) {
			assert_int_equal(fifos[i].end, STREAM_DONE);
			assert_false(readers[i].wrong);
			assert_true(readers[i].whole >= f.count);
		}
		remove_folder(folder);
	}
}

/* Makes a tar file of small members, many without contents; `inside` gets a
 * byte for each block that tells where contents are. */
static char *make_tar(unsigned *seed, size_t size, char *inside)
{
	char *tar = mem_alloc(size), name[64];
	size_t at = 0, len, i;

	while (at < size - 20000) {
		struct tar_head head = { .path = name,
					 .kind = TAR_KIND_FILE,
					 .mode = 0644 };

		snprintf(name, sizeof(name), "member-%zu", at);
		if (rand_r(seed) % 3)
			head.size_bytes = (uint64_t)rand_r(seed) % 3000;
		at += tar_header_write(tar + at, &head);
		len = (size_t)head.size_bytes + tar_padding(head.size_bytes);
		for (i = 0; i < len / TAR_BLOCK; i++)
			inside[at / TAR_BLOCK + i] = 1;
		memset(tar + at, 'x', head.size_bytes);
		at += len;
	}
	return tar;
}

/* A stream never breaks where a header is or should be. */
static void a_tar_file_breaks_within_contents(void **state)
{
	const size_t size = 200000 / 512 * 512;
	char *inside = mem_alloc(size / TAR_BLOCK), *tar, *got;
	struct stream_output *out = mem_alloc(sizeof(*out));
	struct error err;
	unsigned seed = 5;
	size_t at, len, tries;
	struct stat st;
	FILE *file;

	(void)state;
	tar = make_tar(&seed, size, inside);
	got = mem_alloc(size);
	for (tries = 0; tries < 100; tries++) {
		file = tmpfile();
		stream_output_init(out, fileno(file));
		stream_output_begin(out, size);
		for (at = 0; at < size; at += len) {
			len = 1 + (size_t)rand_r(&seed) % 20000;
			len = len < size - at ? len : size - at;
			assert_int_equal(
				stream_output_add(out, tar + at, len, &err),
				STREAM_DONE);
			fstat(fileno(file), &st);
			if (!st.st_size)
				continue;
			assert_int_equal(st.st_size % TAR_BLOCK, 511);
			assert_true(inside[st.st_size / TAR_BLOCK]);
		}
		assert_int_equal(stream_output_end(out, &err), STREAM_DONE);
		assert_int_equal(pread(fileno(file), got, size, 0), size);
		assert_memory_equal(got, tar, size);
		fclose(file);
	}
	free(out);
	free(got);
	free(tar);
	free(inside);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_thousand_faults_change_nothing),
		cmocka_unit_test(who_is_left_hears_it),
		cmocka_unit_test(a_tar_file_breaks_within_contents),
	};

	/* The program does the same. */
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
