/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/job/traits.h"
#include "core/topology/contract.h"
#include "core/topology/topology.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/schema.h"

/* A job from the text of a file, and its tasks. */
struct scene {
	struct jobs jobs;
	struct problems found;
	struct arena *mem;
	struct topology all;
};

static int scene_init(struct scene *scene, const char *text, struct error *err)
{
	static const struct schema_provider local = { .name = "local",
						      .traits =
							      TRAIT_PROCESSES };
	struct schema_options options = { .providers = &local,
					  .provider_count = 1,
					  .provider = "local" };

	memset(scene, 0, sizeof(*scene));
	scene->mem = arena_new();
	assert_int_equal(schema_load_text("job.yaml", text, strlen(text),
					  &options, &scene->jobs, &scene->found,
					  err),
			 0);
	assert_int_equal(scene->jobs.count, 1);
	return topology_from_job(scene->jobs.items[0], catalogue_get(err),
				 "127.0.0.1", scene->mem, &scene->all, err);
}

static void scene_done(struct scene *scene)
{
	arena_free(scene->mem);
	problems_done(&scene->found);
	jobs_done(&scene->jobs);
}

/* Shows the tasks as "master worker*4 ps*3". */
static void describe(const struct topology *all, char *out, size_t size)
{
	int counts[TASK_TYPE_COUNT] = { 0 };
	size_t used = 0;
	size_t i;

	for (i = 0; i < all->count; i++) {
		/* Indices count up within a type. */
		assert_int_equal(all->tasks[i].index,
				 counts[all->tasks[i].type]++);
	}
	out[0] = '\0';
	for (i = 0; i < TASK_TYPE_COUNT; i++)
		if (counts[i])
			used += (size_t)snprintf(out + used, size - used,
						 "%s%s*%d", used ? " " : "",
						 task_type_name(i), counts[i]);
}

static void jobs_become_tasks(void **state)
{
#define TPU(type, count)                                                       \
	"{scaleTier: CUSTOM, masterType: n1-highcpu-16, workerType: "          \
	"cloud_tpu, workerCount: 1, workerConfig: {acceleratorConfig: "        \
	"{type: " type ", count: " count "}}}"
	static const struct {
		const char *input, *tasks, *slice;
		unsigned devices;
	} cases[] = {
		{ "{scaleTier: BASIC}", "master*1", NULL, 0 },
		{ "{region: us-central1}", "master*1", NULL, 0 },
		{ "{scaleTier: STANDARD_1}", "master*1 worker*4 ps*3", NULL,
		  0 },
		{ "{scaleTier: PREMIUM_1}", "master*1 worker*19 ps*11", NULL,
		  0 },
		{ "{scaleTier: BASIC_GPU}", "master*1", NULL, 0 },
		{ "{scaleTier: BASIC_TPU}", "master*1", "v2-8", 8 },
		{ "{scaleTier: CUSTOM, masterType: n1-standard-4, workerType: "
		  "n1-standard-4, workerCount: 2, evaluatorType: "
		  "n1-standard-4, evaluatorCount: 1}",
		  "master*1 worker*2 evaluator*1", NULL, 0 },
		{ "{scaleTier: CUSTOM, masterType: complex_model_m, "
		  "workerType: cloud_tpu, workerCount: 1}",
		  "master*1", "v2-8", 8 },
		{ TPU("TPU_V3", "8"), "master*1", "v3-8", 8 },
		{ TPU("TPU_V3", "32"), "worker*4", "v3-32", 8 },
		{ TPU("TPU_V2", "512"), "worker*64", "v2-512", 8 },
		{ TPU("TPU_V4", "16"), "worker*2", "v4-16", 4 },
	};
	struct error err = { 0 };
	struct scene scene;
	char text[4096], got[128];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(text, sizeof(text), "jobId: a\ntrainingInput: %s\n",
			 cases[i].input);
		assert_int_equal(scene_init(&scene, text, &err), 0);
		describe(&scene.all, got, sizeof(got));
		assert_string_equal(got, cases[i].tasks);
		if (cases[i].slice)
			assert_string_equal(scene.all.tpu_slice,
					    cases[i].slice);
		else
			assert_null(scene.all.tpu_slice);
		assert_int_equal(scene.all.devices_per_host, cases[i].devices);
		scene_done(&scene);
	}
}

