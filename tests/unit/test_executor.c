/* SPDX-License-Identifier: Apache-2.0 */
/* The executor with a provider whose every answer is set by the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/apply/executor.h"
#include "core/base/clock.h"

#define THINGS_MAX 32
#define JOBS_MAX 4

/* The answer of a call on a resource, for the first `times` calls. */
struct rule {
	const char *call, *name;
	int times; /* -1: always */
	enum error_code code;
	int ms; /* duration of the call; code 0: no error */
};

struct scene {
	struct loop *loop;
	struct plan *plan;
	struct job jobs[JOBS_MAX];
	struct resources *desired[JOBS_MAX];
	struct resource *found[JOBS_MAX];
	struct executor *executor;
	struct executor_options options;

	/* The threads share these members, under the lock: */
	pthread_mutex_t lock;
	struct buf log; /* "create a;" at the start of each call */
	struct rule rules[8];
	int under_way, most;
	int calls;
	int waits_left;        /* of the run; -1: until it is cancelled */
	struct run_status end; /* how the run ends */
	bool gone;             /* somebody deleted it meanwhile */
	bool cancelled, now;
	int attempt; /* as create was told */
	int watch[2];

	/* Members of the loop's thread: */
	struct buf phases; /* "a:CALLING;" */
	int cancel_at;     /* cancels when the run is FOLLOWING */
	bool stop_at_call; /* stops the loop at the first CALLING */
};

static int act(struct scene *scene, const char *call, const char *name,
	       struct error *err)
{
	enum error_code code = 0;
	int ms = 0;
	size_t i;

	pthread_mutex_lock(&scene->lock);
	buf_printf(&scene->log, "%s %s;", call, name);
	scene->calls++;
	if (++scene->under_way > scene->most)
		scene->most = scene->under_way;
	for (i = 0; i < COUNT(scene->rules) && scene->rules[i].call; i++) {
		struct rule *rule = &scene->rules[i];

		if (strcmp(rule->call, call) != 0 || !rule->times ||
		    (strcmp(rule->name, "*") != 0 &&
		     strcmp(rule->name, name) != 0))
			continue;
		rule->times -= rule->times > 0;
		code = rule->code;
		ms = rule->ms;
		break;
	}
	pthread_mutex_unlock(&scene->lock);
	usleep((useconds_t)ms * 1000);
	pthread_mutex_lock(&scene->lock);
	scene->under_way--;
	pthread_mutex_unlock(&scene->lock);
	return code ? error_set(err, code, "as told") : 0;
}

static int thing_create(void *ctx, const struct resource *want,
			struct error *err)
{
	return act(ctx, "create", want->name, err);
}

static int thing_update(void *ctx, const struct resource *want,
			struct error *err)
{
	return act(ctx, "update", want->name, err);
}

static int thing_delete(void *ctx, const struct resource *have,
			struct error *err)
{
	return act(ctx, "delete", have->name, err);
}

static int thing_wait(void *ctx, const struct resource *have,
		      enum wait_state *state, struct error *err)
{
	*state = WAIT_DONE;
	return act(ctx, "wait", have->name, err);
}

static int run_create(void *ctx, const struct resource *want, struct error *err)
{
	struct scene *scene = ctx;

	pthread_mutex_lock(&scene->lock);
	scene->attempt = want->run.attempt;
	scene->cancelled = false;
	pthread_mutex_unlock(&scene->lock);
	return act(scene, "create", want->name, err);
}

static int run_wait(void *ctx, const struct resource *have,
		    enum wait_state *state, struct error *err)
{
	struct scene *scene = ctx;

	pthread_mutex_lock(&scene->lock);
	*state = scene->cancelled || scene->waits_left == 0 ? WAIT_DONE
							    : WAIT_PENDING;
	if (scene->waits_left > 0)
		scene->waits_left--;
	pthread_mutex_unlock(&scene->lock);
	return act(scene, "wait", have->name, err);
}

static int run_read(void *ctx, const struct resource *want,
		    struct resource *found, struct error *err)
{
	struct scene *scene = ctx;

