/* SPDX-License-Identifier: Apache-2.0 */
/* Trials in a cluster, with its stand-in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/log/log_file.h"
#include "core/trial/trial_folder.h"
#include "providers/kubernetes/manifest/kube_translate.h"
#include "tests/support/kube_test.h"

#define HEAD                                                                   \
	"jobId: net\ntrainingInput:\n  scaleTier: CUSTOM\n"                    \
	"  masterType: n1-standard-4\n  jobDir: gs://b/net\n"                  \
	"  masterConfig: {imageUri: \"gcr.io/p/i:1\"}\n"
#define TUNING                                                                 \
	"  hyperparameters:\n    goal: MAXIMIZE\n    maxTrials: 4\n"           \
	"    maxParallelTrials: 2\n    algorithm: GRID_SEARCH\n"               \
	"    hyperparameterMetricTag: accuracy\n    params:\n"                 \
	"    - {parameterName: lr, type: DISCRETE, discreteValues: [0.1, "     \
	"0.5]}\n"                                                              \
	"    - {parameterName: kind, type: CATEGORICAL, categoricalValues: "   \
	"[\"$(a)\", \"b\"]}\n"
#define LIMIT "    maxFailedTrials: 2\n"
#define TAIL "jobrun:\n  provider: kubernetes\n  command: [python3, t.py]\n"
#define LAUNCHER "  kubernetes: {launcher: jobrun}\n"
#define TRIALS HEAD TUNING LIMIT TAIL LAUNCHER

/* ---- the Job ----------------------------------------------------------- */

/* Returns the first word of the program's container that begins with
 * `start`. */
static const char *word(const json_t *job, const char *start)
{
	const json_t *pod = json_object_get(
		json_object_get(json_object_get(job, "spec"), "template"),
		"spec");
	const json_t *words = json_object_get(
		json_array_get(json_object_get(pod, "containers"), 0),
		"command");
	const json_t *one;
	size_t i;

	json_array_foreach(
		words, i,
		one) if (text_starts(json_string_value(one),
				     start)) return json_string_value(one);
	return "";
}

static void each_is_an_index_of_one_job(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	struct kube_job made;
	const json_t *spec;

	kube_test_open(&c, TRIALS);
	assert_int_equal(kube_translate(c.jobs.items[0], c.env.catalogue,
					f->mem, &made, &c.err),
			 0);
	assert_null(made.jobset);
	assert_null(made.service);
	assert_false(kube_needs(&made));
	spec = json_object_get(made.indexed, "spec");
	assert_int_equal(json_get_int(spec, "completions", 0), 4);
	assert_int_equal(json_get_int(spec, "parallelism", 0), 2);
	assert_int_equal(json_get_int(spec, "backoffLimitPerIndex", -1), 0);
	assert_int_equal(json_get_int(spec, "maxFailedIndexes", -1), 1);
	assert_null(json_object_get(spec, "backoffLimit"));
	/* There is no "$" that Kubernetes could replace. */
	assert_string_equal(
		word(made.indexed, "--trials="),
		"--trials={\"metric\":\"accuracy\",\"names\":[\"lr\",\"kind\"],"
		"\"values\":[[\"0.1\",\"\\u0024(a)\"],[\"0.1\",\"b\"],"
		"[\"0.5\",\"\\u0024(a)\"],[\"0.5\",\"b\"]],"
		"\"jobDir\":\"gs://b/net\"}");
	kube_job_done(&made);
	kube_test_close(&c);
}

static const char *why(const struct kube_job *made, const char *path,
		       bool needed)
{
	size_t i;

	for (i = 0; i < made->left_count; i++)
		if (!strcmp(made->left[i].path, path) &&
		    made->left[i].needed == needed)
			return made->left[i].why;
	return "";
}

