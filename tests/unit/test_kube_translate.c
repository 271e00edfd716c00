/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/net/http.h"
#include "providers/kubernetes/kubernetes.h"
#include "providers/kubernetes/manifest/kube_names.h"
#include "providers/kubernetes/render.h"
#include "providers/kubernetes/manifest/kube_translate.h"
#include "schema/catalogue/catalogue_get.h"
#include "tests/support/known.h"
#include "tests/support/stand_in.h"

#define TOKEN "token-that-nobody-may-see"

struct scene {
	struct jobs jobs;
	struct problems found;
	struct arena *mem;
	struct kube_job made;
};

static struct job *load(struct scene *scene, const char *text)
{
	const struct schema_provider known =
		known_provider(&provider_kubernetes);
	const struct schema_options options = { .providers = &known,
						.provider_count = 1 };
	struct error err;

	*scene = (struct scene){ .mem = arena_new() };
	assert_int_equal(schema_load_text("tests/unit/job.yaml", text,
					  strlen(text), &options, &scene->jobs,
					  &scene->found, &err),
			 0);
	if (scene->jobs.count != 1)
		fail_msg("%s", scene->found.count
				       ? scene->found.items[0].message
				       : "no job");
	assert_int_equal(job_digest(scene->jobs.items[0], &err), 0);
	return scene->jobs.items[0];
}

static void translate(struct scene *scene, const char *text)
{
	struct job *job = load(scene, text);
	struct error err;

	assert_int_equal(kube_translate(job, catalogue_get(&err), scene->mem,
					&scene->made, &err),
			 0);
}

static void done(struct scene *scene)
{
	kube_job_done(&scene->made);
	arena_free(scene->mem);
	problems_done(&scene->found);
	jobs_done(&scene->jobs);
}

/* Returns the value at "spec/replicatedJobs/0/name" as JSON, "" if there is
 * none. */
static const char *at(const json_t *value, const char *path)
{
	static char out[4096];
	char part[64];
	char *text;
	size_t n;

	for (; value && *path; path += n + (path[n] == '|')) {
		n = strcspn(path, "|");
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		value = json_is_array(value)
				? json_array_get(value, (size_t)atoi(part))
				: json_object_get(value, part);
	}
	if (!value)
		return "";
	text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	snprintf(out, sizeof(out), "%s", text);
	free(text);
	return out;
}

static const json_t *pool_spec(const struct scene *scene, size_t i)
{
	const json_t *jobs = json_object_get(
		json_object_get(scene->made.jobset, "spec"), "replicatedJobs");
	const json_t *template =
		json_object_get(json_array_get(jobs, i), "template");

	return json_object_get(template, "spec");
}

static const json_t *pod(const struct scene *scene, size_t i)
{
	return json_object_get(json_object_get(pool_spec(scene, i), "template"),
			       "spec");
}

/* Returns the value of a variable of the pool's pods, or "". */
static const char *variable(const struct scene *scene, size_t pool,
			    const char *name)
{
	const json_t *container = json_array_get(
		json_object_get(pod(scene, pool), "containers"), 0);
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(container, "env"), i, item)
	{
		if (!strcmp(json_get_text(item, "name", ""), name))
			return json_get_text(item, "value", "(a reference)");
	}
	return "";
}

static const char *why(const struct scene *scene, const char *path)
{
	size_t i;

	for (i = 0; i < scene->made.left_count; i++)
		if (!strcmp(scene->made.left[i].path, path))
			return scene->made.left[i].why;
	return "";
}

#define HEAD                                                                   \
	"jobId: net\ntrainingInput:\n  scaleTier: CUSTOM\n"                    \
	"  masterType: n1-standard-4\n"                                        \
	"  masterConfig: {imageUri: \"gcr.io/p/i:1\"}\n"
#define TAIL "jobrun:\n  provider: kubernetes\n"

static void alike_tasks_are_one_pool(void **state)
{
	struct scene scene;

	(void)state;
	translate(&scene, HEAD "  workerType: n1-standard-4\n"
			       "  workerCount: 2\n" TAIL);
	assert_int_equal(scene.made.pool_count, 1);
	assert_string_equal(at(pool_spec(&scene, 0), "completions"), "3");
	assert_string_equal(at(scene.made.indexed, "spec|completions"), "3");
	assert_string_equal(at(pod(&scene, 0), "containers|0|resources"),
			    "{\"requests\":{\"cpu\":\"3520m\",\"memory\":"
			    "\"11786Mi\"}}");
	assert_string_equal(variable(&scene, 0, "JOBRUN_TASKS"),
			    "node/master/1,node/worker/2");
	assert_string_equal(variable(&scene, 0, "MASTER_ADDR"),
			    "net-node-0-0.net");
	assert_string_equal(variable(&scene, 0, "WORLD_SIZE"), "3");
	assert_string_equal(variable(&scene, 0, "RANK"), "(a reference)");
	assert_string_equal(at(scene.made.service, "spec"),
			    "{\"clusterIP\":\"None\","
			    "\"publishNotReadyAddresses\":true,\"selector\":{"
			    "\"batch.kubernetes.io/job-name\":\"net\"}}");
	assert_null(kube_why_no_jobset(&scene.made));
	done(&scene);
}

