/* SPDX-License-Identifier: Apache-2.0 */
/* Planner, executor and the fake provider together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/apply/executor.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "providers/fake/fake.h"
#include "providers/fake/trouble.h"
#include "providers/registry.h"

/* The registry of this program, which has only this provider. */
const struct provider *const providers[] = { &provider_fake, NULL };

struct scene {
	char folder[64];
	struct job job;
	struct fake_block block;
	struct job_block blocks[1];
	const char *texts[4];
	const char *others[4];
};

static void scene_init(struct scene *scene, long resources)
{
	memset(scene, 0, sizeof(*scene));
	strcpy(scene->folder, "/tmp/test_executor_fake.XXXXXX");
	assert_non_null(mkdtemp(scene->folder));
	scene->block = (struct fake_block){ .resources = resources,
					    .width = 4,
					    .color = "red",
					    .size = 1,
					    .world = "world",
					    .fail_at.items = scene->texts,
					    .meddle.items = scene->others };
	scene->blocks[0] =
		(struct job_block){ .name = "fake", .data = &scene->block };
	scene->job.job_id = "job";
	scene->job.folder = scene->folder;
	scene->job.jobrun.blocks = scene->blocks;
	scene->job.jobrun.block_count = 1;
	strcpy(scene->job.digest.hex, "d1");
}

static void scene_done(struct scene *scene)
{
	struct error err;

	assert_int_equal(folder_remove(scene->folder, &err), 0);
}

static void fail_at(struct scene *scene, const char *text)
{
	scene->block.fail_at.count = text ? 1 : 0;
	scene->texts[0] = text;
}

static void *context(void *arg, const struct provider *provider)
{
	(void)provider;
	return arg;
}

/* Does what one `jobrun apply` does.  `types` gets a letter for each action. */
static int apply(struct scene *scene, bool rerun, char *types,
		 struct error *err)
{
	struct plan_options how = { .rerun = rerun };
	struct executor_options options = { .context = context, .retry_ms = 1 };
	struct resources *desired = resources_new();
	struct plan *plan = plan_new();
	struct resource *found = NULL;
	struct executor *executor = NULL;
	struct loop *loop = loop_new(err);
	void *ctx = provider_fake.open(NULL, err);
	size_t count = 0, i;
	int ret = -1;

	assert_int_equal(provider_fake.desire(&scene->job, NULL, desired, err),
			 0);
	count = desired->count;
	found = resources_read(desired, ctx, err);
	if (!found)
		goto out;
	if (plan_add(plan, &provider_fake, &scene->job, desired, found, &how,
		     err) < 0)
		goto out;
	for (i = 0; types && i < count; i++)
		types[i] = action_type_name(plan_at(plan, i)->type)[0];
	if (types)
		types[count] = '\0';
	options.arg = ctx;
	executor = executor_new(plan, loop, &options, err);
	assert_int_equal(executor_start(executor, err), 0);
	assert_int_equal(loop_run(loop, err), 0);
	ret = executor_result(executor, err);
out:
	executor_free(executor);
	plan_free(plan);
	resources_forget(found, count);
	resources_free(desired);
	provider_fake.close(ctx);
	loop_free(loop);
	return ret;
}

