/* SPDX-License-Identifier: Apache-2.0 */
/* The end of each child is reported once, to the one who waits for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/process/reaper.h"

#define CHILDREN 300 /* beyond the first table's capacity */

struct heard {
	int times;
	int status;
};

static void hear(void *arg, int status)
{
	struct heard *heard = arg;

	heard->times++;
	heard->status = status;
}

/* Starts a process group that waits to be killed. */
static pid_t start_waiting(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	setpgid(pid, pid);
	return pid;
}

static pid_t start_ending(int code)
{
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		_exit(code);
	}
	assert_true(pid > 0);
	return pid;
}

/* Reaps all children, for half a minute at most. */
static void reap_all(struct reaper *reaper)
{
	for (int i = 0; i < 30000 && reaper_run(reaper); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	assert_false(reaper_run(reaper));
}

static void each_is_heard_once_with_its_status(void **state)
{
	struct heard *heard = mem_alloc(CHILDREN * sizeof(*heard));
	struct reaper *reaper = reaper_new();

	(void)state;
	for (int i = 0; i < CHILDREN; i++)
		reaper_watch(reaper, start_ending(i % 200), hear, &heard[i]);
	assert_int_equal(reaper_count(reaper), CHILDREN);
	reap_all(reaper);
	assert_int_equal(reaper_count(reaper), 0);
	for (int i = 0; i < CHILDREN; i++) {
		assert_int_equal(heard[i].times, 1);
		assert_true(WIFEXITED(heard[i].status));
		assert_int_equal(WEXITSTATUS(heard[i].status), i % 200);
	}
	reaper_free(reaper);
	free(heard);
}

static void others_are_reaped_and_those_forgotten_are_not_told(void **state)
{
	struct heard watched = { 0 }, forgotten = { 0 };
	struct reaper *reaper = reaper_new();
	pid_t pid = start_ending(3);

	(void)state;
	start_ending(5);
	reaper_watch(reaper, pid, hear, &forgotten);
	reaper_watch(reaper, start_ending(4), hear, &watched);
	reaper_forget(reaper, pid);
	reaper_forget(reaper, pid);
	assert_int_equal(reaper_count(reaper), 1);
	reap_all(reaper);
	assert_int_equal(forgotten.times, 0);
	assert_int_equal(watched.times, 1);
	reaper_free(reaper);
}

/* In any order, no child is lost in the table or found twice. */
static void some_are_forgotten_in_the_middle(void **state)
{
	struct heard heard[40] = { { 0 } };
	struct reaper *reaper = reaper_new();
	pid_t pids[40];

	(void)state;
	for (int i = 0; i < 40; i++) {
		pids[i] = start_waiting();
		reaper_watch(reaper, pids[i], hear, &heard[i]);
	}
	for (int i = 0; i < 40; i += 3)
		reaper_forget(reaper, pids[i]);
	for (int i = 0; i < 40; i++)
		kill(pids[i], SIGKILL);
	reap_all(reaper);
	for (int i = 0; i < 40; i++) {
		assert_int_equal(heard[i].times, i % 3 != 0);
		if (heard[i].times)
			assert_int_equal(WTERMSIG(heard[i].status), SIGKILL);
	}
	reaper_free(reaper);
}

static void what_it_left_in_its_group_goes_with_it(void **state)
{
	struct heard heard = { 0 };
	struct reaper *reaper = reaper_new();
	char byte;
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		if (fork() == 0)
			for (;;)
				pause();
		_exit(0);
	}
	assert_true(pid > 0);
	close(ends[1]);
	reaper_watch(reaper, pid, hear, &heard);
	for (int i = 0; i < 30000 && !heard.times; i++) {
		reaper_run(reaper);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	assert_int_equal(heard.times, 1);
	/* The child had the other end of the pipe. */
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	reap_all(reaper);
	reaper_free(reaper);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_heard_once_with_its_status),
		cmocka_unit_test(
			others_are_reaped_and_those_forgotten_are_not_told),
		cmocka_unit_test(some_are_forgotten_in_the_middle),
		cmocka_unit_test(what_it_left_in_its_group_goes_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