static void set_ports(struct topology *all, int first)
{
	int ports[16];
	size_t i;

	assert_true(topology_port_count(all) <= COUNT(ports));
	for (i = 0; i < topology_port_count(all); i++)
		ports[i] = first + (int)i;
	topology_set_ports(all, ports);
}

/* The variables of a job that printed them on AI Platform, with other names for
 * Google's tenant project. */
static void a_tpu_job_sees_what_it_saw_there(void **state)
{
	struct error err = { 0 };
	struct environment env = { 0 };
	struct scene scene;

	(void)state;
	assert_int_equal(
		scene_init(&scene,
			   "jobId: tpu_test_3\n"
			   "trainingInput:\n"
			   "  scaleTier: CUSTOM\n"
			   "  masterType: n1-highcpu-16\n"
			   "  masterConfig: {imageUri: 'gcr.io/p/mnist:tpu'}\n"
			   "  workerType: cloud_tpu\n"
			   "  workerCount: 1\n"
			   "  workerConfig:\n"
			   "    acceleratorConfig: {type: TPU_V3, count: 8}\n"
			   "    tpuTfVersion: '1.15'\n"
			   "  region: us-central1\n",
			   &err),
		0);
	set_ports(&scene.all, 2222);
	contract_write(&scene.all, 0, &env);
	assert_string_equal(
		environment_get(&env, "TF_CONFIG"),
		"{\"cluster\":{\"master\":[\"127.0.0.1:2222\"]},"
		"\"environment\":\"cloud\","
		"\"task\":{\"type\":\"master\",\"index\":0},"
		"\"job\":\"{\\n \\\"scale_tier\\\": \\\"CUSTOM\\\",\\n"
		" \\\"master_type\\\": \\\"n1-highcpu-16\\\",\\n"
		" \\\"worker_type\\\": \\\"cloud_tpu\\\",\\n"
		" \\\"worker_count\\\": \\\"1\\\",\\n"
		" \\\"region\\\": \\\"us-central1\\\",\\n"
		" \\\"master_config\\\": {\\n"
		"  \\\"image_uri\\\": \\\"gcr.io/p/mnist:tpu\\\"\\n },\\n"
		" \\\"worker_config\\\": {\\n"
		"  \\\"accelerator_config\\\": {\\n"
		"   \\\"count\\\": \\\"8\\\",\\n"
		"   \\\"type\\\": \\\"TPU_V3\\\"\\n  },\\n"
		"  \\\"tpu_tf_version\\\": \\\"1.15\\\"\\n }\\n}\"}");
	assert_string_equal(environment_get(&env, "TPU_CONFIG"),
			    "{\"project\": \"local\", "
			    "\"zone\": \"us-central1-b\", "
			    "\"tpu_node_name\": "
			    "\"cmle-training-tpu_test_3-tpu\"}");
	assert_string_equal(environment_get(&env, "CLOUD_ML_JOB_ID"),
			    "tpu_test_3");
	/* A TPU node has no PJRT: with it PyTorch/XLA would look for a TPU on
	 * the machine itself.  The address of the node must come from its
	 * API. */
	assert_null(environment_get(&env, "PJRT_DEVICE"));
	assert_null(environment_get(&env, "XRT_TPU_CONFIG"));
	environment_done(&env);
	scene.all.tpu_kind = TPU_CPU;
	contract_write(&scene.all, 0, &env);
	assert_string_equal(environment_get(&env, "PJRT_DEVICE"), "CPU");
	assert_string_equal(environment_get(&env, "CPU_NUM_DEVICES"), "8");
	environment_done(&env);
	scene_done(&scene);
}

