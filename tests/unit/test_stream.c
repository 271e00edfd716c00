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
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/crc32c.h"
#include "core/base/text.h"
#include "core/data/stream.h"
#include "tests/support/shard_server.h"

/* Retries that a test can wait for. */
static const struct retry_policy quick = {
	.first_ms = 1,
	.max_ms = 4,
};

struct fixture {
	struct shard_server_options server;
	struct stream_options how;
	size_t count;       /* of objects */
	bool with_crc;      /* each is said to have the right CRC */
	uint64_t wrong_crc; /* but this one */
	struct error err;

	size_t faults[FAULT_COUNT]; /* how many there were */
	size_t requests;
	size_t next;
	char url[64], crc[9];
	int port;
	/* What came: whole objects, and bytes of the one after them. */
	size_t whole;
	uint64_t rest;
	bool wrong;
	uint64_t limit; /* the reader closes after so many bytes; 0: never */
	int fd;
};

static int next_object(void *arg, struct stream_object *out, struct error *err)
{
	struct fixture *f = arg;
	uint64_t object = f->next, size;
	char *data;

	(void)err;
	if (f->next++ == f->count)
		return 0;
	snprintf(f->url, sizeof(f->url), "http://127.0.0.1:%d/%llu", f->port,
		 (unsigned long long)object);
	*out = (struct stream_object){ .url = f->url,
				       .size = STREAM_SIZE_UNKNOWN };
	if (f->with_crc) {
		size = f->server.size(object);
		data = mem_alloc(size + 1);
		shard_server_fill(object, 0, data, size);
		crc32c_format(crc32c_add(0, data, size) +
				      (f->wrong_crc == object),
			      f->crc);
		free(data);
		out->crc32c = f->crc;
		out->size = size;
	}
	return 1;
}

/* Those that are whole are behind us, empty ones too. */
static void pass_whole(struct fixture *f)
{
	while (f->whole < f->count && f->rest == f->server.size(f->whole)) {
		f->whole++;
		f->rest = 0;
	}
}

/* Is this what should come next? */
static void compare(struct fixture *f, const char *data, size_t len)
{
	char expected[65536];
	uint64_t left;
	size_t n;

	for (; len && !f->wrong; data += n, len -= n) {
		pass_whole(f);
		left = f->whole < f->count ? f->server.size(f->whole) - f->rest
					   : 0;
		n = left < len ? (size_t)left : len;
		shard_server_fill(f->whole, f->rest, expected, n);
		f->wrong = !n || memcmp(data, expected, n) != 0;
		f->rest += n;
	}
}

static void *read_all(void *arg)
{
	struct fixture *f = arg;
	char data[65536];
	uint64_t total = 0;
	ssize_t n;

	while ((n = read(f->fd, data, sizeof(data))) > 0) {
		compare(f, data, (size_t)n);
		total += (uint64_t)n;
		if (f->limit && total >= f->limit)
			break;
	}
	close(f->fd);
	pass_whole(f);
	return NULL;
}

/* Streams all objects from a server with these faults. */
static int stream(struct fixture *f)
{
	struct http_options options = { .host_connections = 16 };
	struct shard_server *server = shard_server_start(&f->server);
	struct http *http = http_new(&options, &f->err);
	pthread_t reader;
	int ends[2], ret;
	size_t i;

	assert_non_null(http);
	if (!f->how.read_ahead)
		f->how.read_ahead = 16 << 20;
	f->how.connections = 16;
	f->how.retry = &quick;
	if (!f->how.patience_ms)
		f->how.patience_ms = 60000;
	if (!f->how.stall_timeout_s)
		f->how.stall_timeout_s = 60;
	f->port = shard_server_port(server);
	f->next = f->whole = 0;
	f->rest = 0;
	f->wrong = false;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	f->fd = ends[0];
	pthread_create(&reader, NULL, read_all, f);
	ret = stream_run(http, &f->how, next_object, f, ends[1], &f->err);
	close(ends[1]);
	pthread_join(reader, NULL);
	http_free(http);
	for (i = 0; i < FAULT_COUNT; i++)
		f->faults[i] += shard_server_faults(server, i);
	f->requests = shard_server_requests(server);
	shard_server_stop(server);
	return ret;
}

