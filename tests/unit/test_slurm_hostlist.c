/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's short forms for many nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "core/base/buf.h"
#include "providers/slurm/hostlist.h"

static void host_lists_expand(void **state)
{
	static const struct {
		const char *text, *hosts;
	} cases[] = {
		{ "a", "a" },
		{ "node[1-3]", "node1 node2 node3" },
		{ "node[01-03,7]-ib,login", "node01-ib node02-ib node03-ib "
					    "node7-ib login" },
		{ "r[1-2]n[08-10]", "r1n08 r1n09 r1n10 r2n08 r2n09 r2n10" },
		{ "[1-2]", "1 2" },
		{ "a[9-11]", "a9 a10 a11" },
	};
	struct arena *mem = arena_new();
	struct error err;
	size_t i, j;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct hostlist list = { 0 };
		struct buf got = { 0 };

		assert_int_equal(
			hostlist_add(&list, cases[i].text, 100, mem, &err), 0);
		for (j = 0; j < list.count; j++)
			buf_printf(&got, "%s%s", j ? " " : "", list.hosts[j]);
		assert_string_equal(buf_text(&got), cases[i].hosts);
		buf_done(&got);
	}
	arena_free(mem);
}

static void broken_host_lists_are_refused(void **state)
{
	static const char *const cases[] = {
		"",
		"a,",
		",a",
		"a[",
		"a]",
		"a[]",
		"a[1-]",
		"a[-1]",
		"a[3-1]",
		"a[1",
		"a[1]]",
		"a[[1]]",
		"a[x]",
		"a,,b",
		"a[1,]",
		"a[1--2]",
		"a[1 - 2]",
		"a[1234567890]",
		"[1][1][1][1][1][1][1][1][1]",
	};
	struct arena *mem = arena_new();
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct hostlist list = { 0 };

		assert_int_equal(hostlist_add(&list, cases[i], 100, mem, &err),
				 -1);
		assert_non_null(strstr(err.text, "is no list of hosts"));
		assert_int_equal(list.count, 0);
	}
	{
		struct hostlist list = { 0 };

		assert_int_equal(
			hostlist_add(&list, "a[1-999999999]", 100, mem, &err),
			-1);
		assert_string_equal(err.text,
				    "'a[1-999999999]' has more than 100 hosts");
	}
	arena_free(mem);
}

static void counts_expand(void **state)
{
	struct error err;
	long counts[4];

	(void)state;
	assert_int_equal(hostlist_counts("2(x3),1", counts, 4, &err), 0);
	assert_int_equal(counts[0], 2);
	assert_int_equal(counts[2], 2);
	assert_int_equal(counts[3], 1);
	assert_int_equal(hostlist_counts("2(x3)", counts, 4, &err), -1);
	assert_string_equal(err.text, "'2(x3)' is not about 4 nodes");
	assert_int_equal(hostlist_counts("2(x5)", counts, 4, &err), -1);
	assert_int_equal(hostlist_counts("2(x3),", counts, 4, &err), -1);
	assert_int_equal(hostlist_counts("2(x", counts, 4, &err), -1);
	assert_int_equal(hostlist_counts("", counts, 4, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_lists_expand),
		cmocka_unit_test(broken_host_lists_are_refused),
		cmocka_unit_test(counts_expand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