static void what_has_no_place_is_said(void **state)
{
	static const struct {
		const char *text, *path, *part;
		bool needed;
	} cases[] = {
		{ HEAD
		  "  workerType: n1-standard-4\n  workerCount: 1\n" TUNING TAIL
			  LAUNCHER,
		  "trainingInput.hyperparameters", "a trial there is one pod",
		  true },
		{ HEAD
		  "  workerType: n1-standard-8\n  workerCount: 1\n" TUNING TAIL
			  LAUNCHER,
		  "trainingInput.hyperparameters", "a trial there is one pod",
		  true },
		{ HEAD TUNING TAIL, "jobrun.kubernetes.launcher",
		  "name an image that has it", true },
		{ HEAD TUNING TAIL LAUNCHER "  checkpoints: {to: \"gs://b\"}\n",
		  "jobrun.checkpoints", "are not supported", true },
		{ HEAD TUNING TAIL
		  "  kubernetes: {launcher: jobrun, controller: jobset}\n",
		  "jobrun.kubernetes.controller", "of an Indexed Job", true },
		{ HEAD TUNING "    resumePreviousJobId: other\n" TAIL LAUNCHER,
		  "trainingInput.hyperparameters.resumePreviousJobId",
		  "only AI Platform resumes", true },
		{ HEAD TUNING
		  "    enableTrialEarlyStopping: true\n" TAIL LAUNCHER,
		  "trainingInput.hyperparameters.enableTrialEarlyStopping",
		  "each runs to its end", false },
		{ HEAD TUNING TAIL LAUNCHER,
		  "trainingInput.hyperparameters.maxFailedTrials",
		  "however many fail", false },
	};
	struct kube_test *f = *state;
	struct kube_command c;
	struct kube_job made;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		kube_test_open(&c, cases[i].text);
		assert_int_equal(kube_translate(c.jobs.items[0],
						c.env.catalogue, f->mem, &made,
						&c.err),
				 0);
		if (!strstr(why(&made, cases[i].path, cases[i].needed),
			    cases[i].part))
			fail_msg("%s: '%s'", cases[i].path,
				 why(&made, cases[i].path, cases[i].needed));
		kube_job_done(&made);
		kube_test_close(&c);
	}
}

static void more_values_than_an_argument_holds_are_refused(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	struct kube_job made;

	kube_test_open(&c, HEAD
		       "  hyperparameters:\n    goal: MAXIMIZE\n"
		       "    maxTrials: 9000\n    algorithm: RANDOM_SEARCH\n"
		       "    params:\n    - {parameterName: lr, type: DOUBLE, "
		       "minValue: 0.1, maxValue: 0.9}\n" TAIL LAUNCHER);
	assert_int_equal(kube_translate(c.jobs.items[0], c.env.catalogue,
					f->mem, &made, &c.err),
			 0);
	assert_non_null(strstr(
		why(&made, "trainingInput.hyperparameters.maxTrials", true),
		"a container's argument holds 131072"));
	kube_job_done(&made);
	kube_test_close(&c);
}

static void a_cluster_that_knows_none_says_so(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;

	stand_in_tell(&f->server, "state",
		      "{'drops': ['backoffLimitPerIndex', 'maxFailedIndexes', "
		      "'podFailurePolicy']}");
	kube_test_open(&c, TRIALS);
	assert_null(resources_read(c.want, c.ctx, &c.err));
	assert_string_equal(c.err.text,
			    "read job 'net': the cluster refuses it: it knows "
			    "no trials: that takes Kubernetes 1.29 "
			    "(backoffLimitPerIndex of a Job)");
	kube_test_close(&c);
}

/* ---- runs -------------------------------------------------------------- */

static void get_trials(struct kube_test *f, struct kube_command *c,
		       struct trial_list *out)
{
	struct run_record run;

	kube_test_get_run(c, f->mem, &run);
	kube_test_must(
		c, store_trial_list(c->env.store, &run, f->mem, out, &c->err));
}

/* Returns the output of a trial, in the arena of the test. */
static const char *log_of_trial(struct kube_test *f, struct kube_command *c,
				int number)
{
	char *folder = store_run_folder(c->env.store, "net", 1);
	char *trial = trial_logs_folder(folder, number);
	char *path = log_stream_path(trial, "master", 0, LOG_STDOUT);
	struct error err;
	size_t len;
	char *text = file_read(path, 1 << 20, &len, &err);
	const char *out = text ? arena_strdup(f->mem, text) : "";

	free(text);
	free(path);
	free(trial);
	free(folder);
	return out;
}

