/* SPDX-License-Identifier: Apache-2.0 */
#include "core/process/run_lock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/alloc.h"
#include "core/base/file.h"

static char *make_folder(void)
{
	char *folder = mem_strdup("/tmp/jobrun-lock.XXXXXX");

	assert_non_null(mkdtemp(folder));
	return folder;
}

static void remove_folder(char *folder)
{
	struct error err;

	assert_int_equal(folder_remove(folder, &err), 0);
	free(folder);
}

static void a_holder_is_found(void **state)
{
	char *folder = make_folder();
	struct error err;
	int shared = -1;
	pid_t pid = -1;
	int fd;

	(void)state;
	/* The lock was never taken. */
	assert_int_equal(run_lock_look(folder, &pid, &shared, &err), 0);
	assert_int_equal(shared, -1);
	fd = run_lock_take(folder, &err);
	assert_true(fd >= 0);
	/* The lock is held, but its holder has not written its pid yet. */
	assert_int_equal(run_lock_look(folder, &pid, NULL, &err), 1);
	assert_int_equal(pid, 0);
	assert_int_equal(run_lock_set_pid(fd, 4194304, &err), 0);
	assert_int_equal(run_lock_set_pid(fd, 17, &err), 0);
	assert_int_equal(run_lock_look(folder, &pid, &shared, &err), 1);
	assert_int_equal(pid, 17);
	assert_int_equal(shared, -1);
	close(fd);
	/* A look can keep a free lock shared; others still find it free. */
	assert_int_equal(run_lock_look(folder, &pid, &shared, &err), 0);
	assert_true(shared >= 0);
	assert_int_equal(run_lock_look(folder, &pid, NULL, &err), 0);
	close(shared);
	remove_folder(folder);
}

/* If the lock can't be examined, taking it for free would end a live run. */
static void what_cannot_be_told_is_not_free(void **state)
{
	char *folder = make_folder();
	char *path = path_join(folder, "lock");
	struct error err;
	int shared = -1;
	pid_t pid = -1;

	(void)state;
	assert_int_equal(symlink("lock", path), 0);
	assert_int_equal(run_lock_look(folder, &pid, &shared, &err), -1);
	assert_int_equal(err.code, ERROR_TRY_AGAIN);
	assert_int_equal(shared, -1);
	assert_int_equal(run_lock_take(folder, &err), -1);
	free(path);
	remove_folder(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_holder_is_found),
		cmocka_unit_test(what_cannot_be_told_is_not_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
