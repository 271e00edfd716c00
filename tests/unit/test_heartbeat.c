/* SPDX-License-Identifier: Apache-2.0 */
/* Two guards of one run: that of a machine that was cut off, and that of the one
 * which has taken the run over meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/store/store.h"
#include "core/supervise/heartbeat.h"

struct fixture {
	char folder[64];
	int lock;
	struct error err;
};

static int set_up(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	char *path;

	snprintf(f->folder, sizeof(f->folder), "/tmp/jobrun-test-XXXXXX");
	if (!mkdtemp(f->folder))
		return -1;
	path = path_join(f->folder, STORE_RUN_LOCK);
	f->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	free(path);
	*state = f;
	return f->lock >= 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	close(f->lock);
	folder_remove(f->folder, &f->err);
	free(f);
	return 0;
}

/* A guard in a process of its own begins to beat. */
static void another_begins(const struct fixture *f)
{
	struct heartbeat guard = { 0 };
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(heartbeat_beat(&guard, f->lock) ? 1 : 0);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void a_guard_beats_until_another_does(void **state)
{
	const struct fixture *f = *state;
	struct heartbeat guard = { 0 };

	assert_int_equal(heartbeat_beat(&guard, f->lock), 0);
	assert_int_equal(heartbeat_beat(&guard, f->lock), 0);
	assert_false(heartbeat_is_anothers(&guard, f->lock));
	assert_true(heartbeat_age_ms(f->folder) >= 0);
	another_begins(f);
	assert_int_equal(heartbeat_beat(&guard, f->lock), SIGKILL);
	assert_true(heartbeat_is_anothers(&guard, f->lock));
}

/* Where locks are not seen, the file may be another one by now. */
static void the_lock_may_be_another_file(void **state)
{
	const struct fixture *f = *state;
	char *path = path_join(f->folder, STORE_RUN_LOCK);
	struct heartbeat guard = { 0 };

	assert_int_equal(heartbeat_beat(&guard, f->lock), 0);
	assert_int_equal(unlink(path), 0);
	another_begins(f);
	assert_int_equal(heartbeat_beat(&guard, f->lock), SIGKILL);
	free(path);
}

static void a_cancel_is_heard_by_the_one_that_beats(void **state)
{
	struct fixture *f = *state;
	struct heartbeat guard = { 0 };

	assert_int_equal(heartbeat_beat(&guard, f->lock), 0);
	assert_int_equal(heartbeat_ask_end(f->folder, false, &f->err), 0);
	assert_int_equal(heartbeat_beat(&guard, f->lock), SIGTERM);
	assert_int_equal(heartbeat_beat(&guard, f->lock), 0);
	assert_int_equal(heartbeat_ask_end(f->folder, true, &f->err), 0);
	assert_int_equal(heartbeat_beat(&guard, f->lock), SIGINT);
}

/* An empty file is an older version's, which names nobody. */
static void a_word_without_a_name_is_nobodys(void **state)
{
	struct fixture *f = *state;
	char *path = path_join(f->folder, "beats");
	struct heartbeat guard = { 0 };

	assert_int_equal(heartbeat_beat(&guard, f->lock), 0);
	assert_int_equal(file_write(path, "", 0, &f->err), 0);
	assert_int_equal(heartbeat_beat(&guard, f->lock), 0);
	free(path);
}

/* Where nothing can be written, the word found is that of the guard before. */
static void a_full_disk_is_not_another_guard(void **state)
{
	const struct fixture *f = *state;
	struct heartbeat guard = { 0 };
	struct rlimit before, none;

	another_begins(f);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_int_equal(heartbeat_beat(&guard, f->lock), 0);
	assert_false(guard.is_named);
	assert_false(heartbeat_is_anothers(&guard, f->lock));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	/* It is said as soon as it can be. */
	assert_int_equal(heartbeat_beat(&guard, f->lock), 0);
	assert_true(guard.is_named);
	another_begins(f);
	assert_int_equal(heartbeat_beat(&guard, f->lock), SIGKILL);
}

static void a_machine_may_get_another_name(void **state)
{
	const struct fixture *f = *state;
	struct heartbeat guard = { 0 };
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		if (unshare(CLONE_NEWUTS) < 0)
			_exit(77);
		if (heartbeat_beat(&guard, f->lock) != 0)
			_exit(1);
		if (sethostname("renamed", strlen("renamed")) < 0)
			_exit(77);
		_exit(heartbeat_beat(&guard, f->lock) ? 1 : 0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	/* It takes the right to have a name of one's own. */
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_guard_beats_until_another_does),
		TEST(the_lock_may_be_another_file),
		TEST(a_cancel_is_heard_by_the_one_that_beats),
		TEST(a_word_without_a_name_is_nobodys),
		TEST(a_full_disk_is_not_another_guard),
		TEST(a_machine_may_get_another_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
