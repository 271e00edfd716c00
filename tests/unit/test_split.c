/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/data/brace.h"
#include "core/shard/shard_list.h"
#include "core/data/split.h"

#define HOSTS_MAX 64
#define DEVICES_MAX 8
#define SHARDS_MAX 1000

/*
 * Whether the list of one process is as the header says; such lists have no
 * shard in common.  Only after the last shard come others, which the process
 * does not have itself.
 */
static bool is_right_for_one(const struct split *split, size_t count,
			     size_t length)
{
	size_t parts = (size_t)(split->hosts * split->devices);
	size_t first = (size_t)(split->host + split->hosts * split->device);
	size_t place = first, i, at;

	for (i = 0; i < length; i++, place += parts) {
		at = split_at(split, count, i);
		if (place < count ? at != place
				  : at >= count || at % parts == first)
			return false;
	}
	return true;
}

/* Whether all processes have equally many shards, and together all shards, with
 * the expected repetitions. */
static bool is_right(struct split *split, size_t count)
{
	size_t parts = (size_t)(split->hosts * split->devices);
	size_t length = split_length(split, count);

	if (length * parts != count + split_repeated(split, count))
		return false;
	for (split->host = 0; split->host < split->hosts; split->host++)
		for (split->device = 0; split->device < split->devices;
		     split->device++)
			if (!is_right_for_one(split, count, length))
				return false;
	return true;
}

/* Whether with SPLIT_DROP the same holds without the last round, if that is
 * incomplete. */
static bool is_right_dropped(struct split *split, size_t count)
{
	size_t parts = (size_t)(split->hosts * split->devices);

	split->uneven = SPLIT_DROP;
	return split_length(split, count) * parts +
			       split_dropped(split, count) ==
		       count &&
	       split_dropped(split, count) < parts &&
	       !split_repeated(split, count);
}

static void every_split_is_disjoint_complete_and_equal(void **state)
{
	struct split split = SPLIT_ALL;
	size_t count;

	(void)state;
	for (split.hosts = 1; split.hosts <= HOSTS_MAX; split.hosts++)
		for (split.devices = 1; split.devices <= DEVICES_MAX;
		     split.devices++)
			for (count = 1; count <= SHARDS_MAX; count++) {
				split.uneven = SPLIT_REPEAT;
				assert_true(is_right(&split, count));
				assert_true(is_right_dropped(&split, count));
			}
}

static void an_exact_split_has_each_shard_once(void **state)
{
	struct split split = SPLIT_ALL;
	size_t count, length, least, most, all, i;

	(void)state;
	split.uneven = SPLIT_EXACT;
	split.hosts = 7;
	split.devices = 3;
	for (count = 0; count <= 100; count++) {
		unsigned char seen[100] = { 0 };

		least = count;
		most = all = 0;
		for (split.host = 0; split.host < 7; split.host++)
			for (split.device = 0; split.device < 3;
			     split.device++) {
				length = split_length(&split, count);
				least = length < least ? length : least;
				most = length > most ? length : most;
				all += length;
				for (i = 0; i < length; i++)
					seen[split_at(&split, count, i)]++;
			}
		assert_int_equal(all, count);
		assert_true(most - least <= 1);
		for (i = 0; i < count; i++)
			assert_int_equal(seen[i], 1);
		assert_int_equal(split_repeated(&split, count), 0);
		assert_int_equal(split_dropped(&split, count), 0);
	}
}

static void hosts_come_before_devices(void **state)
{
	struct split split = {
		.host = 1, .hosts = 2, .device = 2, .devices = 3
	};

	(void)state;
	/* Host 1 has 1, 3, 5, 7, 9, 11; its device 2 has every third of
	 * these. */
	assert_int_equal(split_length(&split, 12), 2);
	assert_int_equal(split_at(&split, 12, 0), 5);
	assert_int_equal(split_at(&split, 12, 1), 11);
}

static void samples_are_what_anyone_has(void **state)
{
	const uint64_t samples[] = { 100, 100, 7, 100, 100 };
	struct split split = { .hosts = 2, .devices = 1 };

	(void)state;
	/* Each has three of five shards, of which the small one may be one. */
	assert_int_equal(split_samples(&split, samples, 5), 207);
	split.uneven = SPLIT_DROP;
	assert_int_equal(split_samples(&split, samples, 5), 107);
	/* Its own. */
	split.uneven = SPLIT_EXACT;
	assert_int_equal(split_samples(&split, samples, 5), 207);
	split.host = 1;
	assert_int_equal(split_samples(&split, samples, 5), 200);
}

static void splits_are_read(void **state)
{
	static const char *const wrong[] = {
		"",          "host",
		"host=",     "host=2/2",
		"host=-1/2", "host=0/0",
		"host=1",    "host=0/2,",
		"node=0/2",  "host=0/2 ",
		"host= 0/2", "device=0/1000001",
		"uneven=",   "host=0/2,uneven=x",
	};
	struct split split;
	struct error err;
	size_t i;

	(void)state;
	assert_int_equal(split_parse("host=1/2,device=3/8", &split, &err), 0);
	assert_int_equal(split.host, 1);
	assert_int_equal(split.hosts, 2);
	assert_int_equal(split.device, 3);
	assert_int_equal(split.devices, 8);
	assert_int_equal(split.uneven, SPLIT_REPEAT);
	assert_int_equal(split_parse("device=0/2,uneven=drop", &split, &err),
			 0);
	assert_int_equal(split.hosts, 1);
	assert_int_equal(split.uneven, SPLIT_DROP);
	for (i = 0; i < COUNT(wrong); i++)
		assert_int_equal(split_parse(wrong[i], &split, &err), -1);
	assert_int_equal(split.devices, 2);
}

