/* SPDX-License-Identifier: Apache-2.0 */
/* The process of the saver, killed before and after everything that it does in
 * a store, and with stores that fail, lie and fill up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/checkpoint/checkpoint_store.h"
#include "core/checkpoint/saver.h"
#include "providers/google/storage/storage_objects.h"
#include "providers/stores.h"
#include "tests/support/stand_in.h"

#define CONTENTS_SIZE 3000

/* What goes wrong in the store, set for the process of the saver. */
enum trouble {
	TROUBLE_NONE,
	TROUBLE_KILL,   /* before the nth call, or after it */
	TROUBLE_FAIL,   /* the first n writing calls */
	TROUBLE_CHANGE, /* the trainer rewrites the file, n times */
	TROUBLE_REMOVE, /* the trainer removes the file */
};

static struct {
	enum trouble trouble;
	int n;
	int calls;
	char path[128]; /* path of the changed file */
} world;

struct place {
	char base[64];
	char directory[96];
	char store[96];
	struct arena *mem;
	struct error err;
	int said; /* what the saver writes */
	int told;
	pid_t pid;
};

static int make_place(void **state)
{
	struct place *p = mem_alloc(sizeof(*p));

	/* Use memory if possible: it waits for the disk hundreds of times,
	 * which tests nothing. */
	snprintf(p->base, sizeof(p->base), "%s/jobrun-test.XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	assert_non_null(mkdtemp(p->base));
	snprintf(p->directory, sizeof(p->directory), "%s/out", p->base);
	snprintf(p->store, sizeof(p->store), "%s/kept", p->base);
	p->mem = arena_new();
	memset(&world, 0, sizeof(world));
	*state = p;
	return 0;
}

static int remove_place(void **state)
{
	struct place *p = *state;

	assert_int_equal(folder_remove(p->base, &p->err), 0);
	arena_free(p->mem);
	free(p);
	return 0;
}

static void fill(char text[CONTENTS_SIZE + 1], int step)
{
	int len = snprintf(text, 20, "step %d ", step);

	memset(text + len, 'a' + step % 26, (size_t)(CONTENTS_SIZE - len));
	text[CONTENTS_SIZE] = '\0';
}

/* Writes "ckpt-7.pt" as a careful trainer does. */
static void save(struct place *p, int step)
{
	char text[CONTENTS_SIZE + 1], tmp[160], path[160];
	FILE *file;

	fill(text, step);
	snprintf(tmp, sizeof(tmp), "%s/ckpt-%d.pt.tmp", p->directory, step);
	snprintf(path, sizeof(path), "%s/ckpt-%d.pt", p->directory, step);
	file = fopen(tmp, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(rename(tmp, path), 0);
}

static void change(void)
{
	FILE *file = fopen(world.path, "a");

	fputs("more", file);
	fclose(file);
}

static void before(bool writes)
{
	world.calls++;
	if (world.trouble == TROUBLE_KILL && world.calls == world.n)
		kill(getpid(), SIGKILL);
	if (writes && world.trouble == TROUBLE_CHANGE && world.n-- > 0)
		change();
	if (writes && world.trouble == TROUBLE_REMOVE && world.n-- > 0)
		unlink(world.path);
}

static void after(void)
{
	world.calls++;
	if (world.trouble == TROUBLE_KILL && world.calls == world.n)
		kill(getpid(), SIGKILL);
}

static int troubled_read(void *ctx, const struct object *object,
			 uint64_t offset, uint64_t len, object_sink *sink,
			 void *arg, struct error *err)
{
	int ret;

	before(false);
	ret = object_scheme_folder.read(ctx, object, offset, len, sink, arg,
					err);
	after();
	return ret;
}

static int troubled_put(void *ctx, const char *url, int fd,
			const struct object_put *how, struct arena *mem,
			struct object *out, struct error *err)
{
	int ret;

	before(true);
	if (world.trouble == TROUBLE_FAIL && world.n-- > 0)
		return error_set(err, ERROR_UNREACHABLE, "the link is down");
	ret = object_scheme_folder.put(ctx, url, fd, how, mem, out, err);
	after();
	return ret;
}

static int troubled_list(void *ctx, const char *folder, object_each *each,
			 void *arg, struct error *err)
{
	int ret;

	before(false);
	ret = object_scheme_folder.list(ctx, folder, each, arg, err);
	after();
	return ret;
}

static int troubled_remove(void *ctx, const char *url, struct error *err)
{
	int ret;

	before(false);
	ret = object_scheme_folder.remove(ctx, url, err);
	after();
	return ret;
}

static const struct object_scheme *const *schemes(void)
{
	static struct object_scheme troubled;
	static const struct object_scheme *all[] = { &object_scheme_google,
						     &troubled, NULL };

	troubled = object_scheme_folder;
	troubled.read = troubled_read;
	troubled.put = troubled_put;
	troubled.list = troubled_list;
	troubled.remove = troubled_remove;
	return all;
}

static void tell(struct place *p, char *line)
{
	fd_write(p->told, line, strlen(line));
	free(line);
}

/* Starts a saver; returns as a new string what the trainer would resume from,
 * or NULL. */
static char *start(struct place *p, const struct saver_config *more)
{
	static const struct retry_policy quick = { .first_ms = 10,
						   .max_ms = 40,
						   .total_ms = 200 };
	static const struct object_env env = { .retry = &quick };
	struct saver_config config = *more;
	struct saver_process saver;
	struct object_store *objects;
	int in[2], out[2];
	char *path = NULL;
	int status;

	config.directory = p->directory;
	config.fetched =
		arena_printf(p->mem, "%s/.jobrun-resume", p->directory);
	config.events = arena_printf(p->mem, "%s/events", p->base);
	if (!config.to)
		config.to = p->store;
	if (!config.keep)
		config.keep = 2;
	if (!config.quiet_s)
		config.quiet_s = 3600;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	p->pid = fork();
	if (p->pid == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		closefrom(3);
		objects = object_store_new(schemes(), &env);
		status = saver_main(objects);
		object_store_free(objects);
		_exit(status);
	}
	close(in[0]);
	close(out[1]);
	p->told = in[1];
	p->said = out[0];
	tell(p, saver_config_write(&config));
	saver = (struct saver_process){ p->pid, p->told, p->said };
	/* 1: it was killed before it answered. */
	if (saver_hear(&saver, &path, &p->err) < 0)
		path = mem_printf("error: %s", p->err.text);
	return path;
}

/* Ends the trainer; returns the status of the saver. */
static int end(struct place *p, bool well)
{
	const struct saver_end how = { .ended_ms = time_monotonic_ms(),
				       .well = well,
				       .patience_s = 1 };
	int status;

	tell(p, saver_end_write(&how));
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	close(p->told);
	close(p->said);
	return status;
}

/* Checks that everything that counts as a checkpoint is complete; returns the
 * step of the newest, or 0. */
static int newest_kept(struct place *p, const char *url)
{
	static const struct object_env env = { 0 };
	struct object_store *objects = object_store_new(object_schemes, &env);
	struct checkpoint_store *store = checkpoint_store_open(objects, url);
	const char *to = arena_printf(p->mem, "%s/check", p->base);
	const struct checkpoint *all;
	char expected[CONTENTS_SIZE + 1], *text;
	size_t count, len;
	int newest = 0;

	assert_int_equal(checkpoint_store_read(store, NULL, NULL, &p->err), 0);
	all = checkpoint_store_all(store, &count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(
			checkpoint_store_get(store, &all[i], to, &p->err), 0);
		text = file_read(arena_printf(p->mem, "%s/%s", to, all[i].name),
				 CONTENTS_SIZE + 10, &len, &p->err);
		assert_non_null(text);
		fill(expected, (int)all[i].step);
		assert_string_equal(text, expected);
		free(text);
		if (all[i].step > newest)
			newest = (int)all[i].step;
	}
	checkpoint_store_close(store);
	object_store_free(objects);
	return newest;
}

static bool has_said(struct place *p, const char *what)
{
	size_t len;
	char *text = file_read(arena_printf(p->mem, "%s/events", p->base),
			       1 << 20, &len, &p->err);
	bool has = text && strstr(text, what);

	free(text);
	return has;
}

/* Waits until the step is stored, or the saver has been killed. */
static void wait_until_kept(struct place *p, int step)
{
	char what[64];
	siginfo_t info = { 0 };

	snprintf(what, sizeof(what), "'ckpt-%d.pt' is uploaded", step);
	while (!has_said(p, what)) {
		waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT);
		if (info.si_pid)
			return;
		usleep(1000);
	}
}

static void expect_path(struct place *p, char *path, const char *end_of_it)
{
	if (!end_of_it)
		assert_null(path);
	else if (!path || !text_ends(path, end_of_it))
		fail_msg("'%s' is not '%s'", path ? path : "", end_of_it);
	(void)p;
	free(path);
}

/* Saves four checkpoints, of which two stay; then goes on with another run. */
static bool run_killed_at(struct place *p, int n)
{
	struct saver_config config = { 0 };
	int status, newest;
	bool survived;

	world.trouble = TROUBLE_KILL;
	world.n = n;
	free(start(p, &config));
	for (int step = 1; step <= 3; step++) {
		save(p, step);
		wait_until_kept(p, step);
	}
	save(p, 4);
	status = end(p, true);
	survived = WIFEXITED(status);
	newest = newest_kept(p, p->store);
	if (survived)
		assert_int_equal(newest, 4);
	/* First a restart on the same machine, */
	world.trouble = TROUBLE_NONE;
	free(start(p, &config));
	save(p, 5);
	assert_int_equal(end(p, true), 0);
	assert_int_equal(newest_kept(p, p->store), 5);
	/* then a restart on another machine. */
	assert_int_equal(folder_remove(p->directory, &p->err), 0);
	expect_path(p, start(p, &config), "/.jobrun-resume/ckpt-5.pt");
	assert_int_equal(end(p, true), 0);
	assert_int_equal(folder_remove(p->directory, &p->err), 0);
	assert_int_equal(folder_remove(p->store, &p->err), 0);
	unlink(arena_printf(p->mem, "%s/events", p->base));
	return survived;
}

static void a_killed_keeper_leaves_no_half_checkpoint(void **state)
{
	struct place *p = *state;
	int n = 0;

	signal(SIGPIPE, SIG_IGN);
	do {
		n++;
	} while (!run_killed_at(p, n));
	/* The saver was killed at every one of its calls. */
	assert_in_range(n, 15, 60);
	print_message("killed %d times\n", n - 1);
}

static void a_failing_store_is_tried_again_and_shown(void **state)
{
	struct place *p = *state;
	struct saver_config config = { 0 };

	world.trouble = TROUBLE_FAIL;
	world.n = 1;
	expect_path(p, start(p, &config), NULL);
	save(p, 1);
	wait_until_kept(p, 1);
	assert_true(has_said(
		p, "'ckpt-1.pt' is not uploaded yet: the link is down"));
	assert_int_equal(newest_kept(p, p->store), 1);
	assert_int_equal(end(p, true), 0);
}

static void one_that_fails_for_good_is_given_up(void **state)
{
	struct place *p = *state;
	struct saver_config config = { 0 };

	world.trouble = TROUBLE_FAIL;
	world.n = 1000;
	expect_path(p, start(p, &config), NULL);
	save(p, 1);
	assert_int_equal(WEXITSTATUS(end(p, true)), 1);
	assert_true(has_said(p,
			     "'ckpt-1.pt' could not be uploaded: the link is "
			     "down"));
	assert_int_equal(newest_kept(p, p->store), 0);
	/* The checkpoint is still here, and not forgotten. */
	world.trouble = TROUBLE_NONE;
	expect_path(p, start(p, &config), "/out/ckpt-1.pt");
	assert_int_equal(end(p, false), 0);
	assert_int_equal(newest_kept(p, p->store), 1);
}

static void what_changes_while_it_is_copied_does_not_count(void **state)
{
	struct place *p = *state;
	struct saver_config config = { 0 };

	world.trouble = TROUBLE_CHANGE;
	world.n = 1;
	snprintf(world.path, sizeof(world.path), "%s/ckpt-1.pt", p->directory);
	expect_path(p, start(p, &config), NULL);
	save(p, 1);
	/* The trainer was killed while it wrote. */
	assert_int_equal(end(p, false), 0);
	assert_int_equal(newest_kept(p, p->store), 0);
	world.trouble = TROUBLE_NONE;
	expect_path(p, start(p, &config), NULL);
	assert_true(has_said(
		p, "'ckpt-1.pt' does not count: its trainer may have ended "
		   "while writing it"));
	save(p, 1);
	assert_int_equal(end(p, false), 0);
	assert_int_equal(newest_kept(p, p->store), 1);
}

static void what_is_removed_while_it_is_copied_is_let_go(void **state)
{
	struct place *p = *state;
	struct saver_config config = { 0 };

	world.trouble = TROUBLE_REMOVE;
	world.n = 1;
	snprintf(world.path, sizeof(world.path), "%s/ckpt-1.pt", p->directory);
	expect_path(p, start(p, &config), NULL);
	save(p, 1);
	assert_int_equal(end(p, true), 0);
	assert_int_equal(newest_kept(p, p->store), 0);
	assert_false(has_said(p, "is not uploaded yet"));
}

static void a_full_disk_keeps_what_there_was(void **state)
{
	struct place *p = *state;
	struct saver_config config = { 0 };
	struct rlimit before_it, small = { .rlim_cur = CONTENTS_SIZE - 1 };

	expect_path(p, start(p, &config), NULL);
	save(p, 1);
	assert_int_equal(end(p, true), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before_it);
	small.rlim_max = before_it.rlim_max;
	setrlimit(RLIMIT_FSIZE, &small);
	expect_path(p, start(p, &config), "/out/ckpt-1.pt");
	setrlimit(RLIMIT_FSIZE, &before_it);
	save(p, 2);
	assert_int_equal(WEXITSTATUS(end(p, true)), 1);
	assert_true(
		has_said(p, "'ckpt-2.pt' is not uploaded yet: cannot write"));
	assert_int_equal(newest_kept(p, p->store), 1);
	expect_path(p, start(p, &config), "/out/ckpt-2.pt");
	assert_int_equal(end(p, true), 0);
	assert_int_equal(newest_kept(p, p->store), 2);
}

static void broken_ones_are_passed_over(void **state)
{
	struct place *p = *state;
	struct saver_config config = { 0 };

	free(start(p, &config));
	save(p, 1);
	wait_until_kept(p, 1);
	save(p, 2);
	assert_int_equal(end(p, true), 0);
	assert_int_equal(folder_remove(p->directory, &p->err), 0);
	snprintf(world.path, sizeof(world.path), "%s/00000002/ckpt-2.pt",
		 p->store);
	assert_int_equal(truncate(world.path, CONTENTS_SIZE - 4), 0);
	change(); /* same size, another end */
	expect_path(p, start(p, &config), "/.jobrun-resume/ckpt-1.pt");
	assert_true(has_said(p, "00000002 does not count: "));
	assert_int_equal(end(p, true), 0);
}

static void without_its_store_a_run_does_not_begin_anew(void **state)
{
	struct place *p = *state;
	struct saver_config config = { .to = "gs://b/c" };
	char *path;
	int status;

	setenv("STORAGE_EMULATOR_HOST", "http://127.0.0.1:9", 1);
	path = start(p, &config);
	unsetenv("STORAGE_EMULATOR_HOST");
	assert_non_null(path);
	assert_true(text_starts(path, "error: cannot look for checkpoints: "));
	free(path);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	assert_int_equal(WEXITSTATUS(status), 1);
	close(p->told);
	close(p->said);
}

static void who_is_left_alone_ends(void **state)
{
	struct place *p = *state;
	struct saver_config config = { 0 };
	int status;

	expect_path(p, start(p, &config), NULL);
	close(p->told);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	close(p->said);
}

/* The same in a bucket, with lost requests, and a saver that is killed during a
 * request. */
static void an_interrupted_upload_does_not_count(void **state)
{
	/* The first five faults kill the saver. */
	static const char *const faults[] = {
		"'do': 'kill', 'method': 'POST'",
		"'do': 'kill-after', 'method': 'POST'",
		"'do': 'kill', 'path': 'upload'",
		"'do': 'kill-after', 'path': 'upload'",
		"'do': 'kill', 'path': 'upload', 'nth': 2",
		"'do': 'cut-request', 'path': 'upload'",
		"'do': 'drop-answer', 'path': 'upload', 'nth': 2",
		"'do': 'status', 'status': 503, 'method': 'POST', 'count': 3",
	};
	struct place *p = *state;
	struct stand_in server;
	char url[32], fault[256], pid[32];

	stand_in_start(&server, 0);
	setenv("STORAGE_EMULATOR_HOST", server.base, 1);
	setenv("GOOGLE_APPLICATION_CREDENTIALS",
	       stand_in_file(&server, "service_account.json"), 1);
	for (int i = 0; i < (int)COUNT(faults); i++) {
		struct saver_config config = { .to = url };
		const char *file;
		int status;

		snprintf(url, sizeof(url), "gs://b%d/ckpt/job", i);
		expect_path(p, start(p, &config), NULL);
		file = stand_in_file(&server, "pid");
		snprintf(fault, sizeof(fault), "[{%s, 'pid-file': '%s'}]",
			 faults[i], file);
		snprintf(pid, sizeof(pid), "%d", (int)p->pid);
		assert_int_equal(file_write(file, pid, strlen(pid), &p->err),
				 0);
		stand_in_tell(&server, "faults", fault);
		save(p, 1);
		status = end(p, true);
		assert_int_equal(WIFSIGNALED(status), i < 5);
		assert_int_equal(newest_kept(p, url), i < 5 ? 0 : 1);
		stand_in_tell(&server, "faults", "[]");
		free(start(p, &config));
		assert_int_equal(end(p, true), 0);
		assert_int_equal(newest_kept(p, url), 1);
		assert_int_equal(folder_remove(p->directory, &p->err), 0);
		expect_path(p, start(p, &config), "/.jobrun-resume/ckpt-1.pt");
		assert_int_equal(end(p, true), 0);
		assert_int_equal(folder_remove(p->directory, &p->err), 0);
	}
	unsetenv("STORAGE_EMULATOR_HOST");
	unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
	stand_in_stop(&server);
}

#define IN_PLACE(test)                                                         \
	cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_PLACE(a_killed_keeper_leaves_no_half_checkpoint),
		IN_PLACE(a_failing_store_is_tried_again_and_shown),
		IN_PLACE(one_that_fails_for_good_is_given_up),
		IN_PLACE(what_changes_while_it_is_copied_does_not_count),
		IN_PLACE(what_is_removed_while_it_is_copied_is_let_go),
		IN_PLACE(a_full_disk_keeps_what_there_was),
		IN_PLACE(broken_ones_are_passed_over),
		IN_PLACE(without_its_store_a_run_does_not_begin_anew),
		IN_PLACE(who_is_left_alone_ends),
		IN_PLACE(an_interrupted_upload_does_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