static void ranks_are_of_master_and_workers(void **state)
{
	struct error err = { 0 };
	struct environment env = { 0 };
	struct scene scene;

	(void)state;
	assert_int_equal(scene_init(&scene,
				    "jobId: a\n"
				    "trainingInput: {scaleTier: STANDARD_1}\n",
				    &err),
			 0);
	set_ports(&scene.all, 3000);
	/* Two of the workers are on another host. */
	scene.all.tasks[3].host = scene.all.tasks[4].host = "10.0.0.2";
	topology_rank(&scene.all);
	contract_write(&scene.all, 4, &env);
	assert_string_equal(environment_get(&env, "MASTER_ADDR"), "127.0.0.1");
	assert_string_equal(environment_get(&env, "MASTER_PORT"), "3008");
	assert_string_equal(environment_get(&env, "RANK"), "4");
	assert_string_equal(environment_get(&env, "WORLD_SIZE"), "5");
	assert_string_equal(environment_get(&env, "LOCAL_RANK"), "1");
	assert_string_equal(environment_get(&env, "LOCAL_WORLD_SIZE"), "2");
	assert_string_equal(environment_get(&env, "GROUP_RANK"), "1");
	assert_null(environment_get(&env, "TPU_CONFIG"));
	environment_done(&env);
	/* A parameter server has no rank, but is in the cluster. */
	contract_write(&scene.all, 6, &env);
	assert_null(environment_get(&env, "RANK"));
	assert_non_null(strstr(environment_get(&env, "TF_CONFIG"),
			       "\"ps\":[\"127.0.0.1:3005\",\"127.0.0.1:3006\","
			       "\"127.0.0.1:3007\"]"));
	assert_non_null(strstr(environment_get(&env, "TF_CONFIG"),
			       "\"task\":{\"type\":\"ps\",\"index\":1}"));
	environment_done(&env);
	scene_done(&scene);
}

/* The variables that each framework's documents name, for tasks on several
 * hosts; "" means that a variable is not set. */