	if (act(scene, "read", want->name, err) < 0)
		return -1;
	found->exists = !scene->gone;
	found->properties = json_object();
	found->run = scene->end;
	if (scene->cancelled)
		found->run.state = RUN_CANCELLED;
	return 0;
}

static int run_cancel(void *ctx, const struct resource *have, bool now,
		      struct error *err)
{
	struct scene *scene = ctx;

	if (act(scene, now ? "kill" : "cancel", have->name, err) < 0)
		return -1;
	pthread_mutex_lock(&scene->lock);
	/* A run that ignores the first cancel ends only with `now`. */
	scene->cancelled = now || scene->cancel_at < 2;
	pthread_mutex_unlock(&scene->lock);
	return 0;
}

static int run_watch(void *ctx, const struct resource *have, int *fd,
		     struct error *err)
{
	struct scene *scene = ctx;

	if (act(scene, "watch", have->name, err) < 0)
		return -1;
	*fd = dup(scene->watch[0]);
	return 0;
}

static const struct kind thing = { .name = "thing",
				   .create = thing_create,
				   .update = thing_update,
				   .delete = thing_delete,
				   .wait = thing_wait,
				   .poll_ms = 5 };
static const struct kind node = { .name = "node",
				  .create = thing_create,
				  .delete = thing_delete };
static const struct kind run = { .name = "run",
				 .flags = KIND_RUN,
				 .poll_ms = 5,
				 .read = run_read,
				 .create = run_create,
				 .delete = thing_delete,
				 .wait = run_wait,
				 .cancel = run_cancel };
static const struct kind watched = { .name = "run",
				     .flags = KIND_RUN,
				     .poll_ms = 60000,
				     .read = run_read,
				     .create = run_create,
				     .delete = thing_delete,
				     .wait = run_wait,
				     .cancel = run_cancel,
				     .watch = run_watch };
static const struct kind *const kinds[] = { &thing, &node, &run, NULL };
static const struct provider cloud = { .name = "cloud", .kinds = kinds };

static void *context(void *arg, const struct provider *provider)
{
	assert_ptr_equal(provider, &cloud);
	return arg;
}

static void on_phase(void *arg, const struct action *action,
		     enum action_phase phase, const struct run_status *status,
		     const struct error *err)
{
	static const char *const names[] = { "WAITING",   "CALLING", "RETRYING",
					     "FOLLOWING", "DONE",    "FAILED",
					     "SKIPPED" };
	struct scene *scene = arg;

	assert_true((phase == PHASE_FAILED || phase == PHASE_RETRYING) ==
		    (err != NULL));
	buf_printf(&scene->phases, "%s:%s", strrchr(action->id, '/') + 1,
		   names[phase]);
	if (status)
		buf_printf(&scene->phases, "(%s)",
			   run_state_name(status->state));
	buf_putc(&scene->phases, ';');
	if (phase == PHASE_FOLLOWING && scene->cancel_at > 0)
		executor_cancel(scene->executor, false);
	if (phase == PHASE_CALLING && scene->stop_at_call)
		loop_stop(scene->loop);
}

static void on_settled(void *arg, const struct plan_job *job)
{
	struct scene *scene = arg;

	buf_printf(&scene->phases, "%s:settled;", job->job->job_id);
}

static void scene_init(struct scene *scene)
{
	struct error err;
	size_t i;

	memset(scene, 0, sizeof(*scene));
	pthread_mutex_init(&scene->lock, NULL);
	scene->loop = loop_new(&err);
	scene->plan = plan_new();
	scene->end.state = RUN_SUCCEEDED;
	scene->watch[0] = scene->watch[1] = -1;
	scene->options = (struct executor_options){ .context = context,
						    .phase = on_phase,
						    .retry_ms = 2,
						    .arg = scene };
	for (i = 0; i < JOBS_MAX; i++) {
		scene->jobs[i].job_id =
			(const char *[]){ "a", "b", "c", "d" }[i];
		strcpy(scene->jobs[i].digest.hex, "d1");
		scene->desired[i] = resources_new();
		scene->found[i] =
			mem_alloc(THINGS_MAX * sizeof(struct resource));
	}
}