/* What torchrun's options are without any. */
static void torchrun_makes_one_world_of_pods(void **state)
{
	static const struct {
		const char *jobrun;
		const char *nodes, *processes, *rank;
	} rows[] = {
		{ "", "2", "4", "(a reference)" },
		{ "  kubernetes: {launcher: 'r.io/jobrun:1'}\n", "", "4", "" },
		{ "  processesPerHost: 1\n", "2", "4", "(a reference)" },
		{ "  kubernetes: {launcher: 'r.io/jobrun:1'}\n"
		  "  processesPerHost: 4\n",
		  "", "", "" },
		{ "  command: [torchrun, --standalone, train.py]\n", "", "",
		  "" },
		{ "  env: {PET_NPROC_PER_NODE: '2'}\n", "2", "2",
		  "(a reference)" },
		{ "  env: {MASTER_ADDR: here}\n", "", "", "" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		struct scene scene;
		char text[2048];

		snprintf(text, sizeof(text),
			 "%s    acceleratorConfig: {type: NVIDIA_TESLA_T4, "
			 "count: 4}\n"
			 "  workerType: n1-standard-4\n  workerCount: 1\n"
			 "  workerConfig: {acceleratorConfig: {type: "
			 "NVIDIA_TESLA_T4, count: 4}}\n" TAIL "%s",
			 "jobId: net\ntrainingInput:\n  scaleTier: CUSTOM\n"
			 "  masterType: n1-standard-4\n  masterConfig:\n"
			 "    imageUri: 'gcr.io/p/i:1'\n",
			 rows[i].jobrun);
		translate(&scene, text);
		assert_string_equal(variable(&scene, 0, "PET_NNODES"),
				    rows[i].nodes);
		assert_string_equal(variable(&scene, 0, "PET_NPROC_PER_NODE"),
				    rows[i].processes);
		assert_string_equal(variable(&scene, 0, "PET_NODE_RANK"),
				    rows[i].rank);
		assert_string_equal(variable(&scene, 0, "PET_MASTER_ADDR"),
				    *rows[i].nodes ? "net-node-0-0.net" : "");
		assert_string_equal(variable(&scene, 0, "PET_MASTER_PORT"),
				    *rows[i].nodes ? "29500" : "");
		done(&scene);
	}
}

static void other_tasks_are_pools_of_their_own(void **state)
{
	struct scene scene;

	(void)state;
	translate(&scene, HEAD "  workerType: n1-standard-8\n  workerCount: 2\n"
			       "  workerConfig: {acceleratorConfig: {type: "
			       "NVIDIA_TESLA_T4, count: 2}}\n"
			       "  parameterServerType: n1-highmem-8\n"
			       "  parameterServerCount: 3\n" TAIL);
	assert_int_equal(scene.made.pool_count, 3);
	assert_null(scene.made.indexed);
	assert_null(scene.made.service);
	assert_string_equal(at(scene.made.jobset, "spec|successPolicy"),
			    "{\"operator\":\"All\",\"targetReplicatedJobs\":["
			    "\"master\"]}");
	assert_string_equal(at(pod(&scene, 1), "nodeSelector"),
			    "{\"cloud.google.com/gke-accelerator\":"
			    "\"nvidia-tesla-t4\"}");
	assert_string_equal(at(pod(&scene, 1), "containers|0|resources|limits"),
			    "{\"nvidia.com/gpu\":\"2\"}");
	assert_string_equal(variable(&scene, 2, "JOBRUN_TASKS"),
			    "master/master/1,worker/worker/2,ps/ps/3");
	assert_string_equal(variable(&scene, 1, "RANK"), "");
	assert_string_equal(variable(&scene, 2, "MASTER_ADDR"), "");
	assert_true(*why(&scene, "RANK of the workers"));
	assert_true(text_starts(kube_why_no_jobset(&scene.made),
				"its pods are not all alike"));
	done(&scene);
}

static void tpu_slices_have_a_pod_for_each_host(void **state)
{
	static const struct {
		const char *type;
		int count;
		const char *pods, *chips, *label, *topology;
	} cases[] = {
		{ "TPU_V3", 8, "1", "4", "tpu-v3-device", "2x2" },
		{ "TPU_V3", 32, "4", "4", "tpu-v3-slice", "4x4" },
		{ "TPU_V4", 8, "1", "4", "tpu-v4-podslice", "2x2x1" },
		{ "TPU_V4", 128, "16", "4", "tpu-v4-podslice", "4x4x4" },
		{ "TPU_V5P", 16, "2", "4", "tpu-v5p-slice", "2x2x2" },
		{ "TPU_V5_LITEPOD", 8, "1", "8", "tpu-v5-lite-podslice",
		  "2x4" },
		{ "TPU_V5_LITEPOD", 16, "4", "4", "tpu-v5-lite-podslice",
		  "4x4" },
		{ "TPU_V6E", 256, "64", "4", "tpu-v6e-slice", "16x16" },
	};
	struct scene scene;
	char *text, *selector;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		text = mem_printf(HEAD "  workerType: cloud_tpu\n"
				       "  workerCount: 1\n  workerConfig: "
				       "{acceleratorConfig: {type: %s, count: "
				       "%d}, tpuTfVersion: \"2.11\"}\n" TAIL,
				  cases[i].type, cases[i].count);
		selector = mem_printf(
			"{\"cloud.google.com/gke-tpu-accelerator\":\"%s\","
			"\"cloud.google.com/gke-tpu-topology\":\"%s\"}",
			cases[i].label, cases[i].topology);
		translate(&scene, text);
		assert_int_equal(scene.made.pool_count, 1);
		assert_string_equal(at(pool_spec(&scene, 0), "completions"),
				    cases[i].pods);
		assert_string_equal(at(pod(&scene, 0), "nodeSelector"),
				    selector);
		assert_int_equal(
			atoi(at(pod(&scene, 0), "containers|0|resources|limits|"
						"google.com/tpu") +
			     1),
			atoi(cases[i].chips));
		done(&scene);
		free(selector);
		free(text);
	}
}

