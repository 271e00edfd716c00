/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/manifest/kube_translate.h"

#include <string.h>

#include "core/base/json.h"
#include "core/job/machines.h"
#include "core/job/source.h"
#include "providers/kubernetes/manifest/kube_block.h"
#include "providers/kubernetes/manifest/in_place.h"
#include "providers/kubernetes/manifest/kube_types.h"
#include "providers/kubernetes/manifest/launcher.h"
#include "providers/kubernetes/manifest/kube_names.h"
#include "providers/kubernetes/manifest/pod.h"
#include "providers/kubernetes/manifest/pod_security.h"
#include "providers/kubernetes/manifest/policy.h"
#include "providers/kubernetes/manifest/kube_source.h"
#include "providers/kubernetes/manifest/kube_trials.h"
#include "providers/kubernetes/manifest/objects.h"
#include "providers/kubernetes/manifest/kube_uses.h"

/* Puts all pods of a slice, and no others, on one node pool. */
#define EXCLUSIVE_NOTE "alpha.jobset.sigs.k8s.io/exclusive-topology"
#define EXCLUSIVE_TOPOLOGY "cloud.google.com/gke-nodepool"

struct kube_translation {
	struct pod_maker pods;
	struct machine_groups machines;
	json_t *specs[KUBE_POOL_MAX]; /* the pod specs of each pool; owned */
	bool has_tpu;
};

void kube_leave_out(struct kube_job *out, bool needed, const char *path,
		    const char *why)
{
	size_t i;

	/* Pools share most of their fields, so report each path once. */
	for (i = 0; i < out->left_count; i++)
		if (!strcmp(out->left[i].path, path))
			return;
	if (out->left_count < KUBE_LEFT_MAX)
		out->left[out->left_count++] = (struct kube_left_out){
			.path = path, .why = why, .needed = needed
		};
}

/* ---- pools ------------------------------------------------------------- */

static void add_pool(struct kube_translation *t, const char *name, size_t count,
		     json_t *spec)
{
	struct kube_job *out = t->pods.out;
	size_t n = out->pool_count++;

	out->pools[n] = (struct kube_pool){ .name = name, .count = count };
	if (n > 0)
		out->pools[n].first =
			out->pools[n - 1].first + out->pools[n - 1].count;
	t->specs[n] = spec;
}

static const char *pool_name(enum role role)
{
	return role == ROLE_PARAMETER_SERVER ? task_type_name(TASK_PS)
					     : role_name(role);
}

/* Adds a group.  Workers that equal the master form one pool with it, so that
 * the index of a pod is its rank. */
static void add_group(struct kube_translation *t,
		      const struct machine_group *group)
{
	struct kube_job *out = t->pods.out;
	json_t *spec = pod_spec(&t->pods, group);

	if (group->role == ROLE_WORKER && out->pool_count == 1 &&
	    json_equal(spec, t->specs[0])) {
		json_decref(spec);
		out->pools[0].name = "node";
		out->pools[0].count += (size_t)group->count;
		return;
	}
	add_pool(t, pool_name(group->role), (size_t)group->count, spec);
}

/* Adds all pools.  Beside a TPU there is no master: the program runs on the
 * hosts of the TPU. */
static void add_pools(struct kube_translation *t)
{
	const struct machine_group *tpu =
		machines_find(&t->machines, ROLE_WORKER);
	const struct job *job = t->pods.job;
	size_t i;

	if (tpu && tpu->tpu) {
		t->has_tpu = true;
		add_pool(t, "tpu", tpu->slice->hosts, pod_spec(&t->pods, tpu));
		if (message_has(job->training_message, &job->training_input,
				"masterType"))
			kube_leave_out(t->pods.out, false,
				       "trainingInput.masterType",
				       "the program runs on the TPU's own "
				       "hosts: there is no machine beside it");
		return;
	}
	for (i = 0; i < t->machines.count; i++)
		add_group(t, &t->machines.items[i]);
}

/* ---- objects ----------------------------------------------------------- */

static json_t *object(const char *version, const char *kind, json_t *metadata,
		      json_t *spec)
{
	json_t *out = json_object();

	json_put_text(out, "apiVersion", version);
	json_put_text(out, "kind", kind);
	json_put(out, "metadata", metadata);
	if (spec)
		json_put(out, "spec", spec);
	return out;
}