static void processes_share_their_machines(void **state)
{
#define GPUS(n)                                                                \
	", masterConfig: {acceleratorConfig: {type: NVIDIA_TESLA_T4, "         \
	"count: " n "}}"
#define WORKERS(n, gpus)                                                       \
	", workerType: n1-standard-8, workerCount: " n                         \
	", workerConfig: {acceleratorConfig: {type: NVIDIA_TESLA_T4, "         \
	"count: " gpus "}}"
	static const struct {
		const char *input, *processes, *tasks;
		size_t hosts, task;
		/* RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK */
		const char *ranks;
		const char *machine; /* of torchrun: NNODES NPROC NODE_RANK */
		const char *devices; /* JAX_LOCAL_DEVICE_IDS */
		const char *self;    /* in TF_CONFIG */
	} rows[] = {
		{ GPUS("4"), "1", "master*1", 1, 0, "0 1 0 1 0", "", "",
		  "\"master\",\"index\":0" },
		{ GPUS("4"), "4", "master*1 worker*3", 1, 3, "3 4 3 4 0", "",
		  "3", "\"worker\",\"index\":2" },
		{ GPUS("4"), "device", "master*1 worker*3", 1, 1, "1 4 1 4 0",
		  "", "1", "\"worker\",\"index\":0" },
		{ GPUS("4"), "2", "master*1 worker*1", 1, 1, "1 2 1 2 0", "",
		  "2,3", "\"worker\",\"index\":0" },
		{ GPUS("4") WORKERS("1", "4"), "device", "master*1 worker*7", 2,
		  5, "5 8 1 4 1", "", "1", "\"worker\",\"index\":4" },
		{ GPUS("4") WORKERS("1", "4"), "1", "master*1 worker*1", 2, 1,
		  "1 2 0 1 1", "2 4 1", "", "\"worker\",\"index\":0" },
		/* Both machines are rehearsed on one. */
		{ GPUS("4") WORKERS("1", "4"), "4", "master*1 worker*7", 1, 5,
		  "5 8 5 8 0", "", "", "\"worker\",\"index\":4" },
		/* The machines differ. */
		{ GPUS("2") WORKERS("2", "4"), "device", "master*1 worker*9", 3,
		  9, "9 10 3 4 2", "", "", "\"worker\",\"index\":8" },
		/* Parameter servers and evaluators have one process, and no
		 * rank. */
		{ GPUS("4") WORKERS(
			  "1", "4") ", parameterServerType: n1-standard-4, "
				    "parameterServerCount: 1, evaluatorType: "
				    "n1-standard-4, "
				    "evaluatorCount: 1",
		  "2", "master*1 worker*3 ps*1 evaluator*1", 4, 2, "2 4 0 2 1",
		  "", "0,1", "\"worker\",\"index\":1" },
		{ GPUS("4") WORKERS(
			  "1", "4") ", parameterServerType: n1-standard-4, "
				    "parameterServerCount: 1",
		  "1", "master*1 worker*1 ps*1", 3, 1, "1 2 0 1 1", "2 4 1", "",
		  "\"worker\",\"index\":0" },
	};
#undef GPUS
#undef WORKERS
	static const char *const hosts[] = { "a", "b", "c", "d" };
	struct error err = { 0 };
	size_t i, j, k;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		static const char *const names[] = { "RANK", "WORLD_SIZE",
						     "LOCAL_RANK",
						     "LOCAL_WORLD_SIZE",
						     "GROUP_RANK" };
		static const char *const torchrun[] = { "PET_NNODES",
							"PET_NPROC_PER_NODE",
							"PET_NODE_RANK" };
		struct environment env = { 0 };
		struct topology *all, back;
		struct buf got = { 0 };
		struct scene scene;
		char text[2048];
		const char *value;
		json_t *kept;

		snprintf(text, sizeof(text),
			 "jobId: a\ntrainingInput: {scaleTier: CUSTOM, "
			 "masterType: n1-standard-8%s}\n"
			 "jobrun: {processesPerHost: %s}\n",
			 rows[i].input, rows[i].processes);
		assert_int_equal(scene_init(&scene, text, &err), 0);
		all = &scene.all;
		describe(all, text, sizeof(text));
		assert_string_equal(text, rows[i].tasks);
		/* The topology passes through a run's specification. */
		set_ports(all, 3000);
		kept = topology_json(all);
		assert_int_equal(
			topology_from_json(kept, scene.mem, &back, &err), 0);
		json_decref(kept);
		all = &back;
		for (j = 0, k = 0; j < rows[i].hosts; j++) {
			size_t at = topology_on_host(all, j, rows[i].hosts, 0);

			for (; at < all->count; k++) {
				all->tasks[at].host = hosts[j];
				at = topology_on_host(all, j, rows[i].hosts,
						      at + 1);
			}
		}
		assert_int_equal(k, all->count);
		topology_rank(all);
		contract_write(all, rows[i].task, &env);
		for (j = 0; j < COUNT(names); j++)
			buf_printf(&got, "%s%s", j ? " " : "",
				   environment_get(&env, names[j]));
		assert_string_equal(buf_text(&got), rows[i].ranks);
		buf_clear(&got);
		for (j = 0; j < COUNT(torchrun); j++) {
			value = environment_get(&env, torchrun[j]);
			if (value)
				buf_printf(&got, "%s%s", got.len ? " " : "",
					   value);
		}
		assert_string_equal(buf_text(&got), rows[i].machine);
		value = environment_get(&env, "PET_MASTER_ADDR");
		assert_string_equal(value ? value : "",
				    *rows[i].machine ? "a" : "");
		value = environment_get(&env, "JAX_LOCAL_DEVICE_IDS");
		assert_string_equal(value ? value : "", rows[i].devices);
		snprintf(text, sizeof(text), "\"task\":{\"type\":%s}",
			 rows[i].self);
		assert_non_null(
			strstr(environment_get(&env, "TF_CONFIG"), text));
		buf_done(&got);
		environment_done(&env);
		scene_done(&scene);
	}
}