static void restart_rules_are_failure_policies(void **state)
{
	struct scene scene;

	(void)state;
	translate(&scene,
		  HEAD "  scheduling: {maxRunningTime: 3600s}\n" TAIL
		       "  restart:\n    maxRestarts: 3\n    rules:\n"
		       "    - {exitCodes: [\"2\", \"64-66\"], action: fail}\n"
		       "    - {signals: [SIGSEGV], preempted: true, action: "
		       "restart}\n"
		       "    - {action: fail}\n");
	assert_string_equal(
		at(pool_spec(&scene, 0), "podFailurePolicy|rules"),
		"[{\"action\":\"Count\",\"onPodConditions\":[{\"type\":"
		"\"DisruptionTarget\",\"status\":\"True\"}]},"
		"{\"action\":\"FailJob\",\"onExitCodes\":{\"operator\":\"In\","
		"\"values\":[2,64,65,66]}},"
		"{\"action\":\"Count\",\"onExitCodes\":{\"operator\":\"In\","
		"\"values\":[139]}},"
		"{\"action\":\"FailJob\",\"onExitCodes\":{\"operator\":"
		"\"NotIn\",\"values\":[256]}}]");
	assert_string_equal(at(pool_spec(&scene, 0), "backoffLimit"), "0");
	assert_string_equal(at(scene.made.indexed, "spec|backoffLimit"), "3");
	assert_string_equal(at(scene.made.jobset, "spec|failurePolicy"),
			    "{\"maxRestarts\":3,\"rules\":[{\"name\":\"fail\","
			    "\"action\":\"FailJobSet\","
			    "\"onJobFailureReasons\":[\"PodFailurePolicy\"]},"
			    "{\"name\":\"deadline\",\"action\":\"FailJobSet\","
			    "\"onJobFailureReasons\":[\"DeadlineExceeded\"]}]"
			    "}");
	assert_string_equal(at(pool_spec(&scene, 0), "activeDeadlineSeconds"),
			    "3600");
	done(&scene);
}

#define LOST                                                                   \
	"\"onPodConditions\":[{\"type\":\"DisruptionTarget\",\"status\":"      \
	"\"True\"}]"
#define ANY "\"onExitCodes\":{\"operator\":\"NotIn\",\"values\":[256]}"
#define STOP                                                                   \
	"\"rules\":[{\"name\":\"fail\",\"action\":\"FailJobSet\","             \
	"\"onJobFailureReasons\":[\"PodFailurePolicy\"]}]"