/* Returns `value` (taken) merged with what the file adds to the "metadata" or
 * "spec" of each Job. */
static json_t *with_job(const struct kube_translation *t, const char *part,
			json_t *value)
{
	const struct kubernetes_block *block = t->pods.block;
	json_t *whole = json_object(), *out;

	json_put(whole, part, value);
	whole = body_merge(&kube_job_form, whole, block ? block->job : NULL);
	out = json_incref(json_object_get(whole, part));
	json_decref(whole);
	return out;
}

static json_t *job_metadata(const struct kube_translation *t)
{
	json_t *out = kube_metadata(t->pods.job, t->pods.out->name);
	const struct kubernetes_block *block = t->pods.block;
	long limit_s =
		t->pods.job->training_input.scheduling.max_running_time_s;

	if (block && block->queue)
		json_object_set_new(json_object_get(out, "labels"), KUEUE_LABEL,
				    json_text(block->queue));
	/* Kueue requests the nodes, and for how long. */
	if (block && block->capacity == KUBE_CAPACITY_QUEUED && limit_s)
		json_object_set_new(json_object_get(out, "annotations"),
				    "provreq.kueue.x-k8s.io/"
				    "maxRunDurationSeconds",
				    json_sprintf("%ld", limit_s));
	return with_job(t, "metadata", out);
}

/* Returns the annotations that tell Kueue where to place the pods of a role. */
static json_t *topology_notes(const struct kubernetes_block *block)
{
	json_t *out = json_object();

	if (block && block->required_topology)
		json_put_text(out, "kueue.x-k8s.io/podset-required-topology",
			      block->required_topology);
	if (block && block->preferred_topology)
		json_put_text(out, "kueue.x-k8s.io/podset-preferred-topology",
			      block->preferred_topology);
	return out;
}

/* Returns labels and annotations for the pods; their controller adds its
 * own. */
static json_t *pod_metadata(const struct kube_translation *t, size_t pool)
{
	json_t *whole = kube_metadata(t->pods.job, t->pods.out->name);
	json_t *out = json_object();
	json_t *notes = topology_notes(t->pods.block);

	json_object_set(out, "labels", json_object_get(whole, "labels"));
	json_object_set_new(json_object_get(out, "labels"),
			    "app.kubernetes.io/component",
			    json_text(t->pods.out->pools[pool].name));
	if (json_object_size(notes))
		json_object_set(out, "annotations", notes);
	json_decref(notes);
	json_decref(whole);
	return out;
}

static json_t *job_spec(struct kube_translation *t, size_t pool, bool in_jobset)
{
	const struct kubernetes_block *block = t->pods.block;
	const struct kube_pool *at = &t->pods.out->pools[pool];
	long limit_s =
		t->pods.job->training_input.scheduling.max_running_time_s;
	json_t *spec = json_object(), *template = json_object();
	json_t *pod = json_deep_copy(t->specs[pool]);

	pod_add_peers(&t->pods, at, in_jobset, pod);
	json_put(template, "metadata", pod_metadata(t, pool));
	json_put(template, "spec", pod);
	template =
		body_merge(&kube_pod_form, template, block ? block->pod : NULL);
	json_put_text(spec, "completionMode", "Indexed");
	json_put_int(spec, "completions", (long long)at->count);
	json_put_int(spec, "parallelism", (long long)at->count);
	if (limit_s)
		json_put_int(spec, "activeDeadlineSeconds", limit_s);
	policy_add_job(t->pods.job, in_jobset, spec, t->pods.mem, t->pods.out);
	if (trials_are_wanted(t->pods.job) && !in_jobset)
		trials_add_job(t->pods.job, spec);
	json_put(spec, "template", template);
	if (in_jobset && in_place_is_wanted(&t->pods))
		in_place_add(&t->pods, spec);
	pod_security_fill(json_object_get(template, "spec"),
			  block && block->pod_security ==
					   POD_SECURITY_RESTRICTED);
	return with_job(t, "spec", spec);
}

static json_t *replicated_job(struct kube_translation *t, size_t pool)
{
	json_t *out = json_object(), *template = json_object();

	json_put_text(out, "name", t->pods.out->pools[pool].name);
	json_put_int(out, "replicas", 1);
	json_put(template, "spec", job_spec(t, pool, true));
	json_put(out, "template", template);
	return out;
}

