/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/stream/cache.h"
#include "core/stream/stream.h"
#include "tests/support/stream_fixture.h"

static void objects_come_in_order(void **state)
{
	struct stream_fixture f = { .server = { .size = stream_sizes_mixed,
						.ranges = true },
				    .count = 42 };

	(void)state;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
	/* With as little memory as possible. */
	f.how.read_ahead = STREAM_READ_AHEAD_MIN;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
}

static void servers_without_ranges_will_do(void **state)
{
	struct stream_fixture f = { .server = { .size = stream_sizes_mixed },
				    .how = { .read_ahead =
						     STREAM_READ_AHEAD_MIN },
				    .count = 42 };

	(void)state;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
	f.server.fault = stream_faults_passing;
	f.count = 20;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
}

static void servers_that_say_no_length_will_do(void **state)
{
	struct stream_fixture f = {
		.server = { .size = stream_sizes_mixed, .chunked = true },
		.how = { .read_ahead = STREAM_READ_AHEAD_MIN },
		.count = 42,
		.wrong_crc = 99
	};

	(void)state;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
	f.with_crc = true;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
	f.server.fault = stream_faults_passing;
	f.count = 20;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
	f.with_crc = false;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
}

static void two_thousand_faults_change_nothing(void **state)
{
	struct stream_fixture f = { .server = { .size = stream_sizes_small,
						.ranges = true,
						.fault =
							stream_faults_passing },
				    .how = { .stall_timeout_s = 1 },
				    .count = 1700 };
	size_t i, faults = 0;

	(void)state;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
	f.server.size = stream_sizes_large;
	f.how.read_ahead = 4 << 20;
	f.count = 20;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
	for (i = FAULT_CLOSE; i <= FAULT_STALL; i++) {
		assert_int_not_equal(f.faults[i], 0);
		faults += f.faults[i];
	}
	print_message("%zu faults\n", faults);
	assert_true(faults >= 2000);
}

/* A fault that does not pass, at one request of one object. */
struct one_fault {
	enum shard_fault fault;
	uint64_t object, n;
};

static enum shard_fault one_fault(uint64_t object, uint64_t n, void *arg)
{
	const struct one_fault *one = arg;

	return object == one->object && n == one->n ? one->fault : FAULT_NONE;
}

/* Checks that the data before the error is right, and ends in the middle of a
 * tar block. */
static void assert_it_broke(const struct stream_fixture *f, uint64_t object)
{
	assert_false(f->wrong);
	assert_true(f->whole <= object);
	if (f->rest) {
		assert_int_equal(f->rest % 512, 511);
		assert_true(f->rest + STREAM_HELD_BYTES <=
			    f->server.size(f->whole) + 511);
	}
}

/* Nothing tells whether the second answer is of the same object. */
static void without_length_and_version_a_break_is_an_error(void **state)
{
	struct one_fault one = { FAULT_CUT, 3, 0 };
	struct stream_fixture f = { .server = { .size = stream_sizes_large,
						.chunked = true,
						.no_tag = true,
						.fault = one_fault,
						.arg = &one },
				    .count = 6 };

	(void)state;
	assert_int_equal(stream_fixture_run(&f), -1);
	assert_non_null(strstr(f.err.text, "it broke off, and cannot be "
					   "resumed"));
	assert_it_broke(&f, 3);
}