/* Kubernetes has one limit for both. */
static void failures_and_preemptions_are_told_apart(void **state)
{
	static const struct {
		const char *restart; /* in the file */
		const char *pods, *jobset;
		const char *left;
	} cases[] = {
		{ "{maxRestarts: 2}", "", "{\"maxRestarts\":2}", "" },
		{ "{maxRestarts: 2, maxPreemptions: 5}", "",
		  "{\"maxRestarts\":2}",
		  "Kubernetes counts preemptions as it counts failures: "
		  "maxRestarts is for both" },
		{ "{maxRestarts: 2, maxPreemptions: 0}",
		  "[{\"action\":\"FailJob\"," LOST "}]",
		  "{\"maxRestarts\":2," STOP "}", "" },
		{ "{maxPreemptions: 5}",
		  "[{\"action\":\"Count\"," LOST "},"
		  "{\"action\":\"FailJob\"," ANY "}]",
		  "{\"maxRestarts\":5," STOP "}", "" },
		{ "{maxPreemptions: 5, rules: [{preempted: true, action: "
		  "fail}]}",
		  "", "", "" },
		{ "{maxRestarts: 2, rules: [{preempted: true, action: fail}]}",
		  "[{\"action\":\"FailJob\"," LOST "}]",
		  "{\"maxRestarts\":2," STOP "}", "" },
		{ "{maxRestarts: 0, maxPreemptions: 0}", "", "", "" },
	};
	struct scene scene;
	char text[1024];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(text, sizeof(text), HEAD TAIL "  restart: %s\n",
			 cases[i].restart);
		translate(&scene, text);
		assert_string_equal(
			at(pool_spec(&scene, 0), "podFailurePolicy|rules"),
			cases[i].pods);
		assert_string_equal(at(scene.made.jobset, "spec|failurePolicy"),
				    cases[i].jobset);
		assert_string_equal(
			why(&scene, "jobrun.restart.maxPreemptions"),
			cases[i].left);
		done(&scene);
	}
}

#define LAUNCHER "  kubernetes: {launcher: \"gcr.io/p/jobrun:1\"}\n"

static void a_launcher_starts_the_program(void **state)
{
	struct scene scene;

	(void)state;
	translate(&scene,
		  HEAD "  workerType: n1-standard-8\n  workerCount: 1\n"
		       "  args: [--epochs, \"5\"]\n" TAIL
		       "  command: [python3, train.py]\n  grace: 30s\n"
		       "  checkpoints: {to: \"gs://b/c\", keep: 2, metric: "
		       "loss, goal: MINIMIZE}\n"
		       "  metrics: {patterns: {loss: \"loss (.*)\"}}\n"
		       "  data: {train: {urls: [\"gs://b/$(1)/{0..9}.tar\"]}}"
		       "\n" LAUNCHER);
	assert_string_equal(
		at(pod(&scene, 0), "containers|0|command"),
		"[\"/jobrun/bin/jobrun\",\"launch\",\"--from=kubernetes\","
		"\"--grace=30s\","
		"\"--checkpoint-dir=/jobrun/run/checkpoints\","
		"\"--checkpoint-to=gs://b/c/net\",\"--checkpoint-keep=2\","
		"\"--checkpoint-quiet=10\",\"--checkpoint-metric=loss\","
		"\"--checkpoint-goal=minimize\","
		"\"--checkpoint-pattern=loss=loss (.*)\","
		/* Kubernetes turns "$$" into "$". */
		"\"--data={\\\"train\\\":{\\\"drop\\\":false,\\\"seed\\\":0,"
		"\\\"shuffle\\\":false,\\\"splitByDevice\\\":true,"
		"\\\"splitByHost\\\":true,"
		"\\\"urls\\\":[\\\"gs://b/$$(1)/{0..9}.tar\\\"]}}\","
		"\"--\",\"python3\",\"train.py\"]");
	assert_string_equal(at(pod(&scene, 0), "containers|0|args"),
			    "[\"--epochs\",\"5\"]");
	assert_string_equal(
		at(pod(&scene, 0), "initContainers"),
		"[{\"name\":\"jobrun\",\"image\":\"gcr.io/p/jobrun:1\","
		"\"command\":[\"jobrun\",\"launch\",\"--install\","
		"\"/jobrun/bin\"],"
		"\"terminationMessagePolicy\":\"FallbackToLogsOnError\","
		"\"resources\":{\"requests\":{\"cpu\":\"100m\",\"memory\":"
		"\"64M\"}},\"volumeMounts\":[{\"name\":\"jobrun-bin\","
		"\"mountPath\":\"/jobrun/bin\"}]}]");
	assert_string_equal(at(pod(&scene, 0), "volumes"),
			    "[{\"name\":\"jobrun-run\",\"emptyDir\":{}},"
			    "{\"name\":\"jobrun-bin\",\"emptyDir\":{}}]");
	assert_string_equal(at(pod(&scene, 0), "containers|0|volumeMounts|1"),
			    "{\"name\":\"jobrun-bin\",\"mountPath\":"
			    "\"/jobrun/bin\",\"readOnly\":true}");
	/* The grace covers the program and its last checkpoint. */
	assert_string_equal(at(pod(&scene, 0), "terminationGracePeriodSeconds"),
			    "60");
	assert_string_equal(at(scene.made.properties, "launcher"),
			    "\"gcr.io/p/jobrun:1\"");
	/* Each task itself sets what a manifest can't. */
	assert_string_equal(why(&scene, "RANK of the workers"), "");
	assert_false(kube_needs(&scene.made));
	done(&scene);
}