/* The job succeeds when its master does. */
static json_t *success_policy(const struct kube_translation *t)
{
	json_t *out = json_object();

	json_put_text(out, "operator", "All");
	json_put(out, "targetReplicatedJobs",
		 json_pack("[s]", t->pods.out->pools[0].name));
	return out;
}

static json_t *make_jobset(struct kube_translation *t)
{
	const struct kubernetes_block *block = t->pods.block;
	json_t *spec = json_object(), *jobs = json_array();
	json_t *metadata = job_metadata(t);
	json_t *network = json_object();
	size_t i;

	if (t->has_tpu && t->pods.out->pools[0].count > 1)
		json_object_set_new(json_object_get(metadata, "annotations"),
				    EXCLUSIVE_NOTE,
				    json_text(EXCLUSIVE_TOPOLOGY));
	json_put(network, "enableDNSHostnames", json_true());
	json_put_text(network, "subdomain", t->pods.out->name);
	/* Tasks look up their peers before these are ready. */
	json_put(network, "publishNotReadyAddresses", json_true());
	json_put(spec, "network", network);
	json_put(spec, "successPolicy", success_policy(t));
	policy_add_jobset(t->pods.job,
			  block ? block->restart : KUBE_RESTART_ALL, spec);
	if (block && block->ttl_s)
		json_put_int(spec, "ttlSecondsAfterFinished", block->ttl_s);
	for (i = 0; i < t->pods.out->pool_count; i++)
		json_array_append_new(jobs, replicated_job(t, i));
	json_put(spec, "replicatedJobs", jobs);
	return object("jobset.x-k8s.io/v1alpha2", "JobSet", metadata, spec);
}

/* Returns the JobSet for clusters that know no other way of restarts, or NULL if
 * it needs none. */
static json_t *make_plain_jobset(struct kube_translation *t)
{
	const struct kubernetes_block *block = t->pods.block;
	struct kubernetes_block plain;
	json_t *out;

	if (!block || block->restart == KUBE_RESTART_ALL ||
	    !policy_max_restarts(t->pods.job))
		return NULL;
	plain = *block;
	plain.restart = KUBE_RESTART_ALL;
	t->pods.block = &plain;
	out = make_jobset(t);
	t->pods.block = block;
	return out;
}

static json_t *make_indexed(struct kube_translation *t)
{
	const struct kubernetes_block *block = t->pods.block;
	json_t *spec = job_spec(t, 0, false);

	if (block && block->ttl_s)
		json_put_int(spec, "ttlSecondsAfterFinished", block->ttl_s);
	return object("batch/v1", "Job", job_metadata(t), spec);
}

/* Makes the service that gives pods their names. */
static json_t *make_service(const struct kube_translation *t)
{
	const char *name = t->pods.out->name;
	json_t *spec = json_object(), *selector = json_object();

	json_put_text(selector, "batch.kubernetes.io/job-name", name);
	json_put_text(spec, "clusterIP", "None");
	json_put(spec, "publishNotReadyAddresses", json_true());
	json_put(spec, "selector", selector);
	return object("v1", "Service", kube_metadata(t->pods.job, name), spec);
}

static json_t *make_secret(const struct kube_translation *t)
{
	json_t *out;

	if (!t->pods.job->jobrun.secrets.count)
		return NULL;
	out = object("v1", "Secret",
		     kube_metadata(t->pods.job, t->pods.out->name), NULL);
	json_put_text(out, "type", "Opaque");
	return out;
}

/* Returns {"NAME": "value"} of a container. */
static json_t *env_properties(const json_t *container)
{
	json_t *out = json_object();
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(container, "env"), i, one)
	{
		json_object_set_new(out, json_get_text(one, "name", ""),
				    json_text(json_get_text(
					    one, "value", KUBE_SECRET_SHOWN)));
	}
	return out;
}

/* Returns {"name": "/path"} of a container. */
static json_t *volume_properties(const json_t *container)
{
	json_t *out = json_object();
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(container, "volumeMounts"), i, one)
	{
		json_object_set(out, json_get_text(one, "name", ""),
				json_object_get(one, "mountPath"));
	}
	return out;
}