static uint64_t mixed_sizes(uint64_t object)
{
	static const uint64_t sizes[] = {
		0,     1,      511,    512,    513,     10240,   16384,
		16895, 262143, 262144, 262145, 1048576, 3000000, 0,
	};

	return sizes[object % COUNT(sizes)];
}

static uint64_t small_sizes(uint64_t object)
{
	return object * 7919 % 60000;
}

static uint64_t large_sizes(uint64_t object)
{
	return 1200000 + object;
}

/* The same for the same request of the same test. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t z = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u;

	z = (z ^ z >> 30) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* More than half of all requests go wrong, in every way that may pass. */
static enum shard_fault passing(uint64_t object, uint64_t n, void *arg)
{
	uint64_t dice = mix(object, n);

	(void)arg;
	/* These take some seconds, at the same time. */
	if ((object == 20 || object == 22) && !n)
		return FAULT_STALL;
	if (dice % 100 >= 60)
		return FAULT_NONE;
	/* A server that does nothing else than what is wrong is given up. */
	return FAULT_CLOSE +
	       (enum shard_fault)(
		       dice / 100 %
		       ((n < 4 ? FAULT_STALL : FAULT_SHORT) - FAULT_CLOSE));
}

static void assert_all_came(const struct fixture *f)
{
	assert_false(f->wrong);
	assert_int_equal(f->whole, f->count);
	assert_int_equal(f->rest, 0);
}

static void objects_come_in_order(void **state)
{
	struct fixture f = { .server = { .size = mixed_sizes, .ranges = true },
			     .count = 42 };

	(void)state;
	assert_int_equal(stream(&f), STREAM_DONE);
	assert_all_came(&f);
	/* With as little memory as may be. */
	f.how.read_ahead = STREAM_READ_AHEAD_MIN;
	assert_int_equal(stream(&f), STREAM_DONE);
	assert_all_came(&f);
}

static void servers_without_ranges_will_do(void **state)
{
	struct fixture f = { .server = { .size = mixed_sizes },
			     .how = { .read_ahead = STREAM_READ_AHEAD_MIN },
			     .count = 42 };

	(void)state;
	assert_int_equal(stream(&f), STREAM_DONE);
	assert_all_came(&f);
	f.server.fault = passing;
	f.count = 20;
	assert_int_equal(stream(&f), STREAM_DONE);
	assert_all_came(&f);
}

static void two_thousand_faults_change_nothing(void **state)
{
	struct fixture f = { .server = { .size = small_sizes,
					 .ranges = true,
					 .fault = passing },
			     .how = { .stall_timeout_s = 1 },
			     .count = 1700 };
	size_t i, faults = 0;

	(void)state;
	assert_int_equal(stream(&f), STREAM_DONE);
	assert_all_came(&f);
	f.server.size = large_sizes;
	f.how.read_ahead = 4 << 20;
	f.count = 20;
	assert_int_equal(stream(&f), STREAM_DONE);
	assert_all_came(&f);
	for (i = FAULT_CLOSE; i <= FAULT_STALL; i++) {
		assert_int_not_equal(f.faults[i], 0);
		faults += f.faults[i];
	}
	print_message("%zu faults\n", faults);
	assert_true(faults >= 2000);
}

/* A fault that is none of those that pass, at one request of one object. */
struct one_fault {
	enum shard_fault fault;
	uint64_t object, n;
};

static enum shard_fault one_fault(uint64_t object, uint64_t n, void *arg)
{
	const struct one_fault *one = arg;

	return object == one->object && n == one->n ? one->fault : FAULT_NONE;
}

/* What came before the error is right, and no tar file ends there. */
static void assert_it_broke(const struct fixture *f, uint64_t object)
{
	assert_false(f->wrong);
	assert_true(f->whole <= object);
	if (f->rest) {
		assert_int_equal(f->rest % 512, 511);
		assert_true(f->rest + STREAM_HELD_BYTES <=
			    f->server.size(f->whole) + 511);
	}
}