static void the_launcher_starts_several_processes(void **state)
{
	static const struct {
		const char *rest, *why;
	} cases[] = {
		{ "  command: [a]\n  processesPerHost: 4\n",
		  "jobrun starts them in the pods: name an image" },
		{ "  command: [a]\n  processesPerHost: 4\n"
		  "  checkpoints: {to: \"gs://b/c\"}\n" LAUNCHER,
		  "several processes in a pod do not go with" },
		{ "  command: [a]\n  processesPerHost: 1\n", "" },
	};
	struct scene scene;
	char text[1024];
	size_t i;

	(void)state;
	translate(&scene,
		  HEAD "  workerType: n1-standard-8\n  workerCount: 2\n" TAIL
		       "  command: [a]\n  processesPerHost: 4\n" LAUNCHER);
	assert_string_equal(
		at(pod(&scene, 0), "containers|0|command"),
		"[\"/jobrun/bin/jobrun\",\"launch\",\"--from=kubernetes\","
		"\"--processes=4\",\"--\",\"a\"]");
	assert_string_equal(at(scene.made.properties, "processesPerPod"), "4");
	/* Pods are tasks, as many as there are machines. */
	assert_int_equal(scene.made.tasks.count, 3);
	assert_false(kube_needs(&scene.made));
	done(&scene);
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(text, sizeof(text), HEAD TAIL "%s", cases[i].rest);
		translate(&scene, text);
		if (!strstr(why(&scene, "jobrun.processesPerHost"),
			    cases[i].why))
			fail_msg("%s: %s", cases[i].rest,
				 why(&scene, "jobrun.processesPerHost"));
		assert_int_equal(kube_needs(&scene.made),
				 *cases[i].why != '\0');
		done(&scene);
	}
}

static void a_launcher_is_asked_for_what_it_can_do(void **state)
{
	static const struct {
		const char *rest, *path, *why;
		bool needed;
	} cases[] = {
		{ "", "jobrun.command",
		  "a launcher replaces the image's entry point", true },
		{ "  command: [a]\n  checkpoints: {to: kept}\n",
		  "jobrun.checkpoints.to", "no volume there outlives the pods",
		  true },
		{ "  command: [a]\n  checkpoints: {to: /mnt/c}\n",
		  "jobrun.checkpoints.to", "no volume there outlives the pods",
		  true },
		{ "  command: [a]\n  checkpoints: {to: /vol/c}\n",
		  "jobrun.checkpoints.to", "", false },
		{ "  command: [a]\n  checkpoints: {to: /volume}\n",
		  "jobrun.checkpoints.to", "no volume there outlives the pods",
		  true },
		{ "  command: [a]\n  checkpoints: {}\n",
		  "jobrun.checkpoints.to",
		  "checkpoints are lost with their pod", false },
		{ "  command: [a]\n  checkpoints: {directory: /vol/c}\n",
		  "jobrun.checkpoints.to", "", false },
		{ "  command: [a]\n  source: ../../examples/quickstart\n"
		  "  checkpoints: {to: \"gs://b/c\", directory: out}\n",
		  "jobrun.checkpoints.directory",
		  "the program starts in its "
		  "source",
		  true },
		{ "  command: [a]\n  data: {train: {urls: [a.tar]}}\n",
		  "jobrun.data.train", "'a.tar' is a file of this machine",
		  true },
		{ "  command: [a]\n  data: {train: {urls: [/vol/a.tar], "
		  "index: shards.json}}\n",
		  "jobrun.data.train",
		  "'shards.json' is a file of this machine", true },
		{ "  command: [a]\n  data: {train: {urls: [/vol/a.tar]}}\n",
		  "jobrun.data.train", "", false },
	};
	struct scene scene;
	char *text;
	size_t i, j;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		text = mem_printf(HEAD TAIL
				  "%s  kubernetes:\n"
				  "    launcher: \"gcr.io/p/jobrun:1\"\n"
				  "    volumes: {v: {path: /vol, claim: c}}\n",
				  cases[i].rest);
		translate(&scene, text);
		if (!*cases[i].why)
			assert_string_equal(why(&scene, cases[i].path), "");
		else if (!text_starts(why(&scene, cases[i].path), cases[i].why))
			fail_msg("%zu: %s", i, why(&scene, cases[i].path));
		for (j = 0; j < scene.made.left_count; j++)
			if (!strcmp(scene.made.left[j].path, cases[i].path))
				assert_int_equal(scene.made.left[j].needed,
						 cases[i].needed);
		done(&scene);
		free(text);
	}
}