/* Runs a new run to its end. */
static void run_to_end(struct kube_test *f, struct kube_command *c,
		       const char *text, const char *pods,
		       struct run_record *run)
{
	stand_in_tell(&f->server, "state", pods);
	kube_test_open(c, text);
	kube_test_must(c, kube_test_apply(c, false));
	kube_test_must(c, kube_test_wait(c));
	kube_test_get_run(c, f->mem, run);
}

static void forget(struct kube_test *f, struct kube_command *c)
{
	struct resource *run = kube_test_run(c);

	kube_test_must(c, run->kind->delete (c->ctx, run, &c->err));
	assert_int_equal(kube_test_count(f, "Job"), 0);
	kube_test_close(c);
}

static void each_has_its_state_its_log_and_its_result(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	struct trial_list trials;
	struct task_list tasks;
	struct run_record run;

	run_to_end(f, &c, TRIALS,
		   "{'pods': [{'pod': '/1/', 'exit': 3}, "
		   "{'pod': '/2/', 'lines': ['accuracy=0.25', "
		   "'step=9 accuracy=0.75']}, "
		   "{'pod': '/3/', 'lines': ['none']}, "
		   "{'lines': ['accuracy=0.5']}]}",
		   &run);
	/* One trial may fail. */
	assert_int_equal(run.state, RUN_SUCCEEDED);
	assert_null(run.error);
	get_trials(f, &c, &trials);
	assert_int_equal(trials.count, 4);
	assert_int_equal(trials.items[0].state, RUN_SUCCEEDED);
	assert_true(trials.items[0].value == 0.5);
	assert_string_equal(trials.items[0].parameters,
			    "{\"lr\":\"0.1\",\"kind\":\"$(a)\"}");
	assert_int_equal(trials.items[1].state, RUN_FAILED);
	assert_int_equal(trials.items[1].exit_code, 3);
	assert_string_equal(trials.items[1].error, "master 0 exited with 3");
	assert_true(trials.items[2].value == 0.75);
	assert_int_equal(trials.items[2].step, 9);
	assert_int_equal(trials.items[3].state, RUN_SUCCEEDED);
	assert_true(isnan(trials.items[3].value));
	assert_string_equal(log_of_trial(f, &c, 3),
			    "accuracy=0.25\nstep=9 accuracy=0.75\n");
	assert_string_equal(log_of_trial(f, &c, 4), "none\n");
	assert_int_equal(
		store_task_list(c.env.store, &run, f->mem, &tasks, &c.err), 0);
	assert_int_equal(tasks.count, 0);
	forget(f, &c);
}

/* Not all trials ran, none reported a value, or all failed. */
static void a_run_without_a_result_has_failed(void **state)
{
	static const struct {
		const char *pods, *why;
	} cases[] = {
		{ "{'pods': [{'pod': '/[01]/', 'exit': 4}, {'hold': true}]}",
		  "2 trials failed (maxFailedTrials); trial " },
		{ "{'pods': [{'lines': ['x']}]}",
		  "no trial reported the metric 'accuracy'" },
		{ "{'pods': [{'pod': '/1/', 'exit': 4}, {'lines': ['x']}]}",
		  "no trial reported the metric 'accuracy'" },
	};
	struct kube_test *f = *state;
	struct kube_command c;
	struct run_record run;
	struct resource *found;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		run_to_end(f, &c, TRIALS, cases[i].pods, &run);
		assert_int_equal(run.state, RUN_FAILED);
		if (!strstr(run.error, cases[i].why))
			fail_msg("%s", run.error);
		/* The next plan says so, too, whatever the Job says. */
		found = resources_read(c.want, c.ctx, &c.err);
		assert_non_null(found);
		assert_int_equal(found[c.want->count - 1].run.state,
				 RUN_FAILED);
		resources_forget(found, c.want->count);
		forget(f, &c);
	}
}

