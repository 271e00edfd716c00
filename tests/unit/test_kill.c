/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kill -9` of apply before and after every provider call and every write of
 * the journal, followed by another apply: the end is as if it had not been
 * interrupted.  The points are enumerated: each child dies at the next one,
 * until one does not.  `make test` takes every seventh point with another
 * offset in each deed: actions have four or eight points, so that each kind of
 * point is among them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/apply/executor.h"
#include "core/apply/lock.h"
#include "core/apply/resume.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/plan/plan_file.h"
#include "providers/fake/call.h"
#include "providers/registry.h"
#include "schema/tables/tables.h"
#include "tests/support/sample.h"

const struct provider *const providers[] = { &provider_fake, NULL };

/* Calls of the provider and writes of the journal count points here. */
static atomic_int points_passed;
static int kill_at; /* 0: never */

/* The provider logs what it did after doing it.  A kill waits for calls in
 * other threads, or the count would not be exact. */
static pthread_rwlock_t in_call = PTHREAD_RWLOCK_INITIALIZER;

static void point(void)
{
	if (atomic_fetch_add(&points_passed, 1) + 1 != kill_at)
		return;
	pthread_rwlock_wrlock(&in_call);
	raise(SIGKILL);
}

static void enter_call(void)
{
	point();
	pthread_rwlock_rdlock(&in_call);
}

static int leave_call(int ret)
{
	pthread_rwlock_unlock(&in_call);
	point();
	return ret;
}

static const struct kind *real(const struct resource *it)
{
	return it->kind->flags & KIND_RUN ? &fake_kind_run : &fake_kind_thing;
}

static int hook_read(void *ctx, const struct resource *want,
		     struct resource *found, struct error *err)
{
	enter_call();
	return leave_call(real(want)->read(ctx, want, found, err));
}

static int hook_create(void *ctx, const struct resource *want,
		       struct error *err)
{
	enter_call();
	return leave_call(real(want)->create(ctx, want, err));
}

static int hook_update(void *ctx, const struct resource *want,
		       struct error *err)
{
	enter_call();
	return leave_call(real(want)->update(ctx, want, err));
}

static int hook_delete(void *ctx, const struct resource *have,
		       struct error *err)
{
	enter_call();
	return leave_call(real(have)->delete (ctx, have, err));
}

static int hook_wait(void *ctx, const struct resource *have,
		     enum wait_state *state, struct error *err)
{
	enter_call();
	return leave_call(real(have)->wait(ctx, have, state, err));
}

static int hook_cancel(void *ctx, const struct resource *have, bool now,
		       struct error *err)
{
	enter_call();
	return leave_call(real(have)->cancel(ctx, have, now, err));
}

static int hook_begin(void *arg, const struct action *action,
		      char once[INTENT_ONCE_MAX], struct error *err)
{
	const struct journal *journal = arg;
	int ret;

	point();
	ret = journal->begin(journal->arg, action, once, err);
	point();
	return ret;
}

static int hook_applied(void *arg, const struct action *action,
			const struct resource *it, struct error *err)
{
	const struct journal *journal = arg;
	int ret;

	point();
	ret = journal->applied(journal->arg, action, it, err);
	point();
	return ret;
}

static void hook_end(void *arg, const struct action *action,
		     enum intent_outcome outcome, const struct error *why)
{
	const struct journal *journal = arg;

	point();
	journal->end(journal->arg, action, outcome, why);
	point();
}

/* Returns a kind of the fake provider with a point before and after each
 * call. */
static struct kind hooked(const struct kind *kind)
{
	struct kind out = *kind;

	out.read = hook_read;
	out.create = hook_create;
	out.update = kind->update ? hook_update : NULL;
	out.delete = hook_delete;
	out.wait = hook_wait;
	out.cancel = kind->cancel ? hook_cancel : NULL;
	return out;
}

struct scene {
	char folder[64];
	struct job job;
	struct fake_block block;
	struct job_block blocks[1];
	const char *texts[2];
	bool deletes; /* this is a deletion */
	enum { SAVED_NOT, SAVED_MAKES, SAVED_APPLIES } saved;
	bool detach;
	int cancel_at; /* at which phase change; 0: never */
};

static void scene_set_block(struct scene *scene)
{
	scene->block.fail_at.items = scene->texts;
	scene->blocks[0] = (struct job_block){ .name = "fake",
					       .message = &fake_message,
					       .data = &scene->block };
	scene->job.message = &message_job;
	scene->job.jobrun.provider = "fake";
	scene->job.jobrun.blocks = scene->blocks;
	scene->job.jobrun.block_count = 1;
}

static void scene_init(struct scene *scene, long resources)
{
	/* Use memory if possible, as there are thousands of files. */
	bool memory = access("/dev/shm", W_OK) == 0;

	memset(scene, 0, sizeof(*scene));
	snprintf(scene->folder, sizeof(scene->folder), "%s/test_kill.XXXXXX",
		 memory ? "/dev/shm" : "/tmp");
	assert_non_null(mkdtemp(scene->folder));
	scene->block = (struct fake_block){ .resources = resources,
					    .width = 4,
					    .color = "red",
					    .size = 1,
					    .world = "world" };
	scene->job.job_id = "job";
	scene->job.folder = scene->folder;
	strcpy(scene->job.digest.hex, "d1");
	scene_set_block(scene);
	assert_int_equal(setenv("JOBRUN_STATE_DIR", scene->folder, 1), 0);
}

static void scene_done(struct scene *scene)
{
	struct error err;

	assert_int_equal(folder_remove(scene->folder, &err), 0);
}

static void *context(void *arg, const struct provider *provider)
{
	(void)provider;
	return arg;
}

struct settling {
	struct lock_set *locks;
	void *ctx;
	struct executor *executor;
	int phases_left; /* until the cancel */
};

static void on_phase(void *arg, const struct action *action,
		     enum action_phase phase, const struct run_status *status,
		     const struct error *err)
{
	struct settling *settling = arg;

	(void)action;
	(void)phase;
	(void)status;
	(void)err;
	if (settling->phases_left && --settling->phases_left == 0)
		executor_cancel(settling->executor, false);
}

static void *settling_context(void *arg, const struct provider *provider)
{
	(void)provider;
	return ((struct settling *)arg)->ctx;
}

static void settled(void *arg, const struct plan_job *job)
{
	lock_set_release(((struct settling *)arg)->locks, job->job->job_id);
}

static int execute(struct plan *plan, struct store *store, bool detach,
		   struct settling *settling, struct error *err)
{
	struct journal real_journal = journal_in_store(store);
	struct journal journal = { .begin = hook_begin,
				   .applied = hook_applied,
				   .end = hook_end,
				   .arg = &real_journal };
	struct executor_options options = { .detach = detach,
					    .parallel = 4,
					    .retry_ms = 1,
					    .phase = on_phase,
					    .context = settling_context,
					    .settled = settled,
					    .journal = &journal,
					    .arg = settling };
	struct loop *loop = loop_new(err);
	struct executor *executor = executor_new(plan, loop, &options, err);
	int ret;

	settling->executor = executor;
	assert_int_equal(executor_start(executor, err), 0);
	assert_int_equal(loop_run(loop, err), 0);
	ret = executor_result(executor, err);
	executor_free(executor);
	loop_free(loop);
	return ret;
}

/* Does with the file what `jobrun plan --out` and `jobrun apply FILE` do.
 * Returns 0 to go on, 1 if there is nothing to do, or -1. */
static int use_saved(struct scene *scene, const struct plan *plan,
		     struct store *store, struct error *err)
{
	char *path = path_join(scene->folder, "saved");
	json_t *now = saved_json(plan, json_null(), err);
	json_t *saved = NULL, *progress = NULL;
	struct buf text = { 0 }, why = { 0 };
	struct digest id;
	int ret = -1;

	assert_non_null(now);
	if (scene->saved == SAVED_MAKES) {
		json_print(now, &text);
		ret = file_write(path, text.data, text.len, err) < 0 ? -1 : 1;
		goto out;
	}
	saved = json_load_file(path, 0, NULL);
	assert_non_null(saved);
	saved_id(saved, &id);
	progress = resume_progress(store, id.hex, err);
	assert_non_null(progress);
	store_name_plan(store, id.hex);
	switch (saved_compare(saved, now, progress, &why)) {
	case SAVED_SAME:
	case SAVED_RESUMES:
		ret = 0;
		break;
	case SAVED_APPLIED:
		ret = 1;
		break;
	case SAVED_STALE:
		ret = error_set(err, ERROR_TRY_AGAIN, "stale: %s",
				buf_text(&why));
		break;
	}
out:
	json_decref(now);
	json_decref(saved);
	json_decref(progress);
	buf_done(&text);
	buf_done(&why);
	free(path);
	return ret;
}

/* Does what one `jobrun apply` or `jobrun delete` does.  Returns -1 if it
 * failed, 1 if there was nothing to do. */
static int apply(struct scene *scene, int64_t lock_timeout_ms,
		 struct error *err)
{
	const struct kind thing = hooked(&fake_kind_thing);
	const struct kind run = hooked(&fake_kind_run);
	struct resources *desired = resources_new();
	struct plan *plan = plan_new();
	struct store *store = store_open(err);
	struct plan_options how = { .store = store };
	void *ctx = provider_fake.open(NULL, err);
	struct settling settling = { .ctx = ctx,
				     .phases_left = scene->cancel_at };
	struct resume_options resume = { .context = context, .arg = ctx };
	struct resource *found = NULL;
	char *locks = path_join(scene->folder, "locks");
	size_t i;
	int ret = -1;

	if (!store)
		goto out;
	settling.locks = lock_set_take(locks, &scene->job.job_id, 1,
				       lock_timeout_ms, NULL, NULL, err);
	if (!settling.locks)
		goto out;
	provider_fake.desire(&scene->job, NULL, desired, err);
	for (i = 0; i < desired->count; i++)
		desired->items[i]->kind =
			desired->items[i]->kind->flags & KIND_RUN ? &run
								  : &thing;
	found = resources_read(desired, ctx, err);
	if (!found)
		goto out;
	if (scene->deletes)
		plan_add_delete(plan, &provider_fake, &scene->job, desired,
				found, "as asked");
	else if (plan_add(plan, &provider_fake, &scene->job, desired, found,
			  &how, err) < 0)
		goto out;
	if (scene->saved) {
		ret = use_saved(scene, plan, store, err);
		if (ret)
			goto out;
		ret = -1;
	}
	if (resume_look(store, plan, &resume, err) < 0)
		goto out;
	ret = 1;
	if (!plan_is_empty(plan) || plan_follow_count(plan))
		ret = execute(plan, store, scene->detach, &settling, err);
out:
	plan_free(plan);
	resources_forget(found, desired->count);
	resources_free(desired);
	provider_fake.close(ctx);
	lock_set_free(settling.locks);
	store_close(store);
	free(locks);
	return ret;
}

enum how_it_ended {
	ENDED_WELL,
	ENDED_BADLY,
	ENDED_IDLE, /* nothing to do */
	ENDED_KILLED,
};

static enum how_it_ended reap(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return ENDED_KILLED;
	}
	return (enum how_it_ended)WEXITSTATUS(status);
}

static pid_t start(struct scene *scene, int at, int64_t lock_timeout_ms)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct error err;
		int ret;

		kill_at = at;
		atomic_store(&points_passed, 0);
		ret = apply(scene, lock_timeout_ms, &err);
		if (ret < 0 && !at && !scene->cancel_at)
			fprintf(stderr, "%s\n", err.text);
		_exit(ret < 0 ? ENDED_BADLY : ret ? ENDED_IDLE : ENDED_WELL);
	}
	return pid;
}

static enum how_it_ended in_child(struct scene *scene, int at)
{
	return reap(start(scene, at, 0));
}

static int not_dot(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Describes the relevant state of the world, and how often each action was
 * done. */
static void describe(const struct scene *scene, struct buf *out)
{
	static const char *const doings[] = { " made", " changed", " deleted",
					      " cancelled" };
	char *world = path_join(scene->folder, "world");
	char *path = path_join(world, "calls.log");
	int counts[COUNT(doings)] = { 0 };
	struct dirent **entries;
	int count = scandir(world, &entries, not_dot, alphasort);
	struct error err;
	char *text, *line, *save = NULL;
	size_t len, k;
	int i;

	assert_true(count > 0);
	for (i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (strcmp(name, "lock") != 0 && text_ends(name, ".json")) {
			char *file = path_join(world, name);
			json_t *value;

			text = file_read(file, 1 << 20, &len, &err);
			value = json_read(text, len, file, &err);
			assert_non_null(value);
			buf_printf(
				out, "%s %s %lld ", name,
				json_get_text(value, "digest", "-"),
				(long long)json_get_int(value, "attempt", 0));
			json_print(json_object_get(value, "properties"), out);
			buf_putc(out, '\n');
			json_decref(value);
			free(text);
			free(file);
		}
		free(entries[i]);
	}
	free(entries);
	text = file_read(path, 1 << 24, &len, &err);
	assert_non_null(text);
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		for (k = 0; k < COUNT(doings); k++)
			counts[k] += strstr(line, doings[k]) != NULL;
	for (k = 0; k < COUNT(doings); k++)
		buf_printf(out, "%d%s\n", counts[k], doings[k]);
	free(text);
	free(path);
	free(world);
}

/* Checks that no intent and no lock is left. */
static void check_nothing_is_open(const struct scene *scene)
{
	struct arena *mem = arena_new();
	char *locks = path_join(scene->folder, "locks");
	struct intent_list open;
	struct error err;
	struct store *store = store_open(&err);
	struct dirent **entries = NULL;

	assert_non_null(store);
	assert_int_equal(store_intent_list(store, mem, &open, &err), 0);
	if (open.count)
		fail_msg("%s %s is open", open.items[0].verb,
			 open.items[0].name);
	assert_int_equal(scandir(locks, &entries, not_dot, NULL), 0);
	free(entries);
	store_close(store);
	free(locks);
	arena_free(mem);
}

struct deed {
	const char *name;
	long resources;
	/* Changes a job that was applied to another one. */
	void (*before)(struct scene *scene); /* NULL: from nothing */
	void (*after)(struct scene *scene);
	int least;  /* points */
	bool saved; /* plan to a file, then apply that */
};

/* Applies the deed, killed at one point, then again without a kill. */
static bool is_killed_at(const struct deed *deed, int at, struct buf *end)
{
	struct scene scene;
	enum how_it_ended how;

	scene_init(&scene, deed->resources);
	if (deed->before) {
		deed->before(&scene);
		assert_int_not_equal(in_child(&scene, 0), ENDED_BADLY);
	}
	if (deed->after)
		deed->after(&scene);
	if (deed->saved) {
		scene.saved = SAVED_MAKES;
		assert_int_equal(in_child(&scene, 0), ENDED_IDLE);
		scene.saved = SAVED_APPLIES;
	}
	how = in_child(&scene, at);
	if (at) {
		enum how_it_ended again = in_child(&scene, 0);

		if (again != ENDED_WELL && again != ENDED_IDLE)
			fail_msg("%s: killed at %d, then %d", deed->name, at,
				 again);
	}
	assert_int_equal(in_child(&scene, 0), ENDED_IDLE);
	describe(&scene, end);
	check_nothing_is_open(&scene);
	scene_done(&scene);
	return how == ENDED_KILLED;
}

/* Fails with both texts from the first byte that differs. */
static void fail_differing(const struct deed *deed, int at, const char *end,
			   const char *want)
{
	while (*end == *want) {
		end++;
		want++;
	}
	fail_msg("%s, killed at %d: ...%.300s\ninstead of: ...%.300s",
		 deed->name, at, end, want);
}

static void enumerate(const struct deed *deed, int nth)
{
	int step = sample_step(7);
	struct buf want = { 0 };
	int64_t start_ms = time_monotonic_ms();
	bool killed;
	int at = 1 + nth % step - step;

	is_killed_at(deed, 0, &want);
	do {
		struct buf end = { 0 };

		at += step;
		killed = is_killed_at(deed, at, &end);
		if (strcmp(end.data, want.data) != 0)
			fail_differing(deed, at, end.data, want.data);
		buf_done(&end);
	} while (killed);
	print_message("%s: killed up to point %d, 1 of %d, %lld ms\n",
		      deed->name, at - step, step,
		      (long long)(time_monotonic_ms() - start_ms));
	assert_true(at > deed->least);
	buf_done(&want);
}

static void new_digest(struct scene *scene)
{
	strcpy(scene->job.digest.hex, "d2");
}

static void to_leave_running(struct scene *scene)
{
	scene->block.run_time = 600000;
	scene->detach = true;
}

static void to_end_and_replace(struct scene *scene)
{
	scene->block.run_time = 0;
	scene->block.size = 2;
	scene->detach = false;
	strcpy(scene->job.digest.hex, "d2");
}

static void linked(struct scene *scene)
{
	scene->block.linked = true;
	scene->block.width = 1;
}

static void to_update(struct scene *scene)
{
	scene->block.color = "blue";
	new_digest(scene);
}

static void to_replace(struct scene *scene)
{
	scene->block.size = 2;
	new_digest(scene);
}

static void to_delete(struct scene *scene)
{
	scene->deletes = true;
}

static void nothing(struct scene *scene)
{
	(void)scene;
}

static void killed_anywhere(void **state)
{
	static const struct deed deeds[] = {
		{ "create 30", 30, NULL, NULL, 2 * 31 * 4, false },
		{ "update 6", 6, nothing, to_update, 2 * 7 * 4, false },
		{ "replace 6", 6, nothing, to_replace, 2 * 7 * 4, false },
		{ "delete 6", 6, nothing, to_delete, 2 * 7 * 3, false },
		{ "end and replace 3", 3, to_leave_running, to_end_and_replace,
		  2 * 4 * 4, false },
		{ "delete 4, saved", 4, nothing, to_delete, 2 * 5 * 3, true },
		{ "create 4, saved", 4, NULL, NULL, 2 * 5 * 4, true },
		{ "create 4 linked, saved", 4, NULL, linked, 2 * 5 * 4, true },
		{ "update 4, saved", 4, nothing, to_update, 2 * 5 * 4, true },
		{ "replace 4, saved", 4, nothing, to_replace, 2 * 5 * 4, true },
		{ "replace 4 linked, saved", 4, linked, to_replace, 2 * 5 * 4,
		  true },
		{ "end and replace 3, saved", 3, to_leave_running,
		  to_end_and_replace, 2 * 4 * 4, true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(deeds); i++)
		enumerate(&deeds[i], (int)i);
}

/* Checks the result of one apply after the failure, and of the next one. */
static void check_recovery(struct scene *scene, const struct buf *want,
			   const char *what)
{
	struct buf end = { 0 };

	scene->block.fail_at.count = 0;
	scene->cancel_at = 0;
	if (in_child(scene, 0) == ENDED_BADLY)
		fail_msg("after %s", what);
	assert_int_equal(in_child(scene, 0), ENDED_IDLE);
	describe(scene, &end);
	if (strcmp(end.data, want->data) != 0)
		fail_msg("after %s:\n%s", what, end.data);
	check_nothing_is_open(scene);
	buf_done(&end);
}

static void trouble_anywhere(void **state)
{
	static const struct {
		const char *trouble;
		const char *text; /* error of the first apply; NULL: none */
		size_t open;      /* intents left open */
	} cases[] = {
		{ "create:*:lost", "create thing 'job-thing-04': no answer",
		  4 },
		{ "create:thing-15#1:lost", NULL, 0 },
		{ "create:*:twice", NULL, 0 },
		{ "create:thing-15#1-3:try-again", NULL, 0 },
		{ "wait:thing-15#1-3:unreachable", NULL, 0 },
		{ "create:thing-15:permanent",
		  "create thing 'job-thing-15': failed, as told", 0 },
		{ "wait:thing-15:permanent",
		  "wait for thing 'job-thing-15': failed, as told", 0 },
		{ "create:job:lost", "start run 'job': no answer, as told", 1 },
	};
	struct deed deed = { .name = "create 30", .resources = 30 };
	struct buf want = { 0 };
	size_t i;

	(void)state;
	is_killed_at(&deed, 0, &want);
	for (i = 0; i < COUNT(cases); i++) {
		struct arena *mem = arena_new();
		struct intent_list open;
		struct scene scene;
		struct error err = { 0 };
		struct store *store;
		int ret;

		scene_init(&scene, 30);
		scene.texts[0] = cases[i].trouble;
		scene.block.fail_at.count = 1;
		ret = apply(&scene, 0, &err);
		if (ret != (cases[i].text ? -1 : 0) ||
		    (cases[i].text && i &&
		     strcmp(err.text, cases[i].text) != 0))
			fail_msg("%s: %s", cases[i].trouble, err.text);
		store = store_open(&err);
		assert_int_equal(store_intent_list(store, mem, &open, &err), 0);
		store_close(store);
		if (open.count != cases[i].open)
			fail_msg("%s: %zu open", cases[i].trouble, open.count);
		arena_free(mem);
		/* The log has two lines for a call that happened twice. */
		if (!strstr(cases[i].trouble, "twice"))
			check_recovery(&scene, &want, cases[i].trouble);
		scene_done(&scene);
	}
	buf_done(&want);
}

static void cancelled_anywhere(void **state)
{
	struct deed deed = { .name = "create 8", .resources = 8 };
	struct buf want = { 0 };
	int at;

	(void)state;
	is_killed_at(&deed, 0, &want);
	for (at = 1; at <= 3 * 9; at += sample_step(4)) {
		struct scene scene;
		char what[32];

		scene_init(&scene, 8);
		scene.cancel_at = at;
		in_child(&scene, 0);
		snprintf(what, sizeof(what), "a cancel at %d", at);
		check_recovery(&scene, &want, what);
		scene_done(&scene);
	}
	buf_done(&want);
}

/* A resource was created but is not ready: the next apply waits for it before
 * it starts the run. */
static void what_was_made_is_waited_for(void **state)
{
	struct scene scene;
	struct error err;
	json_t *thing, *run;
	struct world *world;
	char *folder;

	(void)state;
	scene_init(&scene, 2);
	scene.block.ready_time = 300;
	scene.texts[0] = "create:2:kill-after";
	scene.block.fail_at.count = 1;
	assert_int_equal(in_child(&scene, 0), ENDED_KILLED);
	scene.block.fail_at.count = 0;
	assert_int_equal(in_child(&scene, 0), ENDED_WELL);
	folder = path_join(scene.folder, "world");
	world = world_enter(folder, &err);
	assert_non_null(world);
	assert_int_equal(
		world_get(world, "thing", "job-thing-02", &thing, &err), 0);
	assert_int_equal(world_get(world, "run", "job", &run, &err), 0);
	assert_true(json_get_int(run, "startTimeMs", 0) >=
		    json_get_int(thing, "createTimeMs", 0) + 300);
	json_decref(thing);
	json_decref(run);
	world_leave(world);
	free(folder);
	scene_done(&scene);
}

static void many_at_once(void **state)
{
	struct deed deed = { .name = "create 6", .resources = 6 };
	struct buf want = { 0 };
	struct scene scene;
	pid_t pids[20];
	size_t i;
	int well = 0, busy = 0;

	(void)state;
	is_killed_at(&deed, 0, &want);
	/* First processes that wait for the lock, then processes that do
	 * not. */
	scene_init(&scene, 6);
	for (i = 0; i < COUNT(pids); i++)
		pids[i] = start(&scene, 0, 60000);
	for (i = 0; i < COUNT(pids); i++) {
		enum how_it_ended how = reap(pids[i]);

		assert_true(how == ENDED_WELL || how == ENDED_IDLE);
		well += how == ENDED_WELL;
	}
	assert_int_equal(well, 1);
	check_recovery(&scene, &want, "20 that waited");
	scene_done(&scene);
	scene_init(&scene, 6);
	scene.block.call_time = 20;
	for (i = 0; i < COUNT(pids); i++)
		pids[i] = start(&scene, -1, 0);
	for (i = 0; i < COUNT(pids); i++)
		busy += reap(pids[i]) == ENDED_BADLY;
	assert_in_range(busy, 1, COUNT(pids) - 1);
	scene.block.call_time = 0;
	check_recovery(&scene, &want, "20 that did not wait");
	scene_done(&scene);
	buf_done(&want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trouble_anywhere),
		cmocka_unit_test(cancelled_anywhere),
		cmocka_unit_test(what_was_made_is_waited_for),
		cmocka_unit_test(many_at_once),
		cmocka_unit_test(killed_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