/* torch_xla/_internal/tpu.py starts a process for each chip. */
static void a_process_for_each_chip(void **state)
{
	static const char *const hosts[] = { "a", "b" };
	struct environment env = { 0 };
	struct error err = { 0 };
	struct topology *all;
	struct scene scene;
	char tasks[64];
	size_t i;

	(void)state;
	assert_int_equal(
		scene_init(&scene,
			   "jobId: a\n"
			   "trainingInput:\n"
			   "  workerConfig: {acceleratorConfig: {type: TPU_V4,"
			   " count: 16}}\n"
			   "jobrun: {processesPerHost: device}\n",
			   &err),
		0);
	all = &scene.all;
	describe(all, tasks, sizeof(tasks));
	assert_string_equal(tasks, "worker*8");
	all->tpu_kind = TPU_VM;
	for (i = 0; i < all->count; i++)
		all->tasks[i].host = hosts[all->tasks[i].machine];
	topology_rank(all);
	contract_write(all, 5, &env);
	assert_string_equal(environment_get(&env, "TPU_VISIBLE_CHIPS"), "1");
	assert_string_equal(environment_get(&env, "CLOUD_TPU_TASK_ID"), "5");
	assert_string_equal(environment_get(&env, "TPU_PROCESS_PORT"), "8477");
	assert_string_equal(environment_get(&env, "TPU_WORKER_ID"), "1");
	assert_null(environment_get(&env, "PET_NNODES"));
	environment_done(&env);
	/* A rehearsal has as many devices as the machine would have. */
	all->tpu_kind = TPU_CPU;
	contract_write(all, 5, &env);
	assert_string_equal(environment_get(&env, "CPU_NUM_DEVICES"), "1");
	environment_done(&env);
	topology_repeat(all, 2, scene.mem);
	assert_int_equal(topology_machines(all), 4);
	scene_done(&scene);
}

static void slices_are_told_of_each_other(void **state)
{
	static const struct {
		const char *id, *worker, *peers;
	} rows[] = {
		{ "0", "0", "a,b" },
		{ "0", "1", "a,b" },
		{ "1", "0", "c,d" },
		{ "1", "1", "c,d" },
	};
	static const char *const hosts[] = { "a", "b", "c", "d" };
	struct environment env = { 0 };
	struct error err = { 0 };
	struct topology *all;
	struct scene scene;
	char tasks[64];
	size_t i;

	(void)state;
	assert_int_equal(
		scene_init(&scene,
			   "jobId: a\n"
			   "trainingInput:\n"
			   "  workerConfig: {acceleratorConfig: {type: TPU_V4,"
			   " count: 16}}\n"
			   "jobrun: {provider: local}\n",
			   &err),
		0);
	all = &scene.all;
	topology_repeat(all, 2, scene.mem);
	describe(all, tasks, sizeof(tasks));
	assert_string_equal(tasks, "worker*4");
	all->tpu_kind = TPU_VM;
	for (i = 0; i < all->count; i++)
		all->tasks[i].host = hosts[i];
	topology_rank(all);
	for (i = 0; i < all->count; i++) {
		contract_write(all, i, &env);
		assert_string_equal(environment_get(&env, "MEGASCALE_SLICE_ID"),
				    rows[i].id);
		assert_string_equal(
			environment_get(&env, "MEGASCALE_NUM_SLICES"), "2");
		assert_string_equal(
			environment_get(&env, "MEGASCALE_COORDINATOR_ADDRESS"),
			"a:8080");
		assert_string_equal(environment_get(&env, "TPU_WORKER_ID"),
				    rows[i].worker);
		assert_string_equal(
			environment_get(&env, "TPU_WORKER_HOSTNAMES"),
			rows[i].peers);
		environment_done(&env);
	}
	scene_done(&scene);
}

/* The variables of pytorch/xla r1.13, torch_xla/distributed/xla_dist.py,
 * _env_vars_cmd(). */
