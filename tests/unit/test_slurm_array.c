/* SPDX-License-Identifier: Apache-2.0 */
/* Trials of hyperparameters as the elements of a job array of Slurm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/trial/trial_result.h"
#include "core/trial/trial_spec.h"
#include "core/trial/trial_watch.h"
#include "providers/slurm/attempts.h"
#include "providers/slurm/queue.h"

static char *folder;

static int make_folder(void **state)
{
	char path[] = "/tmp/jobrun-test.XXXXXX";

	(void)state;
	folder = mem_strdup(mkdtemp(path));
	return 0;
}

static int remove_folder(void **state)
{
	struct error err;

	(void)state;
	folder_remove(folder, &err);
	free(folder);
	return 0;
}

static void put(const char *name, const char *text)
{
	char *path = path_join(folder, name);
	char *above = path_folder(path);
	struct error err;

	assert_int_equal(folder_make(above, &err), 0);
	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	free(above);
	free(path);
}

static bool has(const char *name, const char *wanted)
{
	char *path = path_join(folder, name);
	struct error err;
	size_t len;
	char *text = file_read(path, 1 << 20, &len, &err);
	bool out = text && !strcmp(text, wanted);

	free(text);
	free(path);
	return out;
}

/* ---- the queue --------------------------------------------------------- */

static void elements_are_one_job(void **state)
{
	static const struct {
		const char *states[3];
		enum run_state all;
	} cases[] = {
		{ { "PENDING", "PENDING", "PENDING" }, RUN_QUEUED },
		{ { "COMPLETED", "PENDING", "PENDING" }, RUN_RUNNING },
		{ { "RUNNING", "PENDING", "PENDING" }, RUN_RUNNING },
		{ { "FAILED", "COMPLETED", "RUNNING" }, RUN_RUNNING },
		{ { "COMPLETED", "COMPLETED", "COMPLETED" }, RUN_SUCCEEDED },
		{ { "COMPLETED", "TIMEOUT", "COMPLETED" }, RUN_FAILED },
		{ { "COMPLETED", "CANCELLED", "FAILED" }, RUN_CANCELLED },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		/* Elements come in any order, between other jobs. */
		char *text = mem_printf(
			"12_10|%s|30|50||None|jobrun:a:x:d\n"
			"13|RUNNING|1|2|n1|None|jobrun:b:x:d\n"
			"12_2|%s|20|90||JobArrayTaskLimit|jobrun:a:x:d\n"
			"12_1|%s|10|40|n7|None|jobrun:a:x:d\n",
			cases[i].states[2], cases[i].states[1],
			cases[i].states[0]);
		struct arena *mem = arena_new();
		const struct queue_job *job;
		struct slurm_queue queue;

		queue_parse(text, mem, &queue);
		assert_int_equal(queue.count, 2);
		job = queue_find(&queue, "jobrun:b:x:d");
		assert_string_equal(job->id, "13");
		assert_int_equal(job->element_count, 0);
		job = queue_find(&queue, "jobrun:a:x:d");
		assert_string_equal(job->id, "12");
		assert_int_equal(queue_state(job->state), cases[i].all);
		assert_int_equal(job->element_count, 3);
		assert_true(job->start_time_ms == 10000);
		assert_true(job->end_time_ms == 90000);
		assert_string_equal(queue_element(job, 1)->nodes, "n7");
		assert_string_equal(queue_element(job, 10)->state,
				    cases[i].states[2]);
		assert_null(queue_element(job, 3));
		if (cases[i].all == RUN_QUEUED)
			assert_string_equal(job->reason, "JobArrayTaskLimit");
		arena_free(mem);
		free(text);
	}
}

/* ---- values ------------------------------------------------------------ */

