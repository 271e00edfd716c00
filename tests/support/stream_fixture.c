/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/stream_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/crc32c.h"

/* A retry policy with short pauses. */
static const struct retry_policy quick = {
	.first_ms = 1,
	.max_ms = 4,
};

static size_t total_of(const struct stream_fixture *f)
{
	return f->count * (f->epochs ? f->epochs : 1);
}

static int next_object(void *arg, struct stream_object *out, struct error *err)
{
	struct stream_fixture *f = arg;
	uint64_t object = f->next % f->count, size;
	char *data;

	(void)err;
	if (f->next++ == total_of(f))
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

/* Counts objects that are complete, including empty ones. */
static void pass_whole(struct stream_fixture *f)
{
	while (f->whole < total_of(f) &&
	       f->rest == f->server.size(f->whole % f->count)) {
		f->whole++;
		f->rest = 0;
	}
}

/* Compares the data with what should come next. */
static void compare(struct stream_fixture *f, const char *data, size_t len)
{
	char expected[65536];
	uint64_t left, object;
	size_t n;

	for (; len && !f->wrong; data += n, len -= n) {
		pass_whole(f);
		object = f->whole % f->count;
		left = f->whole < total_of(f) ? f->server.size(object) - f->rest
					      : 0;
		n = left < len ? (size_t)left : len;
		n = n < sizeof(expected) ? n : sizeof(expected);
		shard_server_fill(object, f->rest, expected, n);
		f->wrong = !n || memcmp(data, expected, n) != 0;
		f->rest += n;
	}
}

static void *read_all(void *arg)
{
	struct stream_fixture *f = arg;
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

int stream_fixture_run(struct stream_fixture *f)
{
	struct http_options options = { .host_connections = 17 };
	struct http *http = http_new(&options, &f->err);
	pthread_t reader;
	int ends[2], ret;

	assert_non_null(http);
	if (!f->up)
		f->up = shard_server_start(&f->server);
	if (!f->how.read_ahead)
		f->how.read_ahead = 16 << 20;
	f->how.connections = 16;
	f->how.retry = &quick;
	if (!f->how.patience_ms)
		f->how.patience_ms = 60000;
	if (!f->how.stall_timeout_s)
		f->how.stall_timeout_s = 60;
	f->port = shard_server_port(f->up);
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
	f->requests = shard_server_requests(f->up);
	if (!f->stays_up)
		stream_fixture_stop(f);
	return ret;
}

void stream_fixture_stop(struct stream_fixture *f)
{
	size_t i;

	for (i = 0; i < FAULT_COUNT; i++)
		f->faults[i] += shard_server_faults(f->up, i);
	shard_server_stop(f->up);
	f->up = NULL;
}

uint64_t stream_sizes_mixed(uint64_t object)
{
	static const uint64_t sizes[] = {
		0,     1,      511,    512,    513,     10240,   16384,
		16895, 262143, 262144, 262145, 1048576, 3000000, 0,
	};

	return sizes[object % COUNT(sizes)];
}

uint64_t stream_sizes_small(uint64_t object)
{
	return object * 7919 % 60000;
}

uint64_t stream_sizes_large(uint64_t object)
{
	return 1200000 + object;
}

/* Gives the same number for the same request of the same test. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t z = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u;

	z = (z ^ z >> 30) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

enum shard_fault stream_faults_passing(uint64_t object, uint64_t n, void *arg)
{
	uint64_t dice = mix(object, n);

	(void)arg;
	/* These stall for some seconds, both at the same time. */
	if ((object == 20 || object == 22) && !n)
		return FAULT_STALL;
	if (dice % 100 >= 60)
		return FAULT_NONE;
	/* Faults end after some tries, as a server with only faults would be
	 * given up. */
	return FAULT_CLOSE +
	       (enum shard_fault)(
		       dice / 100 %
		       ((n < 4 ? FAULT_STALL : FAULT_SHORT) - FAULT_CLOSE));
}

void stream_fixture_all_came(const struct stream_fixture *f)
{
	assert_false(f->wrong);
	assert_int_equal(f->whole, total_of(f));
	assert_int_equal(f->rest, 0);
}