static void scene_done(struct scene *scene)
{
	size_t i;

	executor_free(scene->executor);
	plan_free(scene->plan);
	for (i = 0; i < JOBS_MAX; i++) {
		resources_free(scene->desired[i]);
		resources_forget(scene->found[i], THINGS_MAX);
	}
	loop_free(scene->loop);
	buf_done(&scene->log);
	buf_done(&scene->phases);
	for (i = 0; i < 2; i++)
		if (scene->watch[i] >= 0)
			close(scene->watch[i]);
	pthread_mutex_destroy(&scene->lock);
}

/* Adds a resource that needs those named in `needs`, one letter each. */
static struct resource *want(struct scene *scene, size_t job,
			     const struct kind *kind, const char *name,
			     const char *needs)
{
	struct resources *all = scene->desired[job];
	struct resource *it = resources_add(all, kind, name, &scene->jobs[job]);
	size_t i;

	it->properties = json_object();
	for (; *needs; needs++)
		for (i = 0; i < all->count; i++)
			if (all->items[i]->name[0] == *needs)
				resource_needs(all, it, all->items[i]);
	return it;
}

/* Makes the newest resource exist; with `same` in its desired state. */
static struct resource *exists(struct scene *scene, size_t job, bool same)
{
	struct resource *want_it =
		scene->desired[job]->items[scene->desired[job]->count - 1];
	struct resource *it = &scene->found[job][want_it->index];

	it->kind = want_it->kind;
	it->name = want_it->name;
	it->exists = true;
	it->properties = json_object();
	if (!same)
		json_object_set_new(it->properties, "old", json_true());
	it->run.attempt = 3;
	it->run.state = RUN_RUNNING;
	strcpy(it->run.digest.hex, same ? "d1" : "d0");
	return it;
}

static void plan_jobs(struct scene *scene)
{
	struct plan_options options = { 0 };
	struct error err;
	size_t i;

	for (i = 0; i < JOBS_MAX; i++)
		if (scene->desired[i]->count)
			assert_int_equal(
				plan_add(scene->plan, &cloud, &scene->jobs[i],
					 scene->desired[i], scene->found[i],
					 &options, &err),
				0);
}

static void execute(struct scene *scene)
{
	struct error err;

	if (!plan_job_count(scene->plan))
		plan_jobs(scene);
	scene->executor =
		executor_new(scene->plan, scene->loop, &scene->options, &err);
	assert_non_null(scene->executor);
	assert_int_equal(executor_start(scene->executor, &err), 0);
	assert_int_equal(loop_run(scene->loop, &err), 0);
}

static void check(struct scene *scene, int code, const char *text)
{
	struct error err = { 0 };

	assert_int_equal(executor_result(scene->executor, &err), code ? -1 : 0);
	assert_string_equal(err.text, text);
	assert_int_equal(err.code, code);
}

static void check_log(struct scene *scene, const char *log)
{
	assert_string_equal(buf_text(&scene->log), log);
}

static void check_phases(struct scene *scene, const char *phases)
{
	assert_string_equal(buf_text(&scene->phases), phases);
}

static void nothing_to_do_ends_at_once(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	execute(&scene); /* no jobs at all */
	check(&scene, 0, "");
	scene_done(&scene);
	scene_init(&scene);
	want(&scene, 0, &thing, "x", "");
	exists(&scene, 0, true);
	execute(&scene);
	check(&scene, 0, "");
	check_log(&scene, "");
	check_phases(&scene, "x:DONE;");
	scene_done(&scene);
}

static void actions_follow_their_needs(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	want(&scene, 0, &node, "x", "");
	want(&scene, 0, &thing, "y", "x");
	exists(&scene, 0, false);
	want(&scene, 0, &node, "z", "y");
	execute(&scene);
	check(&scene, 0, "");
	check_log(&scene, "create x;update y;wait y;create z;");
	check_phases(&scene, "x:CALLING;x:DONE;y:CALLING;y:FOLLOWING;y:DONE;"
			     "z:CALLING;z:DONE;");
	scene_done(&scene);
}