static void orders_are_for_ever(void **state)
{
	static const size_t first[] = { 2, 6, 0, 1, 7, 3, 4, 5 };
	static const size_t second[] = { 2, 3, 0, 5, 4, 7, 6, 1 };
	size_t order[8];

	(void)state;
	split_shuffle(7, 0, order, 8);
	assert_memory_equal(order, first, sizeof(order));
	split_shuffle(7, 1, order, 8);
	assert_memory_equal(order, second, sizeof(order));
	split_shuffle(8, 0, order, 8);
	assert_memory_not_equal(order, first, sizeof(order));
}

static void epochs_are_walked(void **state)
{
	struct stream_object items[5] = { 0 }, one;
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	struct shard_list list = { .items = items, .count = 5 };
	struct shard_walk walk = {
		.list = &list,
		.split = { .hosts = 2, .devices = 1 },
		.shuffle = true,
		.seed = 3,
		.epochs = 2,
	};
	char first[4] = "", second[4] = "";
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++)
		items[i].url = names[i];
	for (i = 0; i < 6; i++) {
		assert_int_equal(shard_walk_next(&walk, &one, &err), 1);
		(i < 3 ? first : second)[i % 3] = *one.url;
	}
	assert_int_equal(shard_walk_next(&walk, &one, &err), 0);
	assert_string_not_equal(first, second);
	shard_walk_done(&walk);
}

static void check_braces(const char *pattern, const char *expected)
{
	struct arena *mem = arena_new();
	struct brace_names names = { 0 };
	struct buf all = { 0 };
	struct error err;
	size_t i;

	assert_int_equal(brace_expand(pattern, mem, &names, &err), 0);
	for (i = 0; i < names.count; i++)
		buf_printf(&all, "%s%s", i ? " " : "", names.items[i]);
	assert_string_equal(buf_text(&all), expected);
	buf_done(&all);
	brace_names_done(&names);
	arena_free(mem);
}

static void braces_are_expanded(void **state)
{
	static const char *const cases[][2] = {
		{ "plain", "plain" },
		{ "", "" },
		{ "t-{000..003}.tar",
		  "t-000.tar t-001.tar t-002.tar t-003.tar" },
		{ "{8..11}", "8 9 10 11" },
		{ "{08..11}", "08 09 10 11" },
		{ "{3..1}", "3 2 1" },
		{ "{0..9..4}", "0 4 8" },
		{ "{9..0..4}", "9 5 1" },
		{ "{-1..1}", "-1 0 1" },
		{ "{a,b}", "a b" },
		{ "{a,}x", "ax x" },
		{ "{a,b{1..2}}/{x,y}", "a/x a/y b1/x b1/y b2/x b2/y" },
		{ "{a}", "{a}" },
		{ "{}", "{}" },
		{ "{a", "{a" },
		{ "a}", "a}" },
		{ "{1..2", "{1..2" },
		{ "{1..x}", "{1..x}" },
		{ "{1..2..0}", "{1..2..0}" },
		{ "{x{1..2}}", "{x1} {x2}" },
		{ "\\{1..2\\}", "{1..2}" },
		{ "{a\\,b,c}", "a,b c" },
		{ "a\\", "a\\" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		check_braces(cases[i][0], cases[i][1]);
}

static void braces_have_limits(void **state)
{
	static const char *const cases[] = {
		"{0..1000000}",
		"{0..999}{0..1000}",
		"{000000000000000000..999999999999999999}",
		"{0..9}{0..9}{0..9}{a,b}{0..9}{0..9}{0..9}",
	};
	struct arena *mem = arena_new();
	struct brace_names names = { 0 };
	char deep[4000];
	struct error err;
	size_t i;

	(void)state;
	assert_int_equal(brace_expand("{1..3}", mem, &names, &err), 0);
	for (i = 0; i < COUNT(cases); i++) {
		assert_int_equal(brace_expand(cases[i], mem, &names, &err), -1);
		assert_int_equal(err.code, ERROR_INVALID);
		assert_int_equal(names.count, 3);
	}
	for (i = 0; i + 4 < sizeof(deep); i += 3)
		memcpy(deep + i, "{,}", 4);
	assert_int_equal(brace_expand(deep, mem, &names, &err), -1);
	memset(deep, '{', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	assert_int_equal(brace_expand(deep, mem, &names, &err), 0);
	/* For each of many names the ends of all braces would be searched. */
	memcpy(deep, "{1..50000}", 10);
	assert_int_equal(brace_expand(deep, mem, &names, &err), -1);
	assert_int_equal(names.count, 4);
	assert_int_equal(names.bytes, 3 + sizeof(deep) - 1);
	brace_names_done(&names);
	arena_free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_split_is_disjoint_complete_and_equal),
		cmocka_unit_test(an_exact_split_has_each_shard_once),
		cmocka_unit_test(hosts_come_before_devices),
		cmocka_unit_test(samples_are_what_anyone_has),
		cmocka_unit_test(splits_are_read),
		cmocka_unit_test(orders_are_for_ever),
		cmocka_unit_test(epochs_are_walked),
		cmocka_unit_test(braces_are_expanded),
		cmocka_unit_test(braces_have_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