#define SPEC                                                                   \
	"{\"jobId\":\"a\",\"folder\":\".\",\"directory\":\"~\","               \
	"\"command\":[\"x\",\"y\",\"--job-dir\",\"gs://b\"],\"argsEnd\":2,"    \
	"\"restart\":{\"maxRestarts\":%d},\"hyperparameters\":{"               \
	"\"goal\":1,\"maxTrials\":4,\"maxFailedTrials\":%d,\"metric\":\"m\","  \
	"\"early\":true,\"params\":[{\"name\":\"a\",\"type\":2,\"min\":1,"     \
	"\"max\":4,\"categorical\":[],\"discrete\":[]}]},"                     \
	"\"topology\":{\"jobId\":\"a\",\"masterName\":\"master\","             \
	"\"tasks\":[{\"type\":\"master\",\"index\":0,\"host\":\"\"}]}}"

static void begin_run(int restarts, int failed, struct arena *mem,
		      struct run_spec *out)
{
	char *text = mem_printf(SPEC, restarts, failed);
	char *run = path_join(folder, "run");
	struct error err = { 0 };
	json_t *values;

	folder_remove(run, &err);
	put("run/spec.json", text);
	if (spec_read(run, mem, out, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
	values = trial_values_json(out);
	text = json_canonical(values);
	put("run/" TRIAL_VALUES_FILE, text);
	assert_string_equal(
		text,
		"[{\"a\":\"1\"},{\"a\":\"2\"},{\"a\":\"3\"},{\"a\":\"4\"}]");
	json_decref(values);
	free(text);
	free(run);
}

static void each_trial_has_its_values(void **state)
{
	struct arena *mem = arena_new();
	char *run = path_join(folder, "run");
	struct run_spec spec, trial;
	const char **values;
	struct error err;

	(void)state;
	begin_run(0, 0, mem, &spec);
	assert_int_equal(trial_count(&spec), 4);
	assert_int_equal(trial_values_read(run, &spec, 3, mem, &values, &err),
			 0);
	trial_spec_make(&spec, 3, values, "/f", "/f/metric", mem, &trial);
	assert_int_equal(trial.command.count, 5);
	assert_string_equal(trial.command.items[1], "y");
	assert_string_equal(trial.command.items[2], "--a=3");
	assert_string_equal(trial.command.items[4], "gs://b/3");
	assert_string_equal(trial.topology.trial_id, "3");
	assert_string_equal(trial.output, "/f/output");
	assert_string_equal(trial_parameters(&spec.tuning, values, mem),
			    "{\"a\":\"3\"}");
	assert_int_equal(trial_values_read(run, &spec, 5, mem, &values, &err),
			 -1);
	free(run);
	arena_free(mem);
}

/* ---- results ----------------------------------------------------------- */

static void results_survive_their_file(void **state)
{
	struct trial_result made = { .state = RUN_CANCELLED,
				     .exit_code = 143,
				     .early = true,
				     .time_ms = 7 };
	struct trial_record record = { 0 };
	struct trial_result is;
	struct error err;
	long i;

	(void)state;
	assert_int_equal(trial_result_read(folder, &is, &err), 1);
	for (i = 0; i < 5000; i++)
		trial_series_add(&made.series, (double)i / 2, i);
	assert_int_equal(trial_result_write(folder, &made, &err), 0);
	assert_int_equal(trial_result_read(folder, &is, &err), 0);
	/* Only some of so many values are kept, but always the last. */
	assert_in_range(is.series.count, 500, 1000);
	trial_result_record(&is, &record);
	assert_int_equal(record.state, RUN_CANCELLED);
	assert_int_equal(record.exit_code, 143);
	assert_true(record.early);
	assert_true(record.value == 4999 / 2.0);
	assert_int_equal(record.step, 4999);
	trial_result_done(&is);
	trial_result_done(&made);
	put("result", "{\"state\":\"what\"}");
	assert_int_equal(trial_result_read(folder, &is, &err), -1);
	put("result", "{\"state\":\"SUCCEEDED\"}");
	assert_int_equal(trial_result_read(folder, &is, &err), 0);
	trial_result_record(&is, &record);
	assert_true(isnan(record.value));
	trial_result_done(&is);
}

/* ---- what the nodes decide --------------------------------------------- */

/* Writes a stand-in for scancel that records its arguments. */
static void put_scancel(void)
{
	char *path = path_join(folder, "bin/scancel");
	char *text = mem_printf("#!/bin/sh\necho \"$@\" >>%s/told\n", folder);

	put("bin/scancel", text);
	assert_int_equal(chmod(path, 0700), 0);
	free(text);
	free(path);
}

static void turn_is(int trial, enum slurm_step step, int number)
{
	char *id = mem_printf("12_%d", trial);
	char *run = path_join(folder, "run");
	const struct slurm_turn turn = {
		.run = run, .job_id = id, .trial = trial, .ended = -1
	};
	enum slurm_step is_step;
	struct error err = { 0 };
	int is_number;

	if (slurm_turn_take(&turn, &is_step, &is_number, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(is_step, step);
	assert_int_equal(is_number, number);
	free(run);
	free(id);
}

/* Ends an attempt at a trial with this status and output. */
static void end_attempt(int trial, int attempt, int status, const char *output)
{
	static const char where[] = "run/trials/%d/attempts/%d/%s";
	char *name = mem_printf(where, trial, attempt, "tasks/master-0");
	char *text =
		mem_printf("start n1 1 1\nend %d %d 0 0\n", status << 8, trial);

	put(name, text);
	free(text);
	free(name);
	name = mem_printf(where, trial, attempt, "status");
	text = mem_printf("%d\n", status);
	put(name, text);
	free(text);
	free(name);
	name = mem_printf(where, trial, attempt, "metric");
	put(name, output);
	free(name);
}

static void result_is(int trial, int attempt, enum run_state state,
		      double value)
{
	char *path = mem_printf("%s/run/trials/%d/attempts/%d", folder, trial,
				attempt);
	struct trial_record record = { 0 };
	struct trial_result result;
	struct error err;

	assert_int_equal(trial_result_read(path, &result, &err), 0);
	trial_result_record(&result, &record);
	assert_int_equal(record.state, state);
	assert_true(isnan(value) ? isnan(record.value) : record.value == value);
	trial_result_done(&result);
	free(path);
}

static void the_last_to_end_says_how_it_went(void **state)
{
	struct arena *mem = arena_new();
	struct run_spec spec;

	(void)state;
	begin_run(1, 0, mem, &spec);
	turn_is(1, SLURM_STEP_BEGIN, 0);
	turn_is(2, SLURM_STEP_BEGIN, 0);
	turn_is(3, SLURM_STEP_BEGIN, 0);
	end_attempt(1, 0, 0, "{\"m\": 0.5, \"global_step\": 3}\n");
	turn_is(1, SLURM_STEP_END, 0);
	result_is(1, 0, RUN_SUCCEEDED, 0.5);
	/* Each trial has its own restarts. */
	end_attempt(2, 0, 3, "");
	turn_is(2, SLURM_STEP_BEGIN, 1);
	end_attempt(2, 1, 3, "");
	turn_is(2, SLURM_STEP_END, 3);
	result_is(2, 1, RUN_FAILED, NAN);
	end_attempt(3, 0, 0, "{\"m\": 0.7}\n");
	turn_is(3, SLURM_STEP_END, 0);
	turn_is(3, SLURM_STEP_END, 0);
	assert_false(has("run/status", "0\n"));
	turn_is(4, SLURM_STEP_BEGIN, 0);
	end_attempt(4, 0, 0, "");
	turn_is(4, SLURM_STEP_END, 0);
	result_is(4, 0, RUN_SUCCEEDED, NAN);
	assert_true(has("run/status", "0\n"));
	assert_false(has("told", "12\n"));
	arena_free(mem);
}

static void too_many_failures_end_the_others(void **state)
{
	struct arena *mem = arena_new();
	struct run_spec spec;

	(void)state;
	begin_run(1, 2, mem, &spec);
	put("run/trials/1/attempts/0/srun.err", "");
	turn_is(1, SLURM_STEP_BEGIN, 0);
	turn_is(2, SLURM_STEP_BEGIN, 0);
	turn_is(3, SLURM_STEP_BEGIN, 0);
	end_attempt(1, 0, 3, "");
	turn_is(1, SLURM_STEP_BEGIN, 1);
	end_attempt(1, 1, 3, "");
	turn_is(1, SLURM_STEP_END, 3);
	assert_false(has("told", "12\n"));
	end_attempt(2, 0, 3, "");
	turn_is(2, SLURM_STEP_BEGIN, 1);
	end_attempt(2, 1, 4, "");
	turn_is(2, SLURM_STEP_END, 4);
	/* The whole array is cancelled, once. */
	assert_true(has("told", "12\n"));
	assert_true(has("run/status", "1\n"));
	turn_is(2, SLURM_STEP_END, 4);
	assert_true(has("told", "12\n"));
	/* If that was not received, no trial begins any more, or again. */
	end_attempt(3, 0, 5, "");
	turn_is(3, SLURM_STEP_END, 5);
	turn_is(4, SLURM_STEP_END, 0);
	assert_true(has("told", "12\n"));
	arena_free(mem);
}

static void a_cancelled_run_is_no_success(void **state)
{
	struct arena *mem = arena_new();
	struct run_spec spec;
	int i;

	(void)state;
	begin_run(1, 0, mem, &spec);
	for (i = 1; i <= 4; i++)
		turn_is(i, SLURM_STEP_BEGIN, 0);
	for (i = 1; i <= 3; i++) {
		end_attempt(i, 0, 0, "{\"m\": 1}\n");
		turn_is(i, SLURM_STEP_END, 0);
	}
	end_attempt(4, 0, 3, "{\"m\": 1}\n");
	put("run/trials/4/attempts/0/tasks/master-0",
	    "start n1 1 1\ntold 15 4\nend 15 5 0 0\n");
	turn_is(4, SLURM_STEP_END, 3);
	result_is(4, 0, RUN_CANCELLED, 1);
	assert_true(has("run/status", "1\n"));
	arena_free(mem);
}

/* A trial that is stopped early is no failure, and the run succeeds. */
static void the_hopeless_end_early(void **state)
{
	static const char worse[] = "{\"m\": 1, \"global_step\": 1}\n";
	struct arena *mem = arena_new();
	char *run = path_join(folder, "run");
	struct run_spec spec, self;
	struct trial_watch *watch;
	struct error err;
	int i;

	(void)state;
	begin_run(1, 0, mem, &spec);
	for (i = 1; i <= 4; i++)
		turn_is(i, SLURM_STEP_BEGIN, 0);
	put("run/trials/4/attempts/0/metric", worse);
	self = spec;
	self.folder = arena_printf(mem, "%s/trials/4/attempts/0", run);
	self.topology.metric_file = arena_printf(mem, "%s/metric", self.folder);
	watch = trial_watch_new(&self, run, &err);
	assert_non_null(watch);
	for (i = 1; i <= 3; i++) {
		assert_false(trial_watch_is_hopeless(watch));
		end_attempt(i, 0, 0, "{\"m\": 2, \"global_step\": 1}\n");
		turn_is(i, SLURM_STEP_END, 0);
	}
	assert_true(trial_watch_is_hopeless(watch));
	trial_watch_free(watch);
	put("run/trials/4/attempts/0/" TRIAL_EARLY_FILE, "");
	end_attempt(4, 0, 143, worse);
	put("run/trials/4/attempts/0/tasks/master-0",
	    "start n1 1 1\ntold 15 4\nend 15 5 0 0\n");
	turn_is(4, SLURM_STEP_END, 143);
	result_is(4, 0, RUN_CANCELLED, 1);
	assert_true(has("run/status", "0\n"));
	free(run);
	arena_free(mem);
}

/* Puts our own commands before Slurm's. */
static int put_path(void **state)
{
	char *bin, *path;

	make_folder(state);
	bin = path_join(folder, "bin");
	path = mem_printf("%s:%s", bin, getenv("PATH"));
	setenv("PATH", path, 1);
	put_scancel();
	free(path);
	free(bin);
	return 0;
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, put_path, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(elements_are_one_job),
		TEST(each_trial_has_its_values),
		TEST(results_survive_their_file),
		TEST(the_last_to_end_says_how_it_went),
		TEST(too_many_failures_end_the_others),
		TEST(a_cancelled_run_is_no_success),
		TEST(the_hopeless_end_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
