/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kill -9` of whoever waits for devices, takes, holds or returns them, before
 * and after each of its system calls in turn, while others do the same: no
 * device has two holders, and none is lost.  With JOBRUN_TEST_ALL=1 there are
 * 10,000 kills.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/device/device_queue.h"
#include "core/device/lease.h"
#include "tests/support/sample.h"
#include "tests/support/skip.h"

#define DEVICES 4
#define OTHERS 2
#define KILLS 10000
#define FEW 80 /* the part of them that `make test` takes */
#define WAIT_MS 60000

static const char *const names[DEVICES] = { "gpu-0", "gpu-1", "gpu-2",
					    "gpu-3" };

/* What the processes of the test share. */
static struct {
	_Atomic long turns[OTHERS]; /* how often each has held devices */
	_Atomic long twice;         /* how often one was held by two */
	_Atomic bool over;
} * shared;

static char *folder;

/* ---- a process that holds devices ---- */

struct holder {
	struct loop *loop;
	size_t need;
};

/* Only one process can have the lock of a device's own file. */
static void on_ready(void *arg, const size_t *taken)
{
	struct holder *holder = arg;
	int files[DEVICES];
	size_t i;

	for (i = 0; i < holder->need; i++) {
		char *path = mem_printf("%s/held-%zu", folder, taken[i]);

		files[i] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (flock(files[i], LOCK_EX | LOCK_NB) < 0)
			shared->twice++;
		free(path);
	}
	for (i = 0; i < holder->need; i++)
		close(files[i]);
	loop_stop(holder->loop);
}

static void on_waits(void *arg, const char *what)
{
	(void)arg;
	(void)what;
}

/* Waits for so many devices, holds and returns them. */
static void hold(size_t need, int64_t time_ms)
{
	struct error err = { 0 };
	struct reaper *reaper = reaper_new();
	struct holder holder = { .loop = loop_new(&err), .need = need };
	struct device_queue_deps deps = {
		.loop = holder.loop,
		.reaper = reaper,
		.folder = folder,
		.leases = lease_open(folder, &err),
		.run = "j.1",
		.create_time_ms = time_ms,
		.names = names,
		.labels = names,
		.count = DEVICES,
		.need = need,
		.share = true,
		.ready = on_ready,
		.waits = on_waits,
		.arg = &holder,
	};
	struct device_queue *queue = device_queue_join(&deps, &err);

	if (!queue || loop_run(holder.loop, &err) < 0)
		_exit(1);
	device_queue_leave(queue);
	close(deps.leases);
	loop_free(holder.loop);
	reaper_free(reaper);
}

static pid_t start_other(int i)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	while (!shared->over) {
		hold(1 + (size_t)i, time(NULL) * INT64_C(1000));
		shared->turns[i]++;
	}
	_exit(0);
}

/* ---- who kills ---- */

/* Starts a holder that stops at each of its system calls. */
static pid_t start_victim(size_t need)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(77);
		raise(SIGSTOP);
		hold(need, 0);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSTOPPED(status) ? pid : 0;
}

/* Lets it make so many halves of system calls, and kills it there.  False: it
 * has ended before. */
static bool kill_at(pid_t pid, int stops)
{
	int status = 0;

	while (stops-- > 0) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status)) {
			assert_true(WIFEXITED(status));
			assert_int_equal(WEXITSTATUS(status), 0);
			return false;
		}
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return true;
}

/* Waits until each of the others has held devices once more. */
static void await_others(void)
{
	struct timespec pause = { .tv_nsec = 200000 };
	int i, left = WAIT_MS * 5;

	for (i = 0; i < OTHERS; i++) {
		long before = shared->turns[i];

		while (shared->turns[i] == before && left-- > 0)
			nanosleep(&pause, NULL);
		assert_true(shared->turns[i] > before);
	}
}

static void no_device_has_two_holders_and_none_is_lost(void **state)
{
	int kills = 0, stops = 0, i, leases;
	size_t need = 1;
	pid_t others[OTHERS], victim;
	struct error err = { 0 };

	(void)state;
	victim = start_victim(1);
	if (!victim)
		skip_because(__func__, "ptrace is not allowed here");
	kill_at(victim, 0);
	for (i = 0; i < OTHERS; i++)
		others[i] = start_other(i);
	while (kills < KILLS / sample_step(FEW)) {
		stops += sample_step(7);
		if (kill_at(start_victim(need), stops)) {
			kills++;
		} else {
			stops = kills % 7;
			need = need % DEVICES + 1;
		}
		if (kills % 50 == 0)
			await_others();
	}
	await_others();
	shared->over = true;
	for (i = 0; i < OTHERS; i++)
		assert_int_equal(waitpid(others[i], NULL, 0), others[i]);
	assert_int_equal(shared->twice, 0);
	leases = lease_open(folder, &err);
	for (i = 0; i < DEVICES; i++)
		assert_true(lease_take(leases, names[i]));
	close(leases);
	print_message("%d kills, %ld turns of others\n", kills,
		      shared->turns[0] + shared->turns[1]);
}

/* Lets it go on until it has the lease. */
static void run_until_taken(pid_t pid, int leases, const char *name)
{
	int status;

	while (!lease_is_taken(leases, name)) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
	}
}

/* Two have seen all devices free: one takes two of four, the other the last
 * one, and waits for the first. */
static void who_gets_too_few_gives_them_back(void **state)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	struct error err = { 0 };
	int left = WAIT_MS, status = 0, leases;
	pid_t victim = start_victim(DEVICES);

	(void)state;
	if (!victim)
		skip_because(__func__, "ptrace is not allowed here");
	leases = lease_open(folder, &err);
	assert_true(leases >= 0);
	run_until_taken(victim, leases, names[1]);
	assert_true(lease_take(leases, names[DEVICES - 1]));
	assert_false(lease_take(leases, names[0]));
	assert_int_equal(ptrace(PTRACE_DETACH, victim, NULL, NULL), 0);
	while (!lease_take(leases, names[0]) && left-- > 0)
		nanosleep(&pause, NULL);
	assert_true(left > 0);
	/* With all of them free again, it gets them. */
	close(leases);
	assert_int_equal(waitpid(victim, &status, 0), victim);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(shared->twice, 0);
}

static int set_up(void **state)
{
	char template[] = "/tmp/test_lease_kill.XXXXXX";

	(void)state;
	folder = mem_strdup(mkdtemp(template));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED ? -1 : 0;
}

static int tear_down(void **state)
{
	struct error err;

	(void)state;
	munmap(shared, sizeof(*shared));
	assert_int_equal(folder_remove(folder, &err), 0);
	free(folder);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			no_device_has_two_holders_and_none_is_lost, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			who_gets_too_few_gives_them_back, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