static void names_fit_and_differ(void **state)
{
	static const struct {
		const char *job, *name;
	} cases[] = {
		{ "quickstart", "quickstart" },
		{ "resnet_pod", "resnet-pod-" },
		{ "Resnet", "resnet-" },
		{ "end_", "end-" },
		{ "a_very_long_name_of_a_job_that_goes_on_and_on_and_on",
		  "a-very-long-name-of-a-job-that-" },
	};
	struct arena *mem = arena_new();
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const char *name = kube_name(cases[i].job, mem);

		assert_true(text_starts(name, cases[i].name));
		assert_true(strlen(name) <= KUBE_NAME_MAX);
		assert_null(strstr(name, "--"));
	}
	assert_string_not_equal(kube_name("a_b", mem), kube_name("A_b", mem));
	arena_free(mem);
}

static void what_has_no_place_is_said(void **state)
{
	static const struct {
		const char *path, *text;
		bool needed;
	} cases[] = {
		{ "trainingInput.masterConfig.imageUri",
		  "a pod runs a container image: set one with what the program "
		  "needs",
		  true },
		{ "trainingInput.region",
		  "the cluster is where it is: nodeSelector chooses among its "
		  "zones",
		  false },
		{ "trainingInput.runtimeVersion",
		  "the container image takes its place", false },
		{ "trainingInput.packageUris",
		  "packages are not installed there: build them into the "
		  "image, or set jobrun.source",
		  true },
		{ "trainingInput.scheduling.priority",
		  "priorities have names there: set "
		  "jobrun.kubernetes.priorityClass",
		  false },
		{ "jobrun.setup",
		  "no setup step runs there: build it into the image", true },
		{ "jobrun.kubernetes.volumes.both",
		  "exactly one of claim, configMap, secret, hostPath and "
		  "memory "
		  "says what it is",
		  true },
	};
	struct scene scene;
	size_t i, j;

	(void)state;
	translate(&scene, "jobId: a\ntrainingInput:\n  scaleTier: BASIC\n"
			  "  region: us-central1\n  runtimeVersion: \"2.11\"\n"
			  "  pythonVersion: \"3.7\"\n  pythonModule: a.b\n"
			  "  packageUris: [\"gs://b/a.tar.gz\"]\n"
			  "  scheduling: {priority: 5}\n" TAIL
			  "  setup: [make]\n  kubernetes:\n    volumes:\n"
			  "      both: {path: /a, claim: b, memory: 1Gi}\n");
	for (i = 0; i < COUNT(cases); i++) {
		assert_string_equal(why(&scene, cases[i].path), cases[i].text);
		for (j = 0; j < scene.made.left_count; j++)
			if (!strcmp(scene.made.left[j].path, cases[i].path))
				assert_int_equal(scene.made.left[j].needed,
						 cases[i].needed);
	}
	done(&scene);
}

/* ---- the documents ----------------------------------------------------- */

static void ignore(void *arg, bool needed, const char *path, const char *text)
{
	(void)arg;
	(void)needed;
	(void)path;
	(void)text;
}