/* Returns the properties of a pool's pods for the reader of a plan. */
static json_t *pool_properties(const struct kube_pool *pool, json_t *spec)
{
	static const char *const of_container[] = { "image", "command", "args",
						    "resources" };
	static const char *const of_pod[] = { "nodeSelector",
					      "serviceAccountName",
					      "priorityClassName" };
	json_t *container =
		json_array_get(json_object_get(spec, "containers"), 0);
	json_t *out = json_object();
	size_t i;

	json_put_int(out, "pods", (long long)pool->count);
	for (i = 0; i < COUNT(of_container); i++)
		if (json_object_get(container, of_container[i]))
			json_object_set(
				out, of_container[i],
				json_object_get(container, of_container[i]));
	trials_hide(out);
	json_put(out, "env", env_properties(container));
	for (i = 0; i < COUNT(of_pod); i++)
		if (json_object_get(spec, of_pod[i]))
			json_object_set(out, of_pod[i],
					json_object_get(spec, of_pod[i]));
	json_put(out, "volumes", volume_properties(container));
	return out;
}

/* Returns the properties that distinguish runs, without the kind of object. */
static json_t *properties(const struct kube_translation *t)
{
	const struct job *job = t->pods.job;
	const struct kubernetes_block *block = t->pods.block;
	json_t *out = json_object(), *pools = json_object();
	long limit_s = job->training_input.scheduling.max_running_time_s;
	size_t i;

	for (i = 0; i < t->pods.out->pool_count; i++) {
		const struct kube_pool *pool = &t->pods.out->pools[i];

		json_put(pools, pool->name, pool_properties(pool, t->specs[i]));
	}
	json_put(out, "pools", pools);
	launcher_describe(&t->pods, out);
	trials_describe(job, out);
	if (job->jobrun.source)
		json_put(out, "source", source_json(job));
	if (limit_s)
		json_put_int(out, "activeDeadlineSeconds", limit_s);
	if (policy_max_restarts(job))
		json_put_int(out, "maxRestarts", policy_max_restarts(job));
	if (block && block->queue)
		json_put_text(out, "queue", block->queue);
	if (block && block->restart != KUBE_RESTART_ALL &&
	    policy_max_restarts(job))
		json_put_text(out, "restart",
			      block->restart == KUBE_RESTART_POOL ? "pool"
								  : "in-place");
	if (block && block->pod_security == POD_SECURITY_RESTRICTED)
		json_put_text(out, "podSecurity", "restricted");
	if (block && block->pod)
		json_put(out, "pod", json_loads(block->pod, 0, NULL));
	if (block && block->job)
		json_put(out, "job", json_loads(block->job, 0, NULL));
	return out;
}

/* ---- the rest ---------------------------------------------------------- */

/* Reports strings of the job that have no place in a cluster. */
static void look_at_texts(const struct kube_translation *t)
{
	const struct training_input *input = &t->pods.job->training_input;
	const struct {
		const char *value;
		const char *path;
	} texts[] = {
		{ input->region, "trainingInput.region" },
		{ t->pods.job->jobrun.zone, "jobrun.zone" },
		{ input->master_config.tpu_tf_version,
		  "trainingInput.masterConfig.tpuTfVersion" },
		{ input->worker_config.tpu_tf_version,
		  "trainingInput.workerConfig.tpuTfVersion" },
		{ input->parameter_server_config.tpu_tf_version,
		  "trainingInput.parameterServerConfig.tpuTfVersion" },
		{ input->evaluator_config.tpu_tf_version,
		  "trainingInput.evaluatorConfig.tpuTfVersion" },
		{ input->runtime_version, "trainingInput.runtimeVersion" },
		{ input->python_version, "trainingInput.pythonVersion" },
		{ input->service_account, "trainingInput.serviceAccount" },
		{ input->network, "trainingInput.network" },
		{ input->encryption_config.kms_key_name,
		  "trainingInput.encryptionConfig" },
		{ t->pods.job->etag, "etag" },
	};
	size_t i;

	for (i = 0; i < COUNT(texts); i++)
		if (texts[i].value)
			kube_leave_out(t->pods.out, false, texts[i].path,
				       kube_why(texts[i].path));
}

