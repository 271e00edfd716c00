/* SPDX-License-Identifier: Apache-2.0 */
/* Lists that many looks share, in memory and in a folder. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "providers/google/shared_list.h"

/* What list() does, and how often it was called. */
struct told_place {
	int calls;
	int ret;
	enum error_code code;
};

static int list(void *arg, json_t **out, struct error *err)
{
	struct told_place *place = arg;

	place->calls++;
	if (place->ret == 0) {
		*out = json_object();
		json_put_int(*out, "call", place->calls);
	} else {
		error_set(err, place->code, "no");
	}
	return place->ret;
}

/* Returns the number of the call that listed the place, or -1. */
static int look(struct shared_lists *lists, struct told_place *place,
		const char *name, int64_t fresh_ms)
{
	const struct shared_look it = {
		.place = "https://x/projects/p/locations/z/nodes",
		.name = name,
		.recent_ms = 3600000,
		.fresh_ms = fresh_ms,
		.list = list,
		.arg = place,
	};
	json_t *out = shared_lists_look(lists, &it);
	int call = (int)json_get_int(out, "call", -1);

	json_decref(out);
	return call;
}

static void look_through(struct shared_lists *a, struct shared_lists *b)
{
	struct told_place place = { 0 };

	assert_int_equal(look(a, &place, "one", 3600000), -1);
	assert_int_equal(look(a, &place, "one", 3600000), -1);
	assert_int_equal(look(b, &place, "two", 3600000), -1);
	assert_int_equal(place.calls, 0);
	assert_int_equal(look(b, &place, "three", 3600000), 1);
	assert_int_equal(look(a, &place, "one", 3600000), 1);
	assert_int_equal(look(a, &place, "one", 0), 1);
	/* No list is younger than that. */
	assert_int_equal(look(a, &place, "one", -1), 2);
	assert_int_equal(look(b, &place, "two", 3600000), 2);
	/* A list that failed is not asked for again at once. */
	place.ret = -1;
	place.code = ERROR_UNREACHABLE;
	assert_int_equal(look(a, &place, "one", -1), -1);
	assert_int_equal(look(b, &place, "two", 3600000), -1);
	assert_int_equal(place.calls, 3);
	assert_int_equal(look(b, &place, "two", -1), -1);
	assert_int_equal(place.calls, 4);
	/* One that is refused, or is too long, is not for some time. */
	place.code = ERROR_DENIED;
	assert_int_equal(look(b, &place, "two", -1), -1);
	assert_int_equal(look(a, &place, "one", -1), -1);
	assert_int_equal(place.calls, 5);
}

static void test_in_memory(void **state)
{
	struct shared_lists lists;
	struct told_place place = { 0 };

	(void)state;
	shared_lists_init(&lists, NULL);
	look_through(&lists, &lists);
	shared_lists_forget(&lists);
	assert_int_equal(look(&lists, &place, "one", 0), -1);
	assert_int_equal(look(&lists, &place, "two", 0), -1);
	place.ret = 1;
	assert_int_equal(look(&lists, &place, "three", 0), -1);
	assert_int_equal(look(&lists, &place, "one", -1), -1);
	assert_int_equal(place.calls, 1);
	shared_lists_done(&lists);
}

/* Two that have one folder are as one. */
static void test_in_folder(void **state)
{
	char root[] = "/tmp/jobrun-lists-XXXXXX";
	struct shared_lists a, b;
	struct error err;
	char *folder;

	(void)state;
	assert_non_null(mkdtemp(root));
	folder = mem_printf("%s/lists", root);
	shared_lists_init(&a, folder);
	shared_lists_init(&b, folder);
	look_through(&a, &b);
	shared_lists_done(&a);
	shared_lists_done(&b);
	assert_int_equal(folder_remove(root, &err), 0);
	free(folder);
}

static void break_files(const char *folder)
{
	char *command = mem_printf("for f in %s/*; do echo '{\"atMs\": ' >$f; "
				   "done",
				   folder);

	assert_int_equal(system(command), 0);
	free(command);
}

/* Files that a killed writer has left half written are as if there were
 * none. */
static void test_broken_files(void **state)
{
	char folder[] = "/tmp/jobrun-lists-XXXXXX";
	struct told_place place = { 0 };
	struct shared_lists lists;
	struct error err;

	(void)state;
	assert_non_null(mkdtemp(folder));
	shared_lists_init(&lists, folder);
	look(&lists, &place, "one", 0);
	look(&lists, &place, "two", 0);
	assert_int_equal(look(&lists, &place, "three", 0), 1);
	break_files(folder);
	assert_int_equal(look(&lists, &place, "one", 0), -1);
	look(&lists, &place, "two", 0);
	assert_int_equal(look(&lists, &place, "three", 0), 2);
	shared_lists_done(&lists);
	assert_int_equal(folder_remove(folder, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_memory),
		cmocka_unit_test(test_in_folder),
		cmocka_unit_test(test_broken_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