static void apply(const struct stand_in *server, struct http *http,
		  const json_t *object)
{
	static const struct {
		const char *kind, *path;
	} paths[] = {
		{ "ConfigMap", "api/v1/namespaces/team/configmaps" },
		{ "Service", "api/v1/namespaces/team/services" },
		{ "Job", "apis/batch/v1/namespaces/team/jobs" },
		{ "JobSet",
		  "apis/jobset.x-k8s.io/v1alpha2/namespaces/team/jobsets" },
	};
	static const char *const headers[] = { "Authorization: Bearer " TOKEN,
					       NULL };
	struct http_request request = {
		.method = "PATCH",
		.headers = headers,
		.content_type = "application/apply-patch+yaml",
	};
	struct http_response answer = { 0 };
	const char *kind = json_get_text(object, "kind", "");
	char *body = json_dumps(object, JSON_COMPACT);
	struct error err;
	size_t i = 0;

	while (strcmp(paths[i].kind, kind) != 0)
		assert_true(++i < COUNT(paths));
	request.url = mem_printf(
		"%s/%s/%s?fieldManager=test&dryRun=All", server->base,
		paths[i].path,
		json_get_text(json_object_get(object, "metadata"), "name", ""));
	request.body = body;
	request.body_len = strlen(body);
	if (http_do(http, &request, &answer, &err) < 0)
		fail_msg("%s", err.text);
	if (answer.status != 201)
		fail_msg("%s: %s", body, buf_text(&answer.body));
	http_response_done(&answer);
	free((char *)request.url);
	free(body);
}

#define POD_METADATA                                                           \
	"metadata: {annotations: {sidecar.istio.io/inject: \"false\"}, "       \
	"labels: {team: vision}}"
#define POD_SPEC                                                               \
	"tolerations: [{key: gpu, operator: Exists, effect: NoSchedule, "      \
	"tolerationSeconds: 60}], affinity: {nodeAffinity: "                   \
	"{requiredDuringSchedulingIgnoredDuringExecution: "                    \
	"{nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, "  \
	"values: [a, b]}]}]}}}, securityContext: {runAsUser: 1000, fsGroup: "  \
	"1000, supplementalGroups: [1, 2], seccompProfile: {type: "            \
	"RuntimeDefault}}, runtimeClassName: nvidia, schedulerName: volcano, " \
	"hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet, hostIPC: "     \
	"true, shareProcessNamespace: false, enableServiceLinks: false, "      \
	"automountServiceAccountToken: false, resourceClaims: [{name: gpus, "  \
	"resourceClaimTemplateName: gpus}], topologySpreadConstraints: "       \
	"[{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: "                 \
	"ScheduleAnyway}], hostAliases: [{ip: 10.0.0.1, hostnames: [nfs]}], "  \
	"preemptionPolicy: Never, overhead: {cpu: 0.5}, volumes: [{name: "     \
	"nfs, nfs: {server: nfs, path: /x}}], initContainers: [{name: warm, "  \
	"image: busybox, command: [\"true\"]}], containers: [{name: main, "    \
	"resources: {limits: {memory: 64Gi, cpu: 7.5}, claims: [{name: "       \
	"gpus}]}, securityContext: {capabilities: {add: [IPC_LOCK]}}, "        \
	"volumeMounts: [{name: nfs, mountPath: /x}], lifecycle: {preStop: "    \
	"{sleep: {seconds: 5}}}, imagePullPolicy: Always}, {name: side, "      \
	"image: busybox}]"

static void what_the_file_adds_is_merged(void **state)
{
	struct scene scene;
	const char *pod = "spec|replicatedJobs|0|template|spec|template";
	char path[256];

	(void)state;
	translate(&scene, HEAD "  workerCount: 0\n" TAIL
			       "  kubernetes: {pod: {" POD_METADATA
			       ", spec: {" POD_SPEC "}}, job: {metadata: "
			       "{annotations: {a: b}}}}\n");
	snprintf(path, sizeof(path), "%s|spec|containers|0|resources", pod);
	/* What jobrun requests stays, and numbers are unchanged. */
	assert_string_equal(at(scene.made.jobset, path),
			    "{\"requests\":{\"cpu\":\"3520m\",\"memory\":"
			    "\"11786Mi\"},\"claims\":[{\"name\":\"gpus\"}],"
			    "\"limits\":{\"cpu\":\"7.5\",\"memory\":"
			    "\"64Gi\"}}");
	snprintf(path, sizeof(path), "%s|spec|containers|1|name", pod);
	assert_string_equal(at(scene.made.jobset, path), "\"side\"");
	snprintf(path, sizeof(path), "%s|metadata|labels|jobrun-job", pod);
	assert_string_not_equal(at(scene.made.jobset, path), "");
	assert_string_equal(at(scene.made.jobset, "metadata|annotations|a"),
			    "\"b\"");
	assert_string_equal(at(scene.made.properties, "job|metadata"),
			    "{\"annotations\":{\"a\":\"b\"}}");
	done(&scene);
}

/* An API server accepts the output of render in both forms: with
 * JOBRUN_API_SCHEMAS this is checked against the published documents. */