static void calls_are_parallel_up_to_a_bound(void **state)
{
	static const size_t bounds[] = { 1, 3, 40 };
	size_t i, j;

	(void)state;
	for (i = 0; i < COUNT(bounds); i++) {
		struct scene scene;
		int64_t start;

		scene_init(&scene);
		scene.options.parallel = bounds[i];
		scene.rules[0] = (struct rule){ "create", "*", -1, 0, 20 };
		for (j = 0; j < 12; j++)
			want(&scene, 0, &node, (char[]){ (char)('a' + j), 0 },
			     "");
		start = time_monotonic_ms();
		execute(&scene);
		check(&scene, 0, "");
		assert_int_equal(scene.calls, 12);
		if (bounds[i] < 12)
			assert_int_equal(scene.most, bounds[i]);
		else
			assert_in_range(scene.most, 4, 12);
		assert_true(time_monotonic_ms() - start >=
			    (int64_t)(12 / bounds[i] * 20) - 5);
		scene_done(&scene);
	}
}

static void a_failure_stops_its_job_only(void **state)
{
	struct scene scene;
	const char *phases;

	(void)state;
	scene_init(&scene);
	scene.options.parallel = 1;
	scene.rules[0] = (struct rule){ "create", "x", -1, ERROR_DENIED, 0 };
	want(&scene, 0, &node, "x", "");
	want(&scene, 0, &node, "y", "x");
	want(&scene, 0, &run, "run", "y");
	want(&scene, 1, &node, "p", "");
	want(&scene, 1, &node, "q", "p");
	execute(&scene);
	check(&scene, ERROR_DENIED, "create node 'x': as told");
	check_log(&scene, "create x;create p;create q;");
	phases = buf_text(&scene.phases);
	assert_non_null(strstr(phases, "x:FAILED;"));
	assert_non_null(strstr(phases, "y:SKIPPED;"));
	assert_non_null(strstr(phases, "run:SKIPPED;"));
	assert_non_null(strstr(phases, "q:DONE;"));
	scene_done(&scene);
}

/* After a failure, waiting actions are not started, even if they do not depend
 * on it; running ones are finished. */
static void a_failure_lets_others_finish(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.rules[0] = (struct rule){ "create", "x", -1, ERROR_FAILED, 10 };
	scene.rules[1] = (struct rule){ "create", "y", -1, 0, 60 };
	want(&scene, 0, &node, "x", "");
	want(&scene, 0, &node, "y", "");
	want(&scene, 0, &node, "z", "y");
	execute(&scene);
	check(&scene, ERROR_FAILED, "create node 'x': as told");
	assert_null(strstr(buf_text(&scene.log), "create z"));
	assert_non_null(strstr(buf_text(&scene.phases), "y:DONE;"));
	assert_non_null(strstr(buf_text(&scene.phases), "z:SKIPPED;"));
	scene_done(&scene);
}

static void calls_are_tried_again(void **state)
{
	static const struct {
		enum error_code code;
		int fails, tries;
		int calls, ret;
	} cases[] = {
		{ ERROR_TRY_AGAIN, 3, 0, 4, 0 },
		{ ERROR_UNREACHABLE, 3, 0, 4, 0 },
		{ ERROR_TRY_AGAIN, -1, 0, 5, ERROR_TRY_AGAIN },
		{ ERROR_UNREACHABLE, -1, 2, 2, ERROR_UNREACHABLE },
		{ ERROR_FAILED, -1, 0, 1, ERROR_FAILED },
		{ ERROR_DENIED, 1, 0, 1, ERROR_DENIED },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct scene scene;

		scene_init(&scene);
		scene.options.tries = cases[i].tries;
		scene.rules[0] = (struct rule){ "create", "x", cases[i].fails,
						cases[i].code, 0 };
		want(&scene, 0, &node, "x", "");
		execute(&scene);
		check(&scene, cases[i].ret,
		      cases[i].ret ? "create node 'x': as told" : "");
		assert_int_equal(scene.calls, cases[i].calls);
		scene_done(&scene);
	}
}