/* Counts the lines of the call log that contain the text. */
static int count_log(const struct scene *scene, const char *text)
{
	char *path = path_join(scene->folder, "world/calls.log");
	struct error err;
	size_t len;
	char *log = file_read(path, 1 << 24, &len, &err);
	char *line, *save = NULL;
	int n = 0;

	assert_non_null(log);
	for (line = strtok_r(log, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		n += strstr(line, text) != NULL;
	free(log);
	free(path);
	return n;
}

static void check_world(const struct scene *scene, long things, int made)
{
	assert_int_equal(count_log(scene, " made") -
				 count_log(scene, " deleted"),
			 things + 1);
	assert_int_equal(count_log(scene, " run job made"), made);
}

static void a_job_is_made_once(void **state)
{
	struct scene scene;
	struct error err = { 0 };
	char types[64];

	(void)state;
	scene_init(&scene, 10);
	assert_int_equal(apply(&scene, false, types, &err), 0);
	assert_string_equal(types, "ccccccccccr");
	check_world(&scene, 10, 1);
	assert_int_equal(apply(&scene, false, types, &err), 0);
	assert_string_equal(types, "nnnnnnnnnnn");
	check_world(&scene, 10, 1);
	assert_int_equal(apply(&scene, true, types, &err), 0);
	assert_string_equal(types, "nnnnnnnnnnr");
	assert_int_equal(count_log(&scene, " run job made"), 2);
	scene_done(&scene);
}

static void changes_are_made(void **state)
{
	struct scene scene;
	struct error err = { 0 };
	char types[64];

	(void)state;
	scene_init(&scene, 2);
	assert_int_equal(apply(&scene, false, types, &err), 0);
	scene.block.color = "blue";
	strcpy(scene.job.digest.hex, "d2");
	assert_int_equal(apply(&scene, false, types, &err), 0);
	assert_string_equal(types, "uur");
	scene.block.size = 2;
	strcpy(scene.job.digest.hex, "d3");
	assert_int_equal(apply(&scene, false, types, &err), 0);
	assert_string_equal(types, "rrr"); /* replace, replace, run */
	assert_int_equal(apply(&scene, false, types, &err), 0);
	assert_string_equal(types, "nnn");
	assert_int_equal(count_log(&scene, " deleted"), 2);
	assert_int_equal(count_log(&scene, " changed"), 2);
	scene_done(&scene);
}

static void runs_end_as_told(void **state)
{
	struct scene scene;
	struct error err = { 0 };
	char types[64];

	(void)state;
	scene_init(&scene, 1);
	scene.block.ready_time = 50;
	scene.block.run_time = 50;
	scene.block.exit_code = 3;
	assert_int_equal(apply(&scene, false, types, &err), -1);
	assert_string_equal(err.text, "run 'job': FAILED: exited with 3");
	assert_int_equal(err.code, ERROR_FAILED);
	assert_true(count_log(&scene, " pending") >= 2);
	scene_done(&scene);
}

/* Whatever goes wrong, and however often, the end is the same. */
static void trouble_ends_as_if_there_was_none(void **state)
{
	static const struct {
		const char *trouble;
		int code; /* of the first apply; 0: no failure */
		const char *text;
	} cases[] = {
		{ "create:*:twice", 0, NULL },
		{ "create:3:lost", 0, NULL },
		{ "create:job:lost", ERROR_UNREACHABLE,
		  "start run 'job': no answer, as told" },
		{ "create:job#1:lost", 0, NULL },
		{ "create:1-3:try-again", 0, NULL },
		{ "create:thing-05#1-4:unreachable", 0, NULL },
		{ "wait:*:lost", ERROR_UNREACHABLE, NULL },
		{ "create:thing-05:permanent", ERROR_FAILED,
		  "create thing 'job-thing-05': failed, as told" },
		{ "create:4:denied", ERROR_DENIED, NULL },
		/* This fails only once, so the second try succeeds. */
		{ "create:thing-05#1:quota", ERROR_TRY_AGAIN,
		  "create thing 'job-thing-05': more than is allowed, as "
		  "told" },
		{ "*:20:permanent", ERROR_FAILED, NULL },
		{ "read:5:permanent", ERROR_FAILED,
		  "read thing 'job-thing-05': failed, as told" },
		{ "wait:job#1:unreachable", 0, NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct scene scene;
		struct error err = { 0 };
		int ret;

		scene_init(&scene, 8);
		fail_at(&scene, cases[i].trouble);
		ret = apply(&scene, false, NULL, &err);
		if (ret != (cases[i].code ? -1 : 0) ||
		    (int)err.code != cases[i].code)
			fail_msg("%s: %d %s", cases[i].trouble, err.code,
				 err.text);
		if (cases[i].text)
			assert_string_equal(err.text, cases[i].text);
		fail_at(&scene, NULL);
		assert_int_equal(apply(&scene, false, NULL, &err), 0);
		check_world(&scene, 8, 1);
		scene_done(&scene);
	}
}

static int apply_in_child(struct scene *scene)
{
	struct error err;
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(apply(scene, false, NULL, &err) < 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* kill -9 at each call, before and after it, then a last apply. */
static void killed_anywhere_ends_the_same(void **state)
{
	static const char *const hows[] = { "kill", "kill-after" };
	int calls = 100;
	size_t how;
	int i;

	(void)state;
	for (how = 0; how < COUNT(hows); how++) {
		for (i = 1; i <= calls; i++) {
			struct scene scene;
			char text[64];
			int status;

			scene_init(&scene, 5);
			snprintf(text, sizeof(text), "*:%d:%s", i, hows[how]);
			fail_at(&scene, text);
			status = apply_in_child(&scene);
			if (!WIFSIGNALED(status)) {
				/* All calls were tried. */
				assert_int_equal(status, 0);
				assert_true(i > 5);
				calls = 0;
			} else {
				assert_int_equal(WTERMSIG(status), SIGKILL);
			}
			fail_at(&scene, NULL);
			assert_int_equal(apply_in_child(&scene), 0);
			check_world(&scene, 5, 1);
			scene_done(&scene);
		}
		assert_int_equal(calls, 0);
		calls = 100;
	}
}

static void others_meddle(void **state)
{
	struct scene scene;
	struct error err = { 0 };
	char types[64];

	(void)state;
	scene_init(&scene, 3);
	scene.others[0] = "create:job:thing-01=gone";
	scene.others[1] = "create:job:thing-02.color=blue";
	scene.others[2] = "create:job:thing-03.size=7";
	scene.block.meddle.count = 3;
	assert_int_equal(apply(&scene, false, types, &err), 0);
	scene.block.meddle.count = 0;
	assert_int_equal(apply(&scene, false, types, &err), 0);
	/* The actions for: gone, but not needed any more; changed;
	 * unchangeable. */
	assert_string_equal(types, "nurn");
	assert_int_equal(apply(&scene, false, types, &err), 0);
	assert_string_equal(types, "nnnn");
	scene_done(&scene);
}

static void two_at_once_run_once(void **state)
{
	struct scene scene;
	pid_t pids[8];
	size_t i;

	(void)state;
	scene_init(&scene, 6);
	scene.block.run_time = 100;
	for (i = 0; i < COUNT(pids); i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			struct error err;

			_exit(apply(&scene, false, NULL, &err) < 0);
		}
	}
	for (i = 0; i < COUNT(pids); i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	check_world(&scene, 6, 1);
	scene_done(&scene);
}

static void calls_take_their_time(void **state)
{
	struct scene scene;
	struct error err = { 0 };
	int64_t start = time_monotonic_ms();

	(void)state;
	scene_init(&scene, 8);
	scene.block.width = 8;
	scene.block.call_time = 20;
	assert_int_equal(apply(&scene, false, NULL, &err), 0);
	/* 9 reads one after the other; create and wait for 8 at once; 3 calls
	 * for the run. */
	assert_true(time_monotonic_ms() - start >= 14 * 20);
	scene_done(&scene);
}

static void troubles_are_read(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "create:3:lost", NULL },
		{ "*:*:kill", NULL },
		{ "wait:thing-07#2-4:try-again", NULL },
		{ "create", "must be CALL:WHICH:WHAT" },
		{ "make:1:lost", "'make' is no call" },
		{ "create:0:lost", NULL },
		{ "create:3-1:lost", NULL },
		{ "create::lost", "'' is no name of a resource" },
		{ "create:1:never",
		  "'never' is no way to fail: permanent, denied, try-again, "
		  "unreachable, quota, lost, twice, kill or kill-after" },
	};
	struct trouble trouble;
	struct meddling meddling;
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		bool bad = cases[i].error || strstr(cases[i].text, ":0:") ||
			   strstr(cases[i].text, "3-1");

		assert_int_equal(trouble_parse(cases[i].text, &trouble, &err),
				 bad ? -1 : 0);
		if (cases[i].error)
			assert_string_equal(err.text, cases[i].error);
	}
	assert_int_equal(meddling_parse("create:1:x=gone", &meddling, &err), 0);
	assert_int_equal(meddling_parse("create:1:x.a=b", &meddling, &err), 0);
	assert_string_equal(meddling.property, "a");
	assert_int_equal(meddling_parse("create:1:x=b", &meddling, &err), -1);
	assert_int_equal(meddling_parse("create:1:x", &meddling, &err), -1);
}

static void without_a_world_nothing_exists(void **state)
{
	struct scene scene;
	struct error err = { 0 };

	(void)state;
	scene_init(&scene, 1);
	scene.block.world = NULL;
	assert_int_equal(apply(&scene, false, NULL, &err), -1);
	assert_string_equal(err.text,
			    "create thing 'job-thing-01': it has no world to "
			    "be in: set jobrun.fake.world");
	scene_done(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_made_once),
		cmocka_unit_test(changes_are_made),
		cmocka_unit_test(runs_end_as_told),
		cmocka_unit_test(trouble_ends_as_if_there_was_none),
		cmocka_unit_test(killed_anywhere_ends_the_same),
		cmocka_unit_test(others_meddle),
		cmocka_unit_test(two_at_once_run_once),
		cmocka_unit_test(calls_take_their_time),
		cmocka_unit_test(troubles_are_read),
		cmocka_unit_test(without_a_world_nothing_exists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