static void all_may_fail(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	struct run_record run;

	run_to_end(f, &c, HEAD TUNING TAIL LAUNCHER, "{'pods': [{'exit': 4}]}",
		   &run);
	assert_int_equal(run.state, RUN_FAILED);
	assert_string_equal(run.error, "all 4 trials failed; the last: "
				       "master 0 exited with 4");
	forget(f, &c);
}

/* Each trial is restarted by itself, as jobrun.restart says. */
static void one_that_fails_starts_again(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	struct trial_list trials;
	struct run_record run;

	run_to_end(f, &c,
		   TRIALS "  restart: {maxRestarts: 1, rules: [{exitCodes: "
			  "[\"9\"], action: fail}]}\n",
		   "{'pods': [{'pod': 'node/0/0', 'lines': ['first'], "
		   "'exit': 1}, {'pod': '/1/', 'exit': 9}, "
		   "{'lines': ['accuracy=0.5']}]}",
		   &run);
	assert_int_equal(run.state, RUN_SUCCEEDED);
	get_trials(f, &c, &trials);
	assert_int_equal(trials.items[0].state, RUN_SUCCEEDED);
	assert_string_equal(log_of_trial(f, &c, 1), "first\naccuracy=0.5\n");
	/* No restart is left for the failed trial. */
	assert_int_equal(trials.items[1].state, RUN_FAILED);
	forget(f, &c);
}

/* The output of the earlier pod comes late, that of the later one at once. */
static void pods_of_a_trial_are_read_in_their_order(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	struct run_record run;

	run_to_end(f, &c, TRIALS "  restart: {maxRestarts: 1}\n",
		   "{'pods': [{'pod': 'node/0/0', 'lines': ['first'], "
		   "'slow': 1, 'exit': 1}, {'lines': ['accuracy=0.5']}]}",
		   &run);
	assert_int_equal(run.state, RUN_SUCCEEDED);
	assert_string_equal(log_of_trial(f, &c, 1), "first\naccuracy=0.5\n");
	forget(f, &c);
}

static void those_of_a_run_that_is_cancelled_are_too(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	struct trial_list trials = { 0 };
	struct run_record run;
	int64_t until = time_monotonic_ms() + 60000;
	enum wait_state at;
	size_t i;

	stand_in_tell(&f->server, "state",
		      "{'pods': [{'lines': ['accuracy=0.5'], 'hold': true}]}");
	kube_test_open(&c, TRIALS);
	kube_test_must(&c, kube_test_apply(&c, false));
	while (trials.count < 2) {
		kube_test_must(&c,
			       kube_test_run(&c)->kind->wait(
				       c.ctx, kube_test_run(&c), &at, &c.err));
		get_trials(f, &c, &trials);
		assert_true(time_monotonic_ms() < until);
		usleep(10000);
	}
	kube_test_must(&c, kube_test_run(&c)->kind->cancel(
				   c.ctx, kube_test_run(&c), true, &c.err));
	kube_test_must(&c, kube_test_wait(&c));
	kube_test_get_run(&c, f->mem, &run);
	assert_int_equal(run.state, RUN_CANCELLED);
	get_trials(f, &c, &trials);
	/* Two trials run at a time; the others are unknown. */
	assert_int_equal(trials.count, 2);
	for (i = 0; i < trials.count; i++)
		assert_int_equal(trials.items[i].state, RUN_CANCELLED);
	assert_int_equal(kube_test_count(f, "Pod"), 0);
	kube_test_close(&c);
}

