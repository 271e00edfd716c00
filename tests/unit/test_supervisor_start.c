/* SPDX-License-Identifier: Apache-2.0 */
/* What a command leaves behind if it is killed before its run has begun. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/process/run_lock.h"
#include "core/supervise/supervisor.h"

struct fixture {
	char folder[64];
	struct store *store;
	struct arena *mem;
	struct error err;
};

static int set_up(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));

	snprintf(f->folder, sizeof(f->folder), "/tmp/jobrun-test-XXXXXX");
	if (!mkdtemp(f->folder))
		return -1;
	setenv("JOBRUN_STATE_DIR", f->folder, 1);
	f->store = store_open(&f->err);
	f->mem = arena_new();
	*state = f;
	return f->store ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	store_close(f->store);
	arena_free(f->mem);
	folder_remove(f->folder, &f->err);
	free(f);
	return 0;
}

static struct run_record a_run(void)
{
	return (struct run_record){ .job_id = "a",
				    .provider = "local",
				    .digest = "d" };
}

static int die(void *arg, const char *folder, int attempt, struct error *err)
{
	int lock = run_lock_take(folder, err);

	(void)arg;
	_exit(attempt == 1 && lock >= 0 ? 0 : 1);
}

/* Adds a run in a child that exits without closing anything: after adding it,
 * or in the middle. */
static void add_and_die(bool in_the_middle)
{
	struct run_record run = a_run();
	struct store *store;
	struct error err;
	int status, lock = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		store = store_open(&err);
		if (store && in_the_middle)
			store_run_add_with(store, &run, die, NULL, &err);
		else if (store && supervisor_add(store, &run, &lock, &err) == 0)
			_exit(0);
		_exit(2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void it_is_as_if_it_had_not_been_asked_for(void **state)
{
	struct fixture *f = *state;
	struct run_record run;

	add_and_die(false);
	assert_int_equal(store_run_get(f->store, "a", 0, f->mem, &run, &f->err),
			 0);
	assert_int_equal(supervisor_check(f->store, &run, &f->err), 0);
	assert_int_equal(store_run_get(f->store, "a", 0, f->mem, &run, &f->err),
			 1);
}

static void the_number_is_used_again(void **state)
{
	struct fixture *f = *state;
	struct run_record run = a_run();
	int lock;

	add_and_die(true);
	assert_int_equal(supervisor_add(f->store, &run, &lock, &f->err), 0);
	assert_int_equal(run.attempt, 1);
	/* While another process is about to start the run, nobody ends it. */
	assert_int_equal(supervisor_check(f->store, &run, &f->err), 0);
	assert_int_equal(store_run_get(f->store, "a", 0, f->mem, &run, &f->err),
			 0);
	assert_int_equal(run.state, RUN_QUEUED);
	close(lock);
}

/* Another process began it, and nobody knows what it did. */
static void one_that_had_begun_has_failed(void **state)
{
	struct fixture *f = *state;
	struct run_record run = a_run();
	int lock;

	assert_int_equal(supervisor_add(f->store, &run, &lock, &f->err), 0);
	assert_int_equal(run_lock_set_pid(lock, 4194304, &f->err), 0);
	close(lock);
	assert_int_equal(supervisor_check(f->store, &run, &f->err), 0);
	assert_int_equal(store_run_get(f->store, "a", 0, f->mem, &run, &f->err),
			 0);
	assert_int_equal(run.state, RUN_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			it_is_as_if_it_had_not_been_asked_for, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(the_number_is_used_again,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_had_begun_has_failed,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