/* Reports fields of the whole job that have no counterpart. */
static void look_at_the_rest(const struct kube_translation *t)
{
	const struct job *job = t->pods.job;
	const struct training_input *input = &job->training_input;
	struct kube_job *out = t->pods.out;

	look_at_texts(t);
	if (input->package_uris.count)
		kube_leave_out(out, true, "trainingInput.packageUris",
			       "packages are not installed there: build them "
			       "into the image, or set jobrun.source");
	if (input->scheduling.max_wait_time_s)
		kube_leave_out(
			out, false, "trainingInput.scheduling.maxWaitTime",
			kube_why("trainingInput.scheduling.maxWaitTime"));
	if (input->scheduling.priority)
		kube_leave_out(out, false, "trainingInput.scheduling.priority",
			       kube_why("trainingInput.scheduling.priority"));
	if (input->enable_web_access)
		kube_leave_out(out, false, "trainingInput.enableWebAccess",
			       kube_why("trainingInput.enableWebAccess"));
	if (job->jobrun.setup.count)
		kube_leave_out(
			out, true, "jobrun.setup",
			"no setup step runs there: build it into the image");
	launcher_check_processes(&t->pods);
}

bool kube_has_ttl(const struct job *job)
{
	const struct kubernetes_block *block = job_block(job, "kubernetes");

	return block && block->ttl_s;
}

bool kube_wants_job(const struct job *job)
{
	const struct kubernetes_block *block = job_block(job, "kubernetes");

	return trials_are_wanted(job) ||
	       (block && block->controller == CONTROLLER_JOB);
}

bool kube_needs(const struct kube_job *translated)
{
	size_t i;

	for (i = 0; i < translated->left_count; i++)
		if (translated->left[i].needed)
			return true;
	return false;
}

const char *kube_why_no_jobset(const struct kube_job *translated)
{
	if (translated->indexed)
		return NULL;
	return "its pods are not all alike, which takes a JobSet: install "
	       "jobset.x-k8s.io in the cluster, or give all tasks the same "
	       "machine and image";
}

/* Makes a task of each pod: jobrun starts the processes in it. */
static int read_tasks(const struct job *job, const struct catalogue *catalogue,
		      struct arena *mem, struct topology *out,
		      struct error *err)
{
	struct job pods = *job;

	pods.jobrun.processes_per_host = NULL;
	return topology_from_job(&pods, catalogue, "", mem, out, err);
}

int kube_translate(const struct job *job, const struct catalogue *catalogue,
		   struct arena *mem, struct kube_job *out, struct error *err)
{
	struct kube_translation t = {
		.pods = { .job = job,
			  .block = job_block(job, "kubernetes"),
			  .catalogue = catalogue,
			  .mem = mem,
			  .out = out },
	};
	size_t i;

	*out = (struct kube_job){ .name = kube_name(job->job_id, mem) };
	out->name_space = t.pods.block ? t.pods.block->name_space : NULL;
	out->has_image = true;
	out->has_ttl = kube_has_ttl(job);
	out->asks_namespace = !t.pods.block ||
			      t.pods.block->pod_security == POD_SECURITY_AUTO;
	if (machines_of(job, catalogue, &t.machines, err) < 0 ||
	    read_tasks(job, catalogue, mem, &out->tasks, err) < 0)
		return -1;
	look_at_the_rest(&t);
	out->config_map = source_config_map(job, mem, out);
	add_pools(&t);
	trials_check(&t.pods);
	in_place_check(&t.pods);
	if (out->pool_count > 1 || !trials_are_wanted(job))
		out->jobset = make_jobset(&t);
	if (out->jobset)
		out->plain_jobset = make_plain_jobset(&t);
	if (out->pool_count == 1)
		out->indexed = make_indexed(&t);
	/* The pods of a run find each other through the service. */
	if (out->indexed && out->jobset)
		out->service = make_service(&t);
	out->secret = make_secret(&t);
	out->properties = properties(&t);
	for (i = 0; i < out->pool_count; i++)
		json_decref(t.specs[i]);
	return 0;
}

void kube_job_done(struct kube_job *translated)
{
	json_decref(translated->secret);
	json_decref(translated->config_map);
	json_decref(translated->service);
	json_decref(translated->jobset);
	json_decref(translated->plain_jobset);
	json_decref(translated->indexed);
	json_decref(translated->properties);
	*translated = (struct kube_job){ 0 };
}
