/* SPDX-License-Identifier: Apache-2.0 */
/* Following runs in a cluster, with its stand-in: logs, failures, waiting, and
 * watches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "providers/kubernetes/record.h"
#include "providers/kubernetes/watch.h"
#include "tests/support/kube_test.h"

#define WAIT_MS 20000

static void logs_go_on_through_restarts(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	struct run_record run;

	stand_in_tell(&f->server, "state",
		      "{'pods': [{'pod': 'node/0/0', 'lines': ['first'], "
		      "'exit': 1, 'every': 0.5}, {'lines': ['second']}]}");
	kube_test_open(&c, KUBE_TEST_JOB "  restart: {maxRestarts: 2}\n");
	kube_test_must(&c, kube_test_apply(&c, false));
	kube_test_must(&c, kube_test_wait(&c));
	kube_test_get_run(&c, f->mem, &run);
	assert_int_equal(run.state, RUN_SUCCEEDED);
	assert_string_equal(kube_test_log(&c, "master", 0, f->mem),
			    "first\nsecond\n");
	kube_test_close(&c);
}

/* A line is any bytes up to a newline. */
static void logs_need_not_be_text(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;

	stand_in_tell(&f->server, "state",
		      "{'pods': [{'lines': ['caf\\udce9', '', 'a b'], "
		      "'every': 0.05}]}");
	kube_test_open(&c, KUBE_TEST_JOB);
	kube_test_must(&c, kube_test_apply(&c, false));
	kube_test_must(&c, kube_test_wait(&c));
	assert_string_equal(kube_test_log(&c, "master", 0, f->mem),
			    "caf\xe9\n\na b\n");
	kube_test_close(&c);
}

static void failures_name_the_task(void **state)
{
	static const struct {
		const char *pods, *why;
		int code;
	} cases[] = {
		{ "{'pods': [{'pod': 'node/1', 'exit': 3}, {'hold': true}]}",
		  "worker 0 exited with 3", 3 },
		{ "{'pods': [{'pod': 'node/0', 'exit': 139}, {'hold': true}]}",
		  "master 0 was killed by SIGSEGV", 139 },
		{ "{'pods': [{'pod': 'node/0', 'lost': true}, {'hold': true}]}",
		  "master 0 lost its node: the node was taken away", 137 },
	};
	struct kube_test *f = *state;
	struct run_record run;
	struct kube_command c;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		stand_in_tell(&f->server, "state", cases[i].pods);
		kube_test_open(&c, KUBE_TEST_JOB);
		kube_test_must(&c, kube_test_apply(&c, i > 0));
		kube_test_must(&c, kube_test_wait(&c));
		kube_test_get_run(&c, f->mem, &run);
		assert_int_equal(run.state, RUN_FAILED);
		assert_string_equal(run.error, cases[i].why);
		assert_int_equal(run.exit_code, cases[i].code);
		kube_test_close(&c);
	}
}

static void a_launcher_that_does_not_come_is_named(void **state)
{
	struct kube_test *f = *state;
	struct run_record run;
	struct kube_command c;

	stand_in_tell(&f->server, "state",
		      "{'pods': [{'pod': '/0/', 'init': {'reason': "
		      "'ImagePullBackOff', 'message': 'back-off', 'seconds': "
		      "60}}, {'hold': true}]}");
	kube_test_open(&c, KUBE_TEST_JOB "  command: [python3]\n"
					 "  kubernetes: {launcher: jobrun}\n");
	kube_test_must(&c, kube_test_apply(&c, false));
	kube_test_says(f, &c,
		       "waits: jobrun.kubernetes.launcher: its image can't "
		       "be pulled: back-off");
	/* The launcher fails as soon as it comes. */
	stand_in_tell(&f->server, "state",
		      "{'pods': [{'pod': '/0/', 'init': {'exit': 126, "
		      "'message': 'one\\ntwo\\n'}}, {'hold': true}]}");
	kube_test_must(&c, kube_test_run(&c)->kind->cancel(
				   c.ctx, kube_test_run(&c), true, &c.err));
	kube_test_must(&c, kube_test_wait(&c));
	kube_test_must(&c, kube_test_apply(&c, true));
	kube_test_must(&c, kube_test_wait(&c));
	kube_test_get_run(&c, f->mem, &run);
	assert_int_equal(run.state, RUN_FAILED);
	assert_int_equal(run.exit_code, 126);
	assert_string_equal(run.error,
			    "master 0 was not started: the container of "
			    "jobrun.kubernetes.launcher exited with 126: two");
	kube_test_close(&c);
}