static void retries_back_off(void **state)
{
	struct scene scene;
	int64_t start;

	(void)state;
	scene_init(&scene);
	scene.options.retry_ms = 20;
	scene.rules[0] = (struct rule){ "create", "x", 3, ERROR_TRY_AGAIN, 0 };
	want(&scene, 0, &node, "x", "");
	start = time_monotonic_ms();
	execute(&scene);
	/* The delays are at least half of 20 + 40 + 80. */
	assert_true(time_monotonic_ms() - start >= 70);
	check_phases(&scene, "x:CALLING;x:RETRYING;x:CALLING;x:RETRYING;"
			     "x:CALLING;x:RETRYING;x:CALLING;x:DONE;");
	scene_done(&scene);
}

static void runs_are_followed_to_their_end(void **state)
{
	static const struct {
		struct run_status end;
		bool gone;
		int ret;
		const char *text, *last;
	} cases[] = {
		{ { .state = RUN_SUCCEEDED },
		  false,
		  0,
		  "",
		  "a:DONE(SUCCEEDED);" },
		{ { .state = RUN_FAILED,
		    .exit_code = 3,
		    .error = "worker 1 exited with 3" },
		  false,
		  ERROR_FAILED,
		  "run 'a': FAILED: worker 1 exited with 3",
		  "a:FAILED(FAILED);" },
		{ { .state = RUN_FAILED, .exit_code = 3 },
		  false,
		  ERROR_FAILED,
		  "run 'a': FAILED (exit 3)",
		  "a:FAILED(FAILED);" },
		{ { .state = RUN_CANCELLED },
		  false,
		  ERROR_FAILED,
		  "run 'a' was cancelled",
		  "a:FAILED(CANCELLED);" },
		{ { .state = RUN_SUCCEEDED },
		  true,
		  ERROR_FAILED,
		  "run 'a' is gone: somebody deleted it",
		  "a:FAILED;" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct scene scene;
		char phases[128];

		scene_init(&scene);
		scene.waits_left = 2;
		scene.end = cases[i].end;
		scene.gone = cases[i].gone;
		want(&scene, 0, &run, "a", "");
		execute(&scene);
		check(&scene, cases[i].ret, cases[i].text);
		check_log(&scene, "create a;wait a;wait a;wait a;read a;");
		snprintf(phases, sizeof(phases), "a:CALLING;a:FOLLOWING;%s",
			 cases[i].last);
		check_phases(&scene, phases);
		scene_done(&scene);
	}
}

/* Whoever sees that a job is let go also sees how it ended. */
static void end_is_known_before_a_job_is_let_go(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.options.settled = on_settled;
	want(&scene, 0, &run, "a", "");
	execute(&scene);
	check(&scene, 0, "");
	check_phases(&scene, "a:CALLING;a:settled;a:FOLLOWING;"
			     "a:DONE(SUCCEEDED);");
	scene_done(&scene);
	scene_init(&scene);
	scene.options.settled = on_settled;
	scene.rules[0] = (struct rule){ "create", "x", -1, ERROR_DENIED, 0 };
	want(&scene, 0, &node, "x", "");
	want(&scene, 0, &run, "a", "x");
	execute(&scene);
	check(&scene, ERROR_DENIED, "create node 'x': as told");
	check_phases(&scene, "x:CALLING;x:FAILED;a:SKIPPED;a:settled;");
	scene_done(&scene);
}

/* Failed calls on an existing run are retried longer than those that create
 * one. */
static void following_is_patient(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.options.retry_ms = 1;
	scene.options.tries = 2;
	scene.rules[0] = (struct rule){ "wait", "a", 7, ERROR_UNREACHABLE, 0 };
	want(&scene, 0, &run, "a", "");
	execute(&scene);
	check(&scene, 0, "");
	assert_int_equal(scene.calls, 1 + 8 + 1);
	scene_done(&scene);
}

static void *close_soon(void *arg)
{
	usleep(60000);
	close(*(int *)arg);
	return NULL;
}

static void a_watch_wakes_the_loop(void **state)
{
	struct scene scene;
	pthread_t thread;
	int64_t start;

	(void)state;
	scene_init(&scene);
	scene.waits_left = 1;
	assert_int_equal(pipe(scene.watch), 0);
	want(&scene, 0, &watched, "a", "");
	plan_jobs(&scene);
	start = time_monotonic_ms();
	pthread_create(&thread, NULL, close_soon, &scene.watch[1]);
	execute(&scene);
	pthread_join(thread, NULL);
	scene.watch[1] = -1;
	check(&scene, 0, "");
	check_log(&scene, "create a;watch a;wait a;wait a;read a;");
	assert_in_range(time_monotonic_ms() - start, 50, 20000);
	scene_done(&scene);
}

static void a_watch_that_fails_is_polled(void **state)
{
	struct scene scene;
	struct kind polled = watched;

	(void)state;
	scene_init(&scene);
	polled.poll_ms = 5;
	scene.waits_left = 2;
	scene.rules[0] = (struct rule){ "watch", "a", -1, ERROR_FAILED, 0 };
	want(&scene, 0, &polled, "a", "");
	execute(&scene);
	check(&scene, 0, "");
	check_log(&scene, "create a;watch a;wait a;wait a;wait a;read a;");
	scene_done(&scene);
}

static void a_quiet_watch_is_polled_too(void **state)
{
	struct scene scene;
	struct kind polled = watched;

	(void)state;
	scene_init(&scene);
	polled.poll_ms = 5;
	scene.waits_left = 2;
	assert_int_equal(pipe(scene.watch), 0);
	want(&scene, 0, &polled, "a", "");
	execute(&scene);
	check(&scene, 0, "");
	check_log(&scene, "create a;watch a;wait a;wait a;wait a;read a;");
	scene_done(&scene);
}

/* A message of the watch is read only once; after that the timer decides. */
static void a_watch_is_emptied(void **state)
{
	struct scene scene;
	struct kind polled = watched;
	int64_t start;

	(void)state;
	scene_init(&scene);
	polled.poll_ms = 600;
	scene.waits_left = 3;
	assert_int_equal(pipe(scene.watch), 0);
	assert_int_equal(write(scene.watch[1], "xx", 2), 2);
	want(&scene, 0, &polled, "a", "");
	start = time_monotonic_ms();
	execute(&scene);
	check(&scene, 0, "");
	assert_true(time_monotonic_ms() - start >= 600);
	scene_done(&scene);
}

/* A watch that stays readable without news must not cause a busy loop. */
static void a_watch_does_not_spin(void **state)
{
	struct scene scene;
	int64_t start;

	(void)state;
	scene_init(&scene);
	scene.waits_left = 6;
	assert_int_equal(pipe(scene.watch), 0);
	close(scene.watch[1]);
	scene.watch[1] = -1;
	want(&scene, 0, &watched, "a", "");
	start = time_monotonic_ms();
	execute(&scene);
	check(&scene, 0, "");
	assert_true(time_monotonic_ms() - start >= 250);
	scene_done(&scene);
}

static void detached_runs_are_only_started(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.options.detach = true;
	scene.waits_left = -1;
	want(&scene, 0, &run, "a", "");
	want(&scene, 1, &run, "b", "");
	exists(&scene, 1, true); /* running: would be followed */
	execute(&scene);
	check(&scene, 0, "");
	check_log(&scene, "create a;");
	scene_done(&scene);
}

static void a_run_under_way_is_followed(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.waits_left = 1;
	scene.end.state = RUN_FAILED;
	want(&scene, 0, &run, "a", "");
	exists(&scene, 0, true);
	execute(&scene);
	check(&scene, ERROR_FAILED, "run 'a': FAILED (exit 0)");
	check_log(&scene, "wait a;wait a;read a;");
	scene_done(&scene);
}

/* What needs the replaced thing is deleted before it. */
static void replacement_takes_down_first(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	want(&scene, 0, &node, "x", "");
	exists(&scene, 0, false);
	want(&scene, 0, &node, "y", "x");
	exists(&scene, 0, false);
	want(&scene, 0, &run, "a", "y");
	exists(&scene, 0, false);
	execute(&scene);
	check(&scene, 0, "");
	check_log(&scene, "cancel a;wait a;delete y;delete x;create x;"
			  "create y;create a;wait a;read a;");
	assert_int_equal(scene.attempt, 3);
	scene_done(&scene);
}

/* The run goes on until the new thing that it needs exists. */
static void replacement_waits_for_what_is_new(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.rules[0] = (struct rule){ "create", "x", -1, ERROR_DENIED, 0 };
	want(&scene, 0, &node, "x", "");
	want(&scene, 0, &run, "a", "x");
	exists(&scene, 0, false);
	execute(&scene);
	check(&scene, ERROR_DENIED, "create node 'x': as told");
	check_log(&scene, "create x;");
	check_phases(&scene, "x:CALLING;x:FAILED;a:SKIPPED;");
	scene_done(&scene);
}

static void replacement_that_fails_halfway(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.rules[0] = (struct rule){ "create", "x", -1, ERROR_DENIED, 0 };
	want(&scene, 0, &node, "x", "");
	exists(&scene, 0, false);
	want(&scene, 0, &run, "a", "x");
	exists(&scene, 0, false);
	execute(&scene);
	check(&scene, ERROR_DENIED, "create node 'x': as told");
	check_log(&scene, "cancel a;wait a;delete x;create x;");
	scene_done(&scene);
}

static void deletion_ends_the_run_first(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	want(&scene, 0, &node, "x", "");
	exists(&scene, 0, true);
	want(&scene, 0, &run, "a", "x");
	exists(&scene, 0, true);
	plan_add_delete(scene.plan, &cloud, &scene.jobs[0], scene.desired[0],
			scene.found[0], "as asked");
	execute(&scene);
	check(&scene, 0, "");
	check_log(&scene, "cancel a;wait a;delete a;delete x;");
	scene_done(&scene);
}

static void cancel_ends_the_run(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.waits_left = -1;
	scene.cancel_at = 1;
	want(&scene, 0, &run, "a", "");
	want(&scene, 0, &node, "z", "a");
	execute(&scene);
	check(&scene, ERROR_INTERRUPTED, "run 'a' was cancelled");
	assert_non_null(strstr(buf_text(&scene.log), "cancel a;"));
	assert_null(strstr(buf_text(&scene.log), "create z;"));
	assert_non_null(strstr(buf_text(&scene.phases), "a:FAILED(CANCELLED)"));
	scene_done(&scene);
}

/* A cancel that fails because the provider cannot be reached is repeated. */
static void cancel_is_tried_again(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.waits_left = -1;
	scene.cancel_at = 1;
	scene.rules[0] =
		(struct rule){ "cancel", "a", 2, ERROR_UNREACHABLE, 0 };
	want(&scene, 0, &run, "a", "");
	execute(&scene);
	check(&scene, ERROR_INTERRUPTED, "run 'a' was cancelled");
	assert_non_null(strstr(buf_text(&scene.log),
			       "cancel a;cancel a;cancel a;wait a;"));
	scene_done(&scene);
}

static void on_kill(void *arg, uint32_t events)
{
	struct scene *scene = arg;

	(void)events;
	executor_cancel(scene->executor, true);
}

static void cancel_again_takes_the_grace(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.waits_left = -1;
	scene.cancel_at = 2; /* the first is ignored */
	want(&scene, 0, &run, "a", "");
	plan_jobs(&scene);
	loop_add_timer(scene.loop, 60, on_kill, &scene);
	execute(&scene);
	check(&scene, ERROR_INTERRUPTED, "run 'a' was cancelled");
	assert_non_null(strstr(buf_text(&scene.log), "cancel a;"));
	assert_non_null(strstr(buf_text(&scene.log), "kill a;"));
	scene_done(&scene);
}

/* A run that succeeds in spite of the cancel has succeeded. */
static void cancel_can_come_too_late(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.waits_left = 3;
	scene.cancel_at = 2;
	want(&scene, 0, &run, "a", "");
	execute(&scene);
	check(&scene, 0, "");
	scene_done(&scene);
}

static void on_cancel(void *arg, uint32_t events)
{
	struct scene *scene = arg;

	(void)events;
	executor_cancel(scene->executor, false);
}

static void cancel_ends_the_wait_for_a_retry(void **state)
{
	struct scene scene;
	int64_t start = time_monotonic_ms();

	(void)state;
	scene_init(&scene);
	scene.options.retry_ms = 30000;
	scene.rules[0] = (struct rule){ "create", "x", -1, ERROR_TRY_AGAIN, 0 };
	want(&scene, 0, &node, "x", "");
	want(&scene, 0, &node, "y", "x");
	plan_jobs(&scene);
	loop_add_timer(scene.loop, 50, on_cancel, &scene);
	execute(&scene);
	check(&scene, ERROR_INTERRUPTED, "node 'x': interrupted");
	assert_true(time_monotonic_ms() - start < 10000);
	assert_non_null(strstr(buf_text(&scene.phases), "y:SKIPPED;"));
	scene_done(&scene);
}

/* The loop stops while calls are running and others wait for a thread. */
static void stopping_early_is_safe(void **state)
{
	struct scene scene;
	size_t i;

	(void)state;
	scene_init(&scene);
	scene.options.parallel = 2;
	scene.stop_at_call = true;
	scene.rules[0] = (struct rule){ "create", "*", -1, 0, 50 };
	for (i = 0; i < 8; i++)
		want(&scene, 0, &node, (char[]){ (char)('a' + i), 0 }, "");
	execute(&scene);
	check(&scene, ERROR_INTERRUPTED, "stopped before everything was done");
	executor_free(scene.executor);
	scene.executor = NULL;
	assert_in_range(scene.calls, 0, 2);
	assert_int_equal(scene.under_way, 0);
	scene_done(&scene);
}

static void on_stop(void *arg, uint32_t events)
{
	(void)events;
	loop_stop(arg);
}

static void stopping_while_following_is_safe(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.waits_left = -1;
	assert_int_equal(pipe(scene.watch), 0);
	want(&scene, 0, &watched, "a", "");
	want(&scene, 1, &run, "b", "");
	plan_jobs(&scene);
	loop_add_timer(scene.loop, 40, on_stop, scene.loop);
	execute(&scene);
	check(&scene, ERROR_INTERRUPTED, "stopped before everything was done");
	scene_done(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_do_ends_at_once),
		cmocka_unit_test(actions_follow_their_needs),
		cmocka_unit_test(calls_are_parallel_up_to_a_bound),
		cmocka_unit_test(a_failure_stops_its_job_only),
		cmocka_unit_test(a_failure_lets_others_finish),
		cmocka_unit_test(calls_are_tried_again),
		cmocka_unit_test(retries_back_off),
		cmocka_unit_test(runs_are_followed_to_their_end),
		cmocka_unit_test(end_is_known_before_a_job_is_let_go),
		cmocka_unit_test(following_is_patient),
		cmocka_unit_test(a_watch_wakes_the_loop),
		cmocka_unit_test(a_watch_that_fails_is_polled),
		cmocka_unit_test(a_quiet_watch_is_polled_too),
		cmocka_unit_test(a_watch_is_emptied),
		cmocka_unit_test(a_watch_does_not_spin),
		cmocka_unit_test(detached_runs_are_only_started),
		cmocka_unit_test(a_run_under_way_is_followed),
		cmocka_unit_test(replacement_takes_down_first),
		cmocka_unit_test(replacement_waits_for_what_is_new),
		cmocka_unit_test(replacement_that_fails_halfway),
		cmocka_unit_test(deletion_ends_the_run_first),
		cmocka_unit_test(cancel_ends_the_run),
		cmocka_unit_test(cancel_is_tried_again),
		cmocka_unit_test(cancel_again_takes_the_grace),
		cmocka_unit_test(cancel_can_come_too_late),
		cmocka_unit_test(cancel_ends_the_wait_for_a_retry),
		cmocka_unit_test(stopping_early_is_safe),
		cmocka_unit_test(stopping_while_following_is_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