/* A JobSet had the name before, which is no obstacle for the Job. */
static void what_the_job_was_before_makes_room(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	struct trial_list trials;
	struct run_record run;

	stand_in_tell(&f->server, "state",
		      "{'pods': [{'pod': 'master', 'hold': true}]}");
	kube_test_open(&c, HEAD TAIL);
	kube_test_must(&c, kube_test_apply(&c, false));
	assert_int_equal(kube_test_count(f, "JobSet"), 1);
	kube_test_close(&c);
	stand_in_tell(&f->server, "state",
		      "{'pods': [{'lines': ['accuracy=0.5']}]}");
	kube_test_open(&c, TRIALS);
	kube_test_must(&c, kube_test_apply(&c, true));
	assert_int_equal(kube_test_count(f, "JobSet"), 0);
	assert_int_equal(kube_test_count(f, "Job"), 1);
	kube_test_must(&c, kube_test_wait(&c));
	kube_test_get_run(&c, f->mem, &run);
	assert_int_equal(run.attempt, 2);
	assert_int_equal(run.state, RUN_SUCCEEDED);
	get_trials(f, &c, &trials);
	assert_int_equal(trials.count, 4);
	/* And back to a JobSet. */
	kube_test_close(&c);
	kube_test_open(&c, HEAD TAIL);
	kube_test_must(&c, kube_test_apply(&c, true));
	assert_int_equal(kube_test_count(f, "JobSet"), 1);
	kube_test_must(&c, kube_test_wait(&c));
	kube_test_get_run(&c, f->mem, &run);
	assert_int_equal(run.attempt, 3);
	kube_test_close(&c);
}

/* Two trials, one after the other. */
#define TWO                                                                    \
	HEAD "  hyperparameters:\n    goal: MAXIMIZE\n    maxTrials: 2\n"      \
	     "    hyperparameterMetricTag: accuracy\n"                         \
	     "    algorithm: GRID_SEARCH\n    params:\n"                       \
	     "    - {parameterName: lr, type: DISCRETE, discreteValues: "      \
	     "[0.1, 0.5]}\n" TAIL LAUNCHER

/* A second command goes on: every trial comes exactly once. */
static void killed_after_each_request(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	struct trial_list trials;
	struct run_record run;
	bool killed = true;
	int n;
	size_t i;

	stand_in_tell(&f->server, "state",
		      "{'pods': [{'lines': ['one', 'accuracy=0.5']}]}");
	for (n = 1; killed; n++) {
		killed = kube_test_killed_at(f, TWO, n);
		if (killed)
			assert_int_equal(kube_test_child(f, TWO), 0);
		assert_int_equal(kube_test_count(f, "Job"), 1);
		kube_test_open(&c, TWO);
		kube_test_get_run(&c, f->mem, &run);
		assert_int_equal(run.state, RUN_SUCCEEDED);
		get_trials(f, &c, &trials);
		assert_int_equal(trials.count, 2);
		for (i = 0; i < trials.count; i++) {
			assert_true(trials.items[i].value == 0.5);
			assert_string_equal(log_of_trial(f, &c, (int)i + 1),
					    "one\naccuracy=0.5\n");
		}
		forget(f, &c);
	}
	assert_true(n >= 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_is_an_index_of_one_job,
						kube_test_start,
						kube_test_stop),
		cmocka_unit_test_setup_teardown(what_has_no_place_is_said,
						kube_test_start,
						kube_test_stop),
		cmocka_unit_test_setup_teardown(
			more_values_than_an_argument_holds_are_refused,
			kube_test_start, kube_test_stop),
		cmocka_unit_test_setup_teardown(
			a_cluster_that_knows_none_says_so, kube_test_start,
			kube_test_stop),
		cmocka_unit_test_setup_teardown(
			each_has_its_state_its_log_and_its_result,
			kube_test_start, kube_test_stop),
		cmocka_unit_test_setup_teardown(
			a_run_without_a_result_has_failed, kube_test_start,
			kube_test_stop),
		cmocka_unit_test_setup_teardown(all_may_fail, kube_test_start,
						kube_test_stop),
		cmocka_unit_test_setup_teardown(one_that_fails_starts_again,
						kube_test_start,
						kube_test_stop),
		cmocka_unit_test_setup_teardown(
			pods_of_a_trial_are_read_in_their_order,
			kube_test_start, kube_test_stop),
		cmocka_unit_test_setup_teardown(
			those_of_a_run_that_is_cancelled_are_too,
			kube_test_start, kube_test_stop),
		cmocka_unit_test_setup_teardown(
			what_the_job_was_before_makes_room, kube_test_start,
			kube_test_stop),
		cmocka_unit_test_setup_teardown(killed_after_each_request,
						kube_test_start,
						kube_test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