static void changes_are_errors(void **state)
{
	static const struct {
		enum shard_fault fault;
		const char *text;
	} cases[] = {
		{ FAULT_TAG, "it changed while it was read" },
		{ FAULT_GROWN, "it changed while it was read" },
		{ FAULT_REPLACED, "it changed while it was read" },
		{ FAULT_GONE, "it changed while it was read" },
	};
	struct one_fault one;
	struct stream_fixture f = { .server = { .size = stream_sizes_large,
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
					assert_int_equal(stream_fixture_run(&f),
							 -1);
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
	struct stream_fixture f = { .server = { .size = stream_sizes_mixed,
						.ranges = true,
						.fault = one_fault,
						.arg = &one },
				    .count = 4 };

	(void)state;
	assert_int_equal(stream_fixture_run(&f), -1);
	assert_non_null(strstr(f.err.text, "/2: it does not exist"));
	assert_false(f.wrong);
	assert_int_equal(f.whole, 2);
}

static void checksums_are_looked_at(void **state)
{
	struct stream_fixture f = { .server = { .size = stream_sizes_mixed,
						.ranges = true },
				    .count = 14,
				    .with_crc = true,
				    .wrong_crc = 99 };

	(void)state;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
	for (f.wrong_crc = 1; f.wrong_crc < 13; f.wrong_crc++) {
		assert_int_equal(stream_fixture_run(&f), -1);
		assert_non_null(strstr(f.err.text, "its CRC-32C is"));
		assert_int_equal(f.whole, f.wrong_crc);
		assert_it_broke(&f, f.wrong_crc);
	}
}

static void sizes_are_those_of_the_index(void **state)
{
	struct one_fault one = { .fault = FAULT_GROWN, .object = 11, .n = 0 };
	struct stream_fixture f = { .server = { .size = stream_sizes_mixed,
						.ranges = true,
						.fault = one_fault,
						.arg = &one },
				    .count = 14,
				    .with_crc = true,
				    .wrong_crc = 99 };

	(void)state;
	assert_int_equal(stream_fixture_run(&f), -1);
	assert_non_null(strstr(f.err.text, "/11: it has 1049088 bytes, not the "
					   "1048576 of its index"));
	assert_it_broke(&f, 11);
}

static void the_reader_may_leave(void **state)
{
	struct stream_fixture f = { .server = { .size = stream_sizes_large,
						.ranges = true },
				    .count = 20 };

	(void)state;
	for (f.limit = 1; f.limit < 20000000; f.limit = f.limit * 5 + 1) {
		assert_int_equal(stream_fixture_run(&f), STREAM_READER_GONE);
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
	struct stream_fixture f = { .server = { .size = stream_sizes_large,
						.ranges = true,
						.fault = always_cut },
				    .how = { .patience_ms = 300 },
				    .count = 2 };

	(void)state;
	assert_int_equal(stream_fixture_run(&f), -1);
	assert_int_equal(f.err.code, ERROR_UNREACHABLE);
	assert_non_null(strstr(f.err.text, "gave up after"));
	assert_it_broke(&f, 0);
}

static char *make_cache(struct stream_fixture *f, uint64_t limit)
{
	char path[] = "/tmp/stream-XXXXXX";
	char *folder = mem_strdup(mkdtemp(path));

	f->how.cache = cache_open(folder, limit, &f->err);
	assert_non_null(f->how.cache);
	f->stays_up = true;
	return folder;
}

static void remove_cache(struct stream_fixture *f, char *folder)
{
	struct error err;

	assert_false(cache_trouble(f->how.cache, &err));
	cache_close(f->how.cache);
	assert_int_equal(folder_remove(folder, &err), 0);
	free(folder);
	stream_fixture_stop(f);
}

/* Changes a bit in some cached entries. */
static void damage_some(const char *folder, size_t nth)
{
	DIR *dir = opendir(folder);
	struct dirent *one;
	struct stat st;
	size_t i = 0;
	char c;
	int fd;

	while ((one = readdir(dir))) {
		if (!strstr(one->d_name, ".object") || ++i % nth)
			continue;
		fd = openat(dirfd(dir), one->d_name, O_RDWR | O_CLOEXEC);
		fstat(fd, &st);
		assert_int_equal(pread(fd, &c, 1, st.st_size / 2), 1);
		c ^= 1;
		assert_int_equal(pwrite(fd, &c, 1, st.st_size / 2), 1);
		close(fd);
	}
	closedir(dir);
}

static void what_is_kept_is_not_fetched(void **state)
{
	struct stream_fixture f = { .server = { .size = stream_sizes_mixed,
						.ranges = true },
				    .count = 12,
				    .with_crc = true,
				    .wrong_crc = 99 };
	char *folder = make_cache(&f, 1 << 30);
	size_t asked;

	(void)state;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
	/* The index vouches for all objects except the empty one. */
	asked = f.requests;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
	assert_int_equal(f.requests, asked + 1);
	/* Without an index the server vouches for them, once each. */
	f.with_crc = false;
	f.how.read_ahead = STREAM_READ_AHEAD_MIN;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
	assert_int_equal(f.requests, asked + 13);
	/* Objects that nothing vouches for are fetched each time. */
	f.server.weak_tag = true;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
	assert_true(f.requests > asked + 25);
	remove_cache(&f, folder);
}

static void what_is_damaged_is_fetched_again(void **state)
{
	struct stream_fixture f = { .server = { .size = stream_sizes_large,
						.ranges = true },
				    .how = { .read_ahead = 2 << 20 },
				    .count = 10,
				    .wrong_crc = 99 };
	char *folder = make_cache(&f, 1 << 30);
	size_t asked, nth, ranges;

	(void)state;
	for (f.with_crc = false;; f.with_crc = true) {
		for (ranges = 0; ranges < 2; ranges++) {
			f.server.ranges = ranges;
			for (nth = 1; nth < 4; nth++) {
				damage_some(folder, nth);
				assert_int_equal(stream_fixture_run(&f),
						 STREAM_DONE);
				stream_fixture_all_came(&f);
			}
		}
		/* The damaged entries were cached again when the damage was
		 * noticed. */
		asked = f.requests;
		assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
		stream_fixture_all_came(&f);
		assert_int_equal(f.requests - asked, f.with_crc ? 0 : f.count);
		if (f.with_crc)
			break;
	}
	remove_cache(&f, folder);
}

static enum shard_fault replace_some(uint64_t object, uint64_t n, void *arg)
{
	const uint64_t *asked = arg;

	(void)n;
	return object % 3 == 1 && *asked ? FAULT_TAG : FAULT_NONE;
}

/* An object that has another tag has the bytes of the next object. */
static void what_has_changed_is_fetched_again(void **state)
{
	uint64_t second = 0;
	struct stream_fixture f = { .server = { .size = stream_sizes_small,
						.ranges = true,
						.fault = replace_some,
						.arg = &second },
				    .count = 3 };
	char *folder = make_cache(&f, 1 << 30);

	(void)state;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
	second = 1;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	assert_true(f.wrong);
	second = 0;
	assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
	stream_fixture_all_came(&f);
	remove_cache(&f, folder);
}

/* Returns faults that pass, except stalls, which take long. */
static enum shard_fault passing_soon(uint64_t object, uint64_t n, void *arg)
{
	return stream_faults_passing(object, n + 1, arg);
}

/* The cache is too small for everything, so objects come from both; entries are
 * damaged meanwhile; and the server has all its faults. */
static void faults_and_a_cache_change_nothing(void **state)
{
	struct stream_fixture f = { .server = { .size = stream_sizes_small,
						.ranges = true,
						.fault = passing_soon },
				    .how = { .stall_timeout_s = 1,
					     .read_ahead = 4 << 20 },
				    .count = 300,
				    .epochs = 2 };
	char *folder = make_cache(&f, 5 << 20);
	size_t i, faults = 0;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_int_equal(stream_fixture_run(&f), STREAM_DONE);
		stream_fixture_all_came(&f);
		damage_some(folder, 3);
	}
	remove_cache(&f, folder);
	for (i = FAULT_CLOSE; i < FAULT_STALL; i++)
		faults += f.faults[i];
	print_message("%zu faults\n", faults);
	assert_true(faults >= 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_come_in_order),
		cmocka_unit_test(servers_without_ranges_will_do),
		cmocka_unit_test(servers_that_say_no_length_will_do),
		cmocka_unit_test(
			without_length_and_version_a_break_is_an_error),
		cmocka_unit_test(two_thousand_faults_change_nothing),
		cmocka_unit_test(changes_are_errors),
		cmocka_unit_test(what_is_not_there_is_an_error),
		cmocka_unit_test(checksums_are_looked_at),
		cmocka_unit_test(sizes_are_those_of_the_index),
		cmocka_unit_test(the_reader_may_leave),
		cmocka_unit_test(a_dead_link_is_an_error),
		cmocka_unit_test(what_is_kept_is_not_fetched),
		cmocka_unit_test(what_is_damaged_is_fetched_again),
		cmocka_unit_test(what_has_changed_is_fetched_again),
		cmocka_unit_test(faults_and_a_cache_change_nothing),
	};

	/* The program does the same. */
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
