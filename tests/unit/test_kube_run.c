/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs in a cluster, with its stand-in.  Each command runs in a child, so that
 * it can be killed at each of its requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/support/kube_test.h"

static void a_run_is_made_followed_and_forgotten(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	struct run_record run;
	struct task_list tasks;

	stand_in_tell(&f->server, "state",
		      "{'pods': [{'lines': ['one', 'two']}]}");
	kube_test_open(&c, KUBE_TEST_FULL);
	kube_test_must(&c, kube_test_apply(&c, false));
	kube_test_must(&c, kube_test_wait(&c));
	kube_test_get_run(&c, f->mem, &run);
	assert_int_equal(run.state, RUN_SUCCEEDED);
	assert_int_equal(run.exit_code, 0);
	assert_string_equal(kube_test_log(&c, "worker", 0, f->mem),
			    "one\ntwo\n");
	assert_int_equal(
		store_task_list(c.env.store, &run, f->mem, &tasks, &c.err), 0);
	assert_int_equal(tasks.count, 2);
	assert_int_equal(tasks.items[1].state, RUN_SUCCEEDED);
	/* Running it again is another attempt, but still one object. */
	kube_test_must(&c, kube_test_apply(&c, true));
	kube_test_must(&c, kube_test_wait(&c));
	kube_test_get_run(&c, f->mem, &run);
	assert_int_equal(run.attempt, 2);
	assert_int_equal(kube_test_count(f, "JobSet"), 1);
	assert_int_equal(kube_test_count(f, "Secret"), 1);
	assert_int_equal(kube_test_count(f, "ConfigMap"), 1);
	kube_test_must(&c, kube_test_run(&c)->kind->delete (
				   c.ctx, kube_test_run(&c), &c.err));
	assert_int_equal(kube_test_count(f, "JobSet"), 0);
	assert_int_equal(kube_test_count(f, "Secret"), 0);
	assert_int_equal(kube_test_count(f, "ConfigMap"), 0);
	kube_test_close(&c);
}

static void without_jobsets_it_is_a_job(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;

	stand_in_tell(&f->server, "state",
		      "{'jobset': false, 'pods': [{'lines': ['x']}]}");
	kube_test_open(&c, KUBE_TEST_JOB);
	kube_test_must(&c, kube_test_apply(&c, false));
	kube_test_must(&c, kube_test_wait(&c));
	assert_int_equal(kube_test_count(f, "Job"), 1);
	assert_int_equal(kube_test_count(f, "Service"), 1);
	assert_string_equal(kube_test_log(&c, "master", 0, f->mem), "x\n");
	kube_test_close(&c);
}

/* The next command goes on, whatever was done before: there is one of each
 * object, all are owned, and every log line comes exactly once. */
static void killed_after_each_request(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	bool killed = true;
	int n;

	stand_in_tell(&f->server, "state",
		      "{'pods': [{'lines': ['one', 'two', 'three']}]}");
	for (n = 1; killed; n++) {
		killed = kube_test_killed_at(f, KUBE_TEST_FULL, n);
		if (killed)
			assert_int_equal(kube_test_child(f, KUBE_TEST_FULL), 0);
		assert_int_equal(kube_test_count(f, "JobSet"), 1);
		assert_int_equal(kube_test_count(f, "Secret"), 1);
		assert_int_equal(kube_test_count(f, "ConfigMap"), 1);
		kube_test_open(&c, KUBE_TEST_FULL);
		assert_string_equal(kube_test_log(&c, "master", 0, f->mem),
				    "one\ntwo\nthree\n");
		assert_string_equal(kube_test_log(&c, "worker", 0, f->mem),
				    "one\ntwo\nthree\n");
		kube_test_must(&c, kube_test_run(&c)->kind->delete (
					   c.ctx, kube_test_run(&c), &c.err));
		kube_test_close(&c);
		assert_int_equal(kube_test_count(f, "Secret"), 0);
	}
	/* That many requests are made. */
	assert_true(n > 15);
}

static void a_lost_answer_makes_no_second_run(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	struct run_record run;

	stand_in_tell(&f->server, "faults",
		      "[{'do': 'drop-answer', 'method': 'PATCH', 'path': "
		      "'jobsets/net.fieldManager=jobrun&fieldValidation="
		      "Strict$'},"
		      "{'do': 'cut-body', 'path': '/log'}]");
	stand_in_tell(&f->server, "state",
		      "{'pods': [{'lines': ['one', 'two', 'three']}]}");
	kube_test_open(&c, KUBE_TEST_JOB);
	kube_test_must(&c, kube_test_apply(&c, false));
	kube_test_must(&c, kube_test_wait(&c));
	kube_test_get_run(&c, f->mem, &run);
	assert_int_equal(run.attempt, 1);
	assert_string_equal(kube_test_log(&c, "master", 0, f->mem),
			    "one\ntwo\nthree\n");
	kube_test_close(&c);
}

static void the_cluster_has_a_say_in_the_plan(void **state)
{
	struct kube_test *f = *state;
	struct resource *found;
	struct kube_command c;
	const json_t *warnings;

	stand_in_tell(&f->server, "state",
		      "{'deny': 'no GPUs on Fridays', 'warn': ['old "
		      "\\\"field\\\"', 'another']}");
	kube_test_open(&c, KUBE_TEST_JOB);
	assert_null(resources_read(c.want, c.ctx, &c.err));
	assert_string_equal(c.err.text,
			    "read job 'net': the cluster refuses it: admission "
			    "webhook \"policy.example.com\" denied the "
			    "request: no GPUs on Fridays");
	stand_in_tell(&f->server, "state", "{'deny': null}");
	found = resources_read(c.want, c.ctx, &c.err);
	assert_non_null(found);
	warnings = json_object_get(kube_test_run(&c)->request, "warnings");
	assert_string_equal(json_string_value(json_array_get(warnings, 0)),
			    "old \"field\"");
	assert_string_equal(json_string_value(json_array_get(warnings, 1)),
			    "another");
	assert_int_equal(kube_test_count(f, "JobSet"), 0);
	resources_forget(found, c.want->count);
	kube_test_close(&c);
}

static void what_is_of_others_is_left_alone(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;

	stand_in_tell(&f->server, "state", "{'paused': true}");
	stand_in_tell(&f->server, "make",
		      "{'kind': 'JobSet', 'metadata': {'name': 'net'}, "
		      "'spec': {'replicatedJobs': []}}");
	kube_test_open(&c, KUBE_TEST_JOB);
	assert_null(resources_read(c.want, c.ctx, &c.err));
	assert_string_equal(c.err.text, "read job 'net': JobSet 'net' exists "
					"already and was not created by "
					"jobrun");
	assert_true(kube_test_make(&c, kube_test_run(&c)) < 0);
	assert_true(c.err.final);
	assert_int_equal(kube_test_count(f, "JobSet"), 1);
	kube_test_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_run_is_made_followed_and_forgotten, kube_test_start,
			kube_test_stop),
		cmocka_unit_test_setup_teardown(without_jobsets_it_is_a_job,
						kube_test_start,
						kube_test_stop),
		cmocka_unit_test_setup_teardown(killed_after_each_request,
						kube_test_start,
						kube_test_stop),
		cmocka_unit_test_setup_teardown(
			a_lost_answer_makes_no_second_run, kube_test_start,
			kube_test_stop),
		cmocka_unit_test_setup_teardown(
			the_cluster_has_a_say_in_the_plan, kube_test_start,
			kube_test_stop),
		cmocka_unit_test_setup_teardown(what_is_of_others_is_left_alone,
						kube_test_start,
						kube_test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
