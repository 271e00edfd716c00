/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/apply/lock.h"
#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/text.h"

#define SECOND_MS 1000

struct place {
	char folder[64];
	char locks[80];
};

static int set_up(void **state)
{
	struct place *at = mem_alloc(sizeof(*at));

	strcpy(at->folder, "/tmp/test_lock.XXXXXX");
	assert_non_null(mkdtemp(at->folder));
	snprintf(at->locks, sizeof(at->locks), "%s/locks", at->folder);
	*state = at;
	return 0;
}

static int tear_down(void **state)
{
	struct place *at = *state;
	struct error err;

	assert_int_equal(folder_remove(at->folder, &err), 0);
	free(at);
	return 0;
}

static struct lock_set *take(const struct place *at, const char *first,
			     const char *second, int64_t timeout_ms,
			     struct error *err)
{
	const char *ids[] = { first, second };

	return lock_set_take(at->locks, ids, second ? 2 : 1, timeout_ms, NULL,
			     NULL, err);
}

static void a_holder_is_named(void **state)
{
	struct place *at = *state;
	struct error err = { 0 };
	struct lock_set *mine = take(at, "b", "a", 0, &err);
	char pid[32];

	assert_non_null(mine);
	assert_null(take(at, "c", "b", 0, &err));
	assert_int_equal(err.code, ERROR_TRY_AGAIN);
	snprintf(pid, sizeof(pid), ": process %ld on ", (long)getpid());
	assert_true(
		text_starts(err.text, "another jobrun is working on job 'b'"));
	assert_non_null(strstr(err.text, pid));
	/* Either all locks are taken or none: c is still free. */
	lock_set_free(take(at, "c", NULL, 0, &err));
	lock_set_release(mine, "b");
	lock_set_release(mine, "b");
	lock_set_release(mine, "never");
	lock_set_free(take(at, "c", "b", 0, &err));
	assert_null(take(at, "a", "b", 0, &err));
	lock_set_free(mine);
	/* The folder is empty, as no file is left. */
	assert_int_equal(rmdir(at->locks), 0);
}

/* Starts a child that holds a lock, and waits until it does; the test kills
 * it. */