static void tpu_vms_with_xrt_hear_what_xla_dist_told(void **state)
{
	static const char *const hosts[] = { "a", "b" };
	static const struct {
		const char *name;
		const char *first, *second; /* NULL: not set */
	} rows[] = {
		{ "XRT_LOCAL_WORKER", "c_localservice:0", "c_localservice:1" },
		{ "XRT_MESH_SERVICE_ADDRESS", "a:8477", "a:8477" },
		{ "XRT_SHARD_WORLD_SIZE", "2", "2" },
		{ "XRT_SHARD_ORDINAL", "0", "1" },
		{ "XRT_TPU_CONFIG",
		  "c_localservice;0;a:51011|c_localservice;1;b:51011", NULL },
		{ "TPU_NUM_DEVICES", "4", "4" },
		{ "TPUVM_MODE", "1", "1" },
		{ "CLOUD_TPU_TASK_ID", "0", "1" },
		{ "TPU_CHIPS_PER_HOST_BOUNDS", "2,2,1", "2,2,1" },
		{ "TPU_HOST_BOUNDS", "1,1,2", "1,1,2" },
		{ "TPU_MESH_CONTROLLER_ADDRESS", "a:8476", "a:8476" },
		{ "PJRT_DEVICE", NULL, NULL },
		{ "TPU_WORKER_ID", NULL, NULL },
	};
	struct environment env = { 0 };
	struct error err = { 0 };
	struct topology *all, back;
	struct scene scene;
	json_t *kept;
	size_t i, j;

	(void)state;
	assert_int_equal(
		scene_init(&scene,
			   "jobId: a\n"
			   "trainingInput:\n"
			   "  workerConfig: {acceleratorConfig: {type: TPU_V4,"
			   " count: 16}}\n"
			   "jobrun: {provider: local}\n",
			   &err),
		0);
	all = &scene.all;
	all->tpu_kind = TPU_VM;
	all->tpu_xrt = true;
	for (i = 0; i < all->count; i++)
		all->tasks[i].host = hosts[i];
	topology_rank(all);
	kept = topology_json(all);
	assert_int_equal(topology_from_json(kept, scene.mem, &back, &err), 0);
	for (i = 0; i < back.count; i++) {
		contract_write(&back, i, &env);
		for (j = 0; j < COUNT(rows); j++) {
			const char *want = i ? rows[j].second : rows[j].first;
			const char *got = environment_get(&env, rows[j].name);

			if (want ? !got || strcmp(got, want) != 0 : !!got)
				fail_msg("%s of %zu is %s", rows[j].name, i,
					 got ? got : "not set");
		}
		environment_done(&env);
	}
	json_decref(kept);
	scene_done(&scene);
}

static void a_topology_survives_its_json(void **state)
{
	struct error err = { 0 };
	struct topology back;
	struct scene scene;
	json_t *one, *two;
	char *first, *second;

	(void)state;
	assert_int_equal(scene_init(&scene,
				    "jobId: a\n"
				    "trainingInput: {scaleTier: BASIC_TPU}\n",
				    &err),
			 0);
	topology_repeat(&scene.all, 3, scene.mem);
	set_ports(&scene.all, 4000);
	one = topology_json(&scene.all);
	assert_int_equal(topology_from_json(one, scene.mem, &back, &err), 0);
	two = topology_json(&back);
	first = json_canonical(one);
	second = json_canonical(two);
	assert_string_equal(first, second);
	free(first);
	free(second);
	json_object_del(one, "tasks");
	assert_int_equal(topology_from_json(one, scene.mem, &back, &err), -1);
	json_decref(one);
	json_decref(two);
	scene_done(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_become_tasks),
		cmocka_unit_test(a_tpu_job_sees_what_it_saw_there),
		cmocka_unit_test(ranks_are_of_master_and_workers),
		cmocka_unit_test(processes_share_their_machines),
		cmocka_unit_test(a_process_for_each_chip),
		cmocka_unit_test(slices_are_told_of_each_other),
		cmocka_unit_test(tpu_vms_with_xrt_hear_what_xla_dist_told),
		cmocka_unit_test(a_topology_survives_its_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