static void manifests_are_valid(void **state)
{
	static const char *const jobs[] = {
		HEAD "  workerType: n1-standard-4\n  workerCount: 4095\n" TAIL,
		HEAD "  workerType: n1-highcpu-16\n  workerCount: 2\n"
		     "  evaluatorType: n1-standard-4\n  evaluatorCount: 1\n"
		     "  args: [--x, \"$(HOME) and $HOME\"]\n" TAIL,
		HEAD "  workerType: cloud_tpu\n  workerCount: 1\n"
		     "  workerConfig: {acceleratorConfig: {type: TPU_V5P, "
		     "count: 16}, tpuTfVersion: \"2.11\"}\n" TAIL,
		HEAD "  scheduling: {maxRunningTime: 3600s}\n" TAIL
		     "  source: ../../examples/quickstart\n"
		     "  command: [python3, train.py]\n"
		     "  env: {A: \"$(B)\", JOBRUN_RUN_DIR: /data/run}\n"
		     "  secrets: {KEY: {env: KEY}}\n"
		     "  restart: {maxRestarts: 2, rules: [{action: fail, "
		     "exitCodes: [\"1-255\"]}, {preempted: true, action: "
		     "restart}, {action: fail}]}\n"
		     "  kubernetes:\n    namespace: team\n    queue: q\n"
		     "    priorityClass: high\n    serviceAccount: trainer\n"
		     "    imagePullSecrets: [pull]\n    ttl: 1h\n"
		     "    nodeSelector: {pool: gpu}\n"
		     "    volumes:\n      data: {path: /data, claim: c, "
		     "readOnly: true}\n      shm: {path: /dev/shm, memory: "
		     "8Gi}\n      cfg: {path: /cfg, configMap: c}\n"
		     "      key: {path: /key, secret: s}\n"
		     "      disk: {path: /disk, hostPath: /mnt}\n",
		HEAD "  workerType: n1-standard-4\n  workerCount: 3\n" TAIL
		     "  restart: {maxRestarts: 2}\n"
		     "  kubernetes: {controller: job}\n",
		HEAD "  workerType: n1-standard-8\n  workerCount: 1\n" TAIL
		     "  source: ../../examples/quickstart\n"
		     "  command: [python3, train.py]\n"
		     "  checkpoints: {to: \"gs://b/c\", metric: loss, goal: "
		     "MINIMIZE, resume: best}\n"
		     "  metrics: {patterns: {loss: \"loss ([0-9.]+)\"}}\n"
		     "  data: {train: {urls: [\"gs://b/{0..9}.tar\"]}}\n"
		     "  kubernetes: {launcher: \"gcr.io/p/jobrun:1\"}\n",
		HEAD "  workerType: n1-standard-8\n  workerCount: 1\n" TAIL
		     "  kubernetes: {pod: {" POD_METADATA ", spec: {" POD_SPEC
		     "}}, job: {metadata: {annotations: {a: b}}, spec: "
		     "{podReplacementPolicy: Failed}}}\n",
	};
	const struct http_options options = { .trace = "" };
	struct stand_in server;
	struct scene scene;
	struct error err;
	struct http *http;
	json_t *all, *one;
	size_t i, j;

	(void)state;
	stand_in_start_service(&server, "kubernetes", 0);
	http = http_new(&options, &err);
	assert_non_null(http);
	for (i = 0; i < COUNT(jobs); i++) {
		struct job *job = load(&scene, jobs[i]);

		all = kube_render(job, catalogue_get(&err), ignore, NULL, &err);
		if (!all)
			fail_msg("%s", err.text);
		json_array_foreach(all, j, one) apply(&server, http, one);
		json_decref(all);
		done(&scene);
	}
	http_free(http);
	stand_in_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alike_tasks_are_one_pool),
		cmocka_unit_test(torchrun_makes_one_world_of_pods),
		cmocka_unit_test(other_tasks_are_pools_of_their_own),
		cmocka_unit_test(tpu_slices_have_a_pod_for_each_host),
		cmocka_unit_test(restart_rules_are_failure_policies),
		cmocka_unit_test(failures_and_preemptions_are_told_apart),
		cmocka_unit_test(a_launcher_starts_the_program),
		cmocka_unit_test(the_launcher_starts_several_processes),
		cmocka_unit_test(a_launcher_is_asked_for_what_it_can_do),
		cmocka_unit_test(what_the_file_adds_is_merged),
		cmocka_unit_test(names_fit_and_differ),
		cmocka_unit_test(what_has_no_place_is_said),
		cmocka_unit_test(manifests_are_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