static void changes_are_errors(void **state)
{
	static const struct {
		enum shard_fault fault;
		const char *text;
	} cases[] = {
		{ FAULT_TAG, "it was changed while it was read" },
		{ FAULT_GROWN, "it was changed while it was read" },
		{ FAULT_REPLACED, "it was changed while it was read" },
		{ FAULT_GONE, "it was changed while it was read" },
	};
	struct one_fault one;
	struct fixture f = { .server = { .size = large_sizes,
					 .ranges = true,
					 .fault = one_fault,
					 .arg = &one },
			     .how = { .read_ahead = 2 << 20 },
			     .count = 4 };
	char expected[128];
	size_t i, weak;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		for (weak = 0; weak < 2; weak++)
			for (one.object = 0; one.object < 4; one.object++)
				for (one.n = 1; one.n < 5; one.n += 3) {
					one.fault = cases[i].fault;
					f.server.weak_tag = weak;
					assert_int_equal(stream(&f), -1);
					snprintf(expected, sizeof(expected),
						 "http://127.0.0.1:%d/%d: %s",
						 f.port, (int)one.object,
						 cases[i].text);
					assert_string_equal(f.err.text,
							    expected);
					assert_it_broke(&f, one.object);
				}
}

static void what_is_not_there_is_an_error(void **state)
{
	struct one_fault one = { .fault = FAULT_GONE, .object = 2, .n = 0 };
	struct fixture f = { .server = { .size = mixed_sizes,
					 .ranges = true,
					 .fault = one_fault,
					 .arg = &one },
			     .count = 4 };

	(void)state;
	assert_int_equal(stream(&f), -1);
	assert_non_null(strstr(f.err.text, "/2: it is not there"));
	assert_false(f.wrong);
	assert_int_equal(f.whole, 2);
}

static void checksums_are_looked_at(void **state)
{
	struct fixture f = { .server = { .size = mixed_sizes, .ranges = true },
			     .count = 14,
			     .with_crc = true,
			     .wrong_crc = 99 };

	(void)state;
	assert_int_equal(stream(&f), STREAM_DONE);
	assert_all_came(&f);
	for (f.wrong_crc = 1; f.wrong_crc < 13; f.wrong_crc++) {
		assert_int_equal(stream(&f), -1);
		assert_non_null(strstr(f.err.text, "its CRC-32C is"));
		assert_int_equal(f.whole, f.wrong_crc);
		assert_it_broke(&f, f.wrong_crc);
	}
}

static void sizes_are_those_of_the_index(void **state)
{
	struct one_fault one = { .fault = FAULT_GROWN, .object = 11, .n = 0 };
	struct fixture f = { .server = { .size = mixed_sizes,
					 .ranges = true,
					 .fault = one_fault,
					 .arg = &one },
			     .count = 14,
			     .with_crc = true,
			     .wrong_crc = 99 };

	(void)state;
	assert_int_equal(stream(&f), -1);
	assert_non_null(strstr(f.err.text, "/11: it has 1049088 bytes, not the "
					   "1048576 of its index"));
	assert_it_broke(&f, 11);
}

static void the_reader_may_leave(void **state)
{
	struct fixture f = { .server = { .size = large_sizes, .ranges = true },
			     .count = 20 };

	(void)state;
	for (f.limit = 1; f.limit < 20000000; f.limit = f.limit * 5 + 1) {
		assert_int_equal(stream(&f), STREAM_READER_GONE);
		assert_false(f.wrong);
	}
}

static enum shard_fault always_cut(uint64_t object, uint64_t n, void *arg)
{
	(void)object;
	(void)arg;
	return n ? FAULT_CLOSE : FAULT_CUT;
}

static void a_dead_link_is_an_error(void **state)
{
	struct fixture f = { .server = { .size = large_sizes,
					 .ranges = true,
					 .fault = always_cut },
			     .how = { .patience_ms = 300 },
			     .count = 2 };

	(void)state;
	assert_int_equal(stream(&f), -1);
	assert_int_equal(f.err.code, ERROR_UNREACHABLE);
	assert_non_null(strstr(f.err.text, "given up after"));
	assert_it_broke(&f, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_come_in_order),
		cmocka_unit_test(servers_without_ranges_will_do),
		cmocka_unit_test(two_thousand_faults_change_nothing),
		cmocka_unit_test(changes_are_errors),
		cmocka_unit_test(what_is_not_there_is_an_error),
		cmocka_unit_test(checksums_are_looked_at),
		cmocka_unit_test(sizes_are_those_of_the_index),
		cmocka_unit_test(the_reader_may_leave),
		cmocka_unit_test(a_dead_link_is_an_error),
	};

	/* As the program does. */
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
