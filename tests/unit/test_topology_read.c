/* SPDX-License-Identifier: Apache-2.0 */
/* Readers refuse surroundings that are invalid.  Valid surroundings are in
 * test_contracts.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/text.h"
#include "core/topology/topology_read.h"
#include "core/topology/tpu_wait.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"

#define MAX_ENV 16

/* Whether the reader for the first variable of `env` is built in; it belongs to
 * its provider. */
static bool can_read(const char *env)
{
	static const struct {
		const char *variable, *provider;
	} rows[] = {
		{ "TF_CONFIG", "ai-platform" },
		{ "TPU_CONFIG", "ai-platform" },
		{ "CLUSTER_SPEC", "vertex-ai" },
		{ "SLURM_JOB_ID", "slurm" },
		{ "JOB_COMPLETION_INDEX", "kubernetes" },
		{ "KUBERNETES_SERVICE_HOST", "kubernetes" },
	};
	size_t i = 0;

	while (!text_starts(env, rows[i].variable))
		i++;
	return provider_find(rows[i].provider) != NULL;
}

/* Reads `text`, a list of variables separated by "|". */
static int read_text(const char *text, const char *host, struct arena *mem,
		     struct topology *out, size_t *self, struct error *err)
{
	char *env[MAX_ENV + 1] = { NULL };
	char *copy = arena_strdup(mem, text);
	struct surroundings at = { .env = env,
				   .host = host,
				   .catalogue = catalogue_get(err) };
	const struct topology_reader *reader;
	struct topology_readers readers;
	char *item, *save = NULL;
	size_t n = 0;

	for (item = strtok_r(copy, "|", &save); item;
	     item = strtok_r(NULL, "|", &save)) {
		assert_true(n < MAX_ENV);
		env[n++] = item;
	}
	provider_readers(providers, &readers);
	reader = topology_reader_detect(&readers, &at, err);
	return reader ? reader->read(&at, mem, out, self, err) : -1;
}

/* Vertex AI also sets TF_CONFIG, and a container of Slurm may run in a pod: the
 * order of the registry, which is for users, must not decide. */
static void the_surest_reader_is_asked_first(void **state)
{
	static const char *const order[] = { "vertex-ai", "ai-platform",
					     "slurm",     "kubernetes",
					     "tpu-vm",    "local" };
	const struct surroundings nowhere = { .env = (char *[]){ NULL } };
	struct topology_readers all, none = { 0 };
	struct buf names = { 0 };
	struct error err = { 0 };
	size_t i, n = 0;

	(void)state;
	provider_readers(providers, &all);
	buf_puts(&names, "unknown place 'moon': ");
	for (i = 0; i < COUNT(order); i++) {
		if (!provider_find(order[i]))
			continue;
		assert_true(n < all.count);
		buf_printf(&names, "%s%s", n ? ", " : "", order[i]);
		assert_string_equal(all.items[n++]->name, order[i]);
	}
	assert_int_equal(all.count, n);
	assert_null(topology_reader_find(&all, "moon", &err));
	assert_string_equal(err.text, buf_text(&names));
	buf_done(&names);
	if (provider_find("local"))
		assert_ptr_equal(topology_reader_detect(&all, &nowhere, &err),
				 provider_find("local")->reader);
	/* No provider runs tasks on this machine. */
	assert_null(topology_reader_detect(&none, &nowhere, &err));
	assert_int_equal(err.code, ERROR_INVALID);
	assert_string_equal(err.text, "this is not a known place");
}