static void what_it_waits_for_is_said(void **state)
{
	struct kube_test *f = *state;
	struct run_record run;
	struct kube_command c;

	stand_in_tell(
		&f->server, "state",
		"{'pods': [{'pod': 'node/0', 'hold': true, 'pending': "
		"{'message': '0/3 nodes are available: 3 Insufficient cpu.', "
		"'seconds': 2}}, {'hold': true, 'waiting': {'reason': "
		"'ErrImagePull', 'message': 'no such image', 'seconds': 60}}]"
		"}");
	kube_test_open(&c, KUBE_TEST_JOB);
	kube_test_must(&c, kube_test_apply(&c, false));
	kube_test_says(f, &c,
		       "waits for a node: 0/3 nodes are available: 3 "
		       "Insufficient cpu.");
	kube_test_says(f, &c, "its image can't be pulled: no such image");
	/* A run that is cancelled is no failure. */
	kube_test_must(&c, kube_test_run(&c)->kind->cancel(
				   c.ctx, kube_test_run(&c), true, &c.err));
	kube_test_must(&c, kube_test_wait(&c));
	kube_test_get_run(&c, f->mem, &run);
	assert_int_equal(run.state, RUN_CANCELLED);
	assert_int_equal(kube_test_count(f, "JobSet"), 0);
	assert_int_equal(kube_test_count(f, "Pod"), 0);
	kube_test_close(&c);
}

/* Makes the Workload that Kueue makes for a suspended JobSet. */
static void make_workload(struct kube_test *f, const char *uid)
{
	char *item = mem_printf(
		"{'kind': 'Workload', 'metadata': {'name': 'jobset-net', "
		"'ownerReferences': [{'kind': 'JobSet', 'name': 'net', 'uid': "
		"'%s'}]}, 'status': {'conditions': [{'type': 'QuotaReserved', "
		"'status': 'False', 'reason': 'Pending', 'message': "
		"'insufficient unused quota for cpu'}, {'type': 'Evicted', "
		"'status': 'True', 'message': 'preempted by a greater "
		"one'}]}}",
		uid);

	stand_in_tell(&f->server, "make", item);
	free(item);
}

static void kueue_says(struct kube_test *f, const char *version)
{
	struct kube_record record;
	struct kube_command c;
	struct error err;

	stand_in_tell(&f->server, "state", version);
	stand_in_tell(&f->server, "state",
		      "{'paused': true, 'positions': "
		      "{'jobset-other': 0, 'jobset-net': 2}}");
	kube_test_open(&c, KUBE_TEST_JOB "  kubernetes: {queue: team}\n");
	kube_test_must(&c, kube_test_apply(&c, false));
	assert_int_equal(record_get(c.ctx, "net", f->mem, &record, &err), 0);
	/* A workload of another run must not count. */
	make_workload(f, "another");
	make_workload(f, record.uid);
	kube_test_says(f, &c,
		       "waits in Kueue's queue at place 3: insufficient unused "
		       "quota for cpu; evicted: preempted by a greater one");
	kube_test_close(&c);
}

static void kueue_says_what_it_waits_for(void **state)
{
	kueue_says(*state, "{'kueue': true}");
}

static void newer_kueues_do_too(void **state)
{
	kueue_says(*state, "{'kueue': 'v1beta2'}");
}

static bool is_readable(int fd, int ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, ms) == 1;
}