static pid_t hold_in_child(const struct place *at, const char *id)
{
	int pipes[2];
	struct error err;
	char ready;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		if (!take(at, id, NULL, 0, &err) || write(pipes[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &ready, 1), 1);
	close(pipes[0]);
	return pid;
}

static void a_dead_holder_holds_nothing(void **state)
{
	struct place *at = *state;
	struct error err;
	pid_t pid = hold_in_child(at, "a");
	struct lock_set *mine;

	assert_null(take(at, "a", NULL, 0, &err));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	mine = take(at, "a", NULL, 0, &err);
	assert_non_null(mine);
	lock_set_free(mine);
}

static void count_call(void *arg, const struct error *why)
{
	assert_int_equal(why->code, ERROR_TRY_AGAIN);
	++*(int *)arg;
}

static void waiting_ends(void **state)
{
	static const char *const ids[] = { "a" };
	struct place *at = *state;
	struct error err;
	struct lock_set *mine = take(at, "a", NULL, 0, &err);
	int64_t start_ms = time_monotonic_ms();
	int told = 0;
	pid_t pid;

	assert_null(
		lock_set_take(at->locks, ids, 1, 200, count_call, &told, &err));
	assert_in_range(time_monotonic_ms() - start_ms, 200, 5 * SECOND_MS);
	assert_int_equal(told, 1);
	lock_set_free(mine);
	pid = hold_in_child(at, "a");
	if (fork() == 0) {
		usleep(200000);
		kill(pid, SIGKILL);
		_exit(0);
	}
	mine = take(at, "a", NULL, 20 * SECOND_MS, &err);
	assert_non_null(mine);
	lock_set_free(mine);
	while (wait(NULL) > 0)
		;
}

/* A process that is started while a lock is held, and lives longer, does not
 * hold it. */
static void nobody_inherits_it(void **state)
{
	char sleep_name[] = "sleep", sleep_time[] = "30";
	char *argv[] = { sleep_name, sleep_time, NULL };
	char *envp[] = { NULL };
	struct place *at = *state;
	struct error err;
	struct lock_set *mine = take(at, "a", NULL, 0, &err);
	pid_t pid;

	assert_int_equal(posix_spawnp(&pid, "sleep", NULL, NULL, argv, envp),
			 0);
	lock_set_free(mine);
	mine = take(at, "a", NULL, 0, &err);
	assert_non_null(mine);
	lock_set_free(mine);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Adds one to the number in a file, which is not atomic. */
static void count_up(const char *path)
{
	struct error err;
	size_t len;
	char *text = file_read(path, 100, &len, &err);
	char more[32];

	if (!text)
		_exit(2);
	snprintf(more, sizeof(more), "%ld", strtol(text, NULL, 10) + 1);
	if (truncate(path, 0) < 0 ||
	    file_write(path, more, strlen(more), &err) < 0)
		_exit(3);
	free(text);
}

/* Each process takes two of three locks in any order: no deadlock, and one at a
 * time. */
static void many_take_turns(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	struct place *at = *state;
	struct error err;
	char *path = path_join(at->folder, "count");
	char *text;
	size_t len;
	int i, status;

	assert_int_equal(file_write(path, "0", 1, &err), 0);
	for (i = 0; i < 50; i++) {
		if (fork() == 0) {
			struct lock_set *mine;

			/* "a" is always one of the two. */
			mine = i % 2 ? take(at, names[1 + i % 2], "a",
					    60 * SECOND_MS, &err)
				     : take(at, "a", names[1 + i / 2 % 2],
					    60 * SECOND_MS, &err);
			if (!mine)
				_exit(1);
			count_up(path);
			/* Some end while they hold their locks. */
			if (i % 5)
				lock_set_free(mine);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		assert_int_equal(status, 0);
	text = file_read(path, 100, &len, &err);
	assert_string_equal(text, "50");
	free(text);
	free(path);
}

static void one_named_twice_is_one(void **state)
{
	struct place *at = *state;
	struct error err;
	struct lock_set *mine = take(at, "a", "a", 0, &err);

	assert_non_null(mine);
	assert_true(lock_set_has(mine, "a"));
	lock_set_release(mine, "a");
	assert_false(lock_set_has(mine, "a"));
	lock_set_free(mine);
}

static void those_that_are_free_can_be_taken(void **state)
{
	static const char *const ids[] = { "c", "a", "b", "a" };
	struct place *at = *state;
	struct error err;
	struct lock_set *theirs = take(at, "b", NULL, 0, &err);
	struct lock_set *mine;

	mine = lock_set_take_free(at->locks, ids, COUNT(ids), &err);
	assert_non_null(mine);
	assert_true(lock_set_has(mine, "a"));
	assert_false(lock_set_has(mine, "b"));
	assert_true(lock_set_has(mine, "c"));
	assert_false(lock_set_has(mine, "d"));
	assert_false(lock_set_has(NULL, "a"));
	lock_set_free(mine);
	lock_set_free(theirs);
}

static void the_lock_of_the_dead_is_stale(void **state)
{
	struct place *at = *state;
	struct error err;
	struct lock_set *mine = take(at, "a", NULL, 0, &err);
	char *path = path_join(at->locks, "b");
	pid_t pid = fork();

	assert_true(lock_is_held(at->locks, "a"));
	assert_false(lock_is_stale(at->locks, "a"));
	if (pid == 0) {
		take(at, "b", NULL, 0, &err);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(access(path, F_OK), 0);
	assert_true(lock_is_stale(at->locks, "b"));
	assert_false(lock_is_held(at->locks, "b"));
	/* Another machine's lock can't be judged from here. */
	assert_int_equal(file_write(path, "process 1 on else, x\n", 21, &err),
			 0);
	assert_false(lock_is_stale(at->locks, "b"));
	assert_false(lock_is_stale(at->locks, "c"));
	assert_false(lock_is_held(at->locks, "c"));
	lock_set_free(mine);
	free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_holder_is_named),
		TEST(a_dead_holder_holds_nothing),
		TEST(waiting_ends),
		TEST(nobody_inherits_it),
		TEST(many_take_turns),
		TEST(one_named_twice_is_one),
		TEST(those_that_are_free_can_be_taken),
		TEST(the_lock_of_the_dead_is_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