static void nonsense_is_named(void **state)
{
	static const struct {
		const char *env, *text;
	} cases[] = {
		{ "TF_CONFIG={", "TF_CONFIG:1:1: string or '}' expected near "
				 "end of file" },
		{ "TF_CONFIG=[]", "TF_CONFIG is not a map" },
		{ "TF_CONFIG={\"cluster\": {\"boss\": [\"a:1\"]}, \"task\": "
		  "{}}",
		  "TF_CONFIG: 'boss' is no type of task that is known" },
		{ "TF_CONFIG={\"cluster\": {\"chief\": [\"a:1\"], \"master\": "
		  "[\"b:1\"]}, \"task\": {}}",
		  "TF_CONFIG: cluster has both 'chief' and 'master'" },
		{ "TF_CONFIG={\"cluster\": {\"worker\": [\"a\"]}}",
		  "TF_CONFIG: 'a' is no HOST:PORT" },
		{ "TF_CONFIG={\"cluster\": {\"worker\": [\"a:99999\"]}}",
		  "TF_CONFIG: 'a:99999' is no HOST:PORT" },
		{ "TF_CONFIG={\"cluster\": {\"worker\": [\"a:1\"]}, \"task\": "
		  "{\"type\": \"worker\", \"index\": 1}}",
		  "TF_CONFIG: task is worker 1, and cluster has no such one" },
		{ "TF_CONFIG={\"cluster\": {\"worker\": [\"a:1\"]}}",
		  "TF_CONFIG: task.type '' is no type of task that is known" },
		{ "TPU_CONFIG={\"project\": \"p\"}",
		  "TPU_CONFIG lacks project, zone or tpu_node_name" },
		{ "CLUSTER_SPEC={\"cluster\": {\"workerpool0\": 1}, \"task\": "
		  "{}}",
		  "CLUSTER_SPEC: cluster.workerpool0 is no list of addresses" },
		{ "SLURM_JOB_ID=1|SLURM_PROCID=0|SLURM_NTASKS=4",
		  "this is the batch script of the job, not one of its 4 "
		  "tasks: put srun before it" },
		{ "SLURM_JOB_ID=1|SLURM_PROCID=4|SLURM_STEP_NODELIST=a[1-2]|"
		  "SLURM_STEP_NUM_TASKS=4",
		  "SLURM_PROCID: '4' is not between 0 and 3" },
		{ "SLURM_JOB_ID=1|SLURM_PROCID=0|SLURM_STEP_NODELIST=a[1-2]|"
		  "SLURM_STEP_NUM_TASKS=4|SLURM_STEP_TASKS_PER_NODE=1(x2)",
		  "SLURM_STEP_NODELIST and SLURM_STEP_TASKS_PER_NODE are about "
		  "2 tasks, SLURM_NTASKS about 4" },
		{ "SLURM_JOB_ID=1|SLURM_PROCID=1|SLURM_STEP_NODELIST=a[1-2]|"
		  "SLURM_STEP_NUM_TASKS=4|SLURM_STEP_TASKS_PER_NODE=2(x2)|"
		  "SLURM_NODEID=1|SLURM_LOCALID=0",
		  "task 1 should be number 1 on 'a1', and is number 0 on 'a2': "
		  "use srun --distribution=block or cyclic" },
		{ "JOB_COMPLETION_INDEX=0",
		  "NNODES is not set: set it in the manifest to the number of "
		  "the Job's completions" },
		{ "JOB_COMPLETION_INDEX=3|NNODES=3",
		  "JOB_COMPLETION_INDEX is 3, and NNODES only 3" },
		{ "JOB_COMPLETION_INDEX=0|NNODES=3",
		  "the pod is called 'pod', which is not the Job's name and "
		  "'-0'" },
		{ "KUBERNETES_SERVICE_HOST=a|TPU_WORKER_HOSTNAMES=a,,b|"
		  "TPU_WORKER_ID=0",
		  "TPU_WORKER_HOSTNAMES has an empty name in it" },
	};
	struct arena *mem = arena_new();
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct topology all = { .job_id = "untouched" };
		struct error err = { 0 };
		size_t self = 77;

		if (!can_read(cases[i].env))
			continue;
		assert_int_equal(
			read_text(cases[i].env, "pod", mem, &all, &self, &err),
			-1);
		assert_string_equal(err.text, cases[i].text);
		assert_int_equal(err.code, ERROR_INVALID);
		assert_string_equal(all.job_id, "untouched");
	}
	arena_free(mem);
}

static void cyclic_tasks_take_turns(void **state)
{
	struct arena *mem = arena_new();
	struct topology all;
	struct error err;
	size_t self;

	(void)state;
	if (!can_read("SLURM_JOB_ID")) {
		arena_free(mem);
		skip();
	}
	assert_int_equal(
		read_text("SLURM_JOB_ID=1|SLURM_PROCID=3|"
			  "SLURM_STEP_NODELIST=a[1-2]|SLURM_STEP_NUM_TASKS=5|"
			  "SLURM_STEP_TASKS_PER_NODE=3,2|SLURM_NODEID=1|"
			  "SLURM_LOCALID=1|SLURM_DISTRIBUTION=cyclic:block",
			  "a2", mem, &all, &self, &err),
		0);
	assert_int_equal(self, 3);
	assert_string_equal(all.tasks[2].host, "a1");
	assert_string_equal(all.tasks[3].host, "a2");
	assert_string_equal(all.tasks[4].host, "a1");
	assert_int_equal(all.tasks[4].local_rank, 2);
	assert_int_equal(all.tasks[4].local_world, 3);
	assert_int_equal(all.tasks[4].group, 0);
	assert_int_equal(all.tasks[3].group, 1);
	arena_free(mem);
}

/* A TPU with the state that each look sees. */
struct stage {
	const struct tpu_view *views;
	size_t looks, count;
	long paused_s;
	struct buf said;
	enum error_code fails; /* each look does */
};

static int look(void *arg, const struct topology *all, struct arena *mem,
		struct tpu_view *out, struct error *err)
{
	struct stage *stage = arg;
	size_t at = stage->looks++;