static void change(const struct kube_test *f, const char *label)
{
	char *item = mem_printf(
		"{'kind': 'JobSet', 'metadata': {'name': 'net', 'labels': "
		"{'a': '%s'}}, 'spec': {'replicatedJobs': []}}",
		label);

	stand_in_tell(&f->server, "make", item);
	free(item);
}

/* Returns a new descriptor of the same watch. */
static int look(struct kube_command *c, const struct kube_at *at)
{
	int fd = -1;

	kube_test_must(
		c, watch_open(c->ctx, at, &type_jobset, "net", &fd, &c->err));
	return fd;
}

/* Whether a follower, which keeps its watch, is told of a change. */
static bool hears(struct kube_command *c, const struct kube_at *at, int fd)
{
	int64_t until = time_monotonic_ms() + WAIT_MS;

	do {
		watch_keep(c->ctx, at, &type_jobset, "net");
		if (is_readable(fd, 20))
			return true;
	} while (time_monotonic_ms() < until);
	return false;
}

/* Whether a watch was broken in this way, and opened again. */
static bool was_broken(const struct kube_test *f, const char *fault)
{
	json_t *all = stand_in_ask(&f->server, "requests"), *one;
	size_t i, n = 0;

	json_array_foreach(all, i, one)
	{
		if (!strstr(json_get_text(one, "path", ""), "watch=true"))
			continue;
		if (!strcmp(json_get_text(one, "fault", ""), fault) || n)
			n++;
	}
	json_decref(all);
	return n > 1;
}

static void keep_until_broken(struct kube_test *f, struct kube_command *c,
			      const struct kube_at *at, const char *fault)
{
	int64_t until = time_monotonic_ms() + WAIT_MS;

	while (!was_broken(f, fault)) {
		watch_keep(c->ctx, at, &type_jobset, "net");
		assert_true(time_monotonic_ms() < until);
		usleep(10000);
	}
}

static void watches_go_on(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	struct kube_at at;
	int fd;

	stand_in_tell(&f->server, "state", "{'paused': true}");
	kube_test_open(&c, KUBE_TEST_JOB);
	kube_test_must(&c, kube_find(c.ctx, "team@", &at, &c.err));
	fd = look(&c, &at);
	change(f, "one");
	assert_true(hears(&c, &at, fd));
	close(fd);
	/* A change that was reported is not reported again. */
	fd = look(&c, &at);
	assert_false(is_readable(fd, 200));
	/* The version to go on from is gone (410), so the watch begins
	 * again. */
	stand_in_tell(&f->server, "compact", "{}");
	assert_true(hears(&c, &at, fd));
	close(fd);
	/* The same happens when its connection breaks in the middle of an
	 * event. */
	stand_in_tell(&f->server, "faults",
		      "[{'do': 'cut-body', 'path': 'watch=true'}]");
	fd = look(&c, &at);
	stand_in_tell(&f->server, "compact", "{}");
	keep_until_broken(f, &c, &at, "cut-body");
	close(fd);
	fd = look(&c, &at);
	change(f, "two");
	assert_true(hears(&c, &at, fd));
	close(fd);
	kube_test_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(logs_go_on_through_restarts,
						kube_test_start,
						kube_test_stop),
		cmocka_unit_test_setup_teardown(
			logs_need_not_be_text, kube_test_start, kube_test_stop),
		cmocka_unit_test_setup_teardown(failures_name_the_task,
						kube_test_start,
						kube_test_stop),
		cmocka_unit_test_setup_teardown(
			a_launcher_that_does_not_come_is_named, kube_test_start,
			kube_test_stop),
		cmocka_unit_test_setup_teardown(what_it_waits_for_is_said,
						kube_test_start,
						kube_test_stop),
		cmocka_unit_test_setup_teardown(
			newer_kueues_do_too, kube_test_start, kube_test_stop),
		cmocka_unit_test_setup_teardown(kueue_says_what_it_waits_for,
						kube_test_start,
						kube_test_stop),
		cmocka_unit_test_setup_teardown(watches_go_on, kube_test_start,
						kube_test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