	(void)all;
	(void)mem;
	if (stage->fails)
		return error_set(err, stage->fails, "no route to host");
	*out = stage->views[at < stage->count ? at : stage->count - 1];
	return 0;
}

static void say(void *arg, const char *text)
{
	struct stage *stage = arg;

	buf_printf(&stage->said, "%s\n", text);
}

static void pause_s(void *arg, long seconds)
{
	struct stage *stage = arg;

	stage->paused_s += seconds;
}

static int wait_on(struct stage *stage, struct topology *all, struct error *err)
{
	struct arena *mem = arena_new();
	struct tpu_wait how = { .tries = TPU_WAIT_TRIES,
				.interval_s = TPU_WAIT_INTERVAL_S,
				.look = look,
				.say = say,
				.pause = pause_s,
				.arg = stage };
	size_t self;
	int ret;

	assert_int_equal(read_text("TPU_CONFIG={\"project\": \"p\", \"zone\": "
				   "\"z\", \"tpu_node_name\": \"n\"}",
				   "h", mem, all, &self, err),
			 0);
	assert_true(tpu_is_awaited(all));
	ret = tpu_wait(all, catalogue_get(err), &how, mem, err);
	arena_free(mem);
	return ret;
}

static void a_tpu_is_waited_for(void **state)
{
	static const struct tpu_place host = { "10.0.101.2", 8470 };
	static const struct tpu_view views[] = {
		{ .sight = TPU_SEEN_PENDING, .words = "is CREATING" },
		{ .sight = TPU_SEEN_PENDING, .words = "is CREATING" },
		{ .sight = TPU_SEEN_READY, .hosts = &host, .host_count = 1 },
	};
	struct stage stage = { .views = views, .count = COUNT(views) };
	struct topology all;
	struct error err;

	(void)state;
	if (!can_read("TPU_CONFIG"))
		skip();
	assert_int_equal(wait_on(&stage, &all, &err), 0);
	assert_int_equal(stage.looks, 3);
	assert_int_equal(stage.paused_s, 20);
	assert_int_equal(all.tpu_host_count, 1);
	assert_int_equal(all.tpu_hosts[0].port, 8470);
	assert_string_equal(buf_text(&stage.said),
			    "TPU 'n' is CREATING: try 1 of 40, again in 10s\n"
			    "TPU 'n' is CREATING: try 2 of 40, again in 10s\n");
	buf_done(&stage.said);
}

static void waiting_for_a_tpu_ends(void **state)
{
	static const struct tpu_view never[] = {
		{ .sight = TPU_SEEN_PENDING, .words = "is CREATING" },
	};
	static const struct tpu_view lost[] = {
		{ .sight = TPU_SEEN_LOST, .words = "is PREEMPTED" },
	};
	static const struct tpu_place hosts[4] = { { "a", 1 } };
	static const struct tpu_view wide[] = {
		{ .sight = TPU_SEEN_READY, .hosts = hosts, .host_count = 4 },
	};
	static const struct {
		const struct tpu_view *views;
		enum error_code fails, code;
		size_t looks;
		const char *text;
	} cases[] = {
		{ never, 0, ERROR_TIMEOUT, 40,
		  "TPU 'n' was not ready after 40 tries, 10s apart: at last it "
		  "is CREATING (project 'p', zone 'z')" },
		{ lost, 0, ERROR_FAILED, 1,
		  "TPU 'n' is PREEMPTED, and will not become ready" },
		{ wide, 0, ERROR_FAILED, 1,
		  "TPU 'n' has 4 hosts, and the run has 1 task to drive them" },
		{ never, ERROR_UNREACHABLE, ERROR_TIMEOUT, 40,
		  "TPU 'n' was not ready after 40 tries, 10s apart: at last it "
		  "could not be queried (no route to host) (project 'p', "
		  "zone 'z')" },
		{ never, ERROR_DENIED, ERROR_DENIED, 1,
		  "TPU 'n': no route to host" },
	};
	size_t i;

	(void)state;
	if (!can_read("TPU_CONFIG"))
		skip();
	for (i = 0; i < COUNT(cases); i++) {
		struct stage stage = { .views = cases[i].views,
				       .count = 1,
				       .fails = cases[i].fails };
		struct error err = { 0 };
		struct topology all;

		assert_int_equal(wait_on(&stage, &all, &err), -1);
		assert_string_equal(err.text, cases[i].text);
		assert_int_equal(err.code, cases[i].code);
		assert_int_equal(stage.looks, cases[i].looks);
		buf_done(&stage.said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_surest_reader_is_asked_first),
		cmocka_unit_test(nonsense_is_named),
		cmocka_unit_test(cyclic_tasks_take_turns),
		cmocka_unit_test(a_tpu_is_waited_for),
		cmocka_unit_test(waiting_for_a_tpu_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
