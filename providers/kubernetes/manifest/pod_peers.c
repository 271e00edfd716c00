/* SPDX-License-Identifier: Apache-2.0 */
/* Tells a pod its peers, for programs and for read_kubernetes.c. */
#include <string.h>

#include "core/base/json.h"
#include "core/topology/topology_read.h"
#include "providers/kubernetes/manifest/env.h"
#include "providers/kubernetes/manifest/launcher.h"
#include "providers/kubernetes/manifest/pod.h"
#include "providers/kubernetes/manifest/kube_trials.h"

/* Returns "node/master/1,node/worker/2,ps/ps/1": see read_kubernetes.c. */
static const char *task_list(const struct pod_maker *maker)
{
	const struct kube_job *job = maker->out;
	struct buf text = { 0 };
	const char *out;
	size_t pool, i, n;

	for (pool = 0; pool < job->pool_count; pool++) {
		size_t end = job->pools[pool].first + job->pools[pool].count;

		for (i = job->pools[pool].first; i < end; i += n) {
			enum task_type type = job->tasks.tasks[i].type;

			for (n = 1; i + n < end &&
				    job->tasks.tasks[i + n].type == type;)
				n++;
			buf_printf(&text, "%s%s/%s/%zu", text.len ? "," : "",
				   job->pools[pool].name, task_type_name(type),
				   n);
		}
	}
	out = arena_strdup(maker->mem, buf_text(&text));
	buf_done(&text);
	return out;
}

/* Adds PyTorch's variables for the master alone, or for the tasks of the group,
 * whose index is the rank. */
static void add_torch(const struct pod_maker *maker, const struct kube_pool *at,
		      const char *master, json_t *env)
{
	const struct job *job = maker->job;
	size_t world = topology_world_size(&maker->out->tasks);
	enum task_type type = maker->out->tasks.tasks[at->first].type;

	if (type != TASK_MASTER && type != TASK_WORKER)
		return;
	if (env_given(job, "MASTER_ADDR"))
		return;
	env_add_text(env, "MASTER_ADDR", master);
	env_add_number(env, "MASTER_PORT", TOPOLOGY_MASTER_PORT);
	/* The launcher tells each process its rank. */
	if (maker->job->jobrun.processes_per_host && launcher_is_used(maker))
		return;
	env_add_number(env, "WORLD_SIZE", world);
	env_add_text(env, "LOCAL_RANK", "0");
	if (at->first == 0) {
		env_add_index(env, "RANK");
		env_add_index(env, "GROUP_RANK");
		return;
	}
	if (launcher_is_used(maker))
		return;
	kube_leave_out(maker->out, false, "RANK of the workers",
		       "their pods differ from the master's, and a manifest "
		       "can't count on from those: name an image that has "
		       "jobrun in jobrun.kubernetes.launcher");
}

static void add_default(const struct pod_maker *maker, json_t *env,
			const char *name, const char *value)
{
	if (!env_given(maker->job, name))
		env_add_text(env, name, value);
}

static bool runs_one_torchrun(const struct pod_maker *maker)
{
	const struct jobrun_block *block = &maker->job->jobrun;

	return !maker->out->tasks.tpu_slice &&
	       (!block->processes_per_host ||
		!strcmp(block->processes_per_host, "1")) &&
	       !topology_is_standalone(&block->command) &&
	       !topology_is_standalone(&maker->job->training_input.args);
}

/* Adds the defaults of torchrun's options, as in core/topology/contract_torch.c;
 * the launcher adds those that differ between pods. */
static void add_torchrun(const struct pod_maker *maker,
			 const struct kube_pool *at, const char *master,
			 json_t *env)
{
	const struct topology *tasks = &maker->out->tasks;
	size_t world = topology_world_size(tasks);

	if (world < 2 || at->first >= world || !runs_one_torchrun(maker) ||
	    env_given(maker->job, "MASTER_ADDR"))
		return;
	if (tasks->accelerators)
		add_default(
			maker, env, "PET_NPROC_PER_NODE",
			arena_printf(maker->mem, "%u", tasks->accelerators));
	if (launcher_is_used(maker) || at->first)
		return;
	add_default(maker, env, "PET_NNODES",
		    arena_printf(maker->mem, "%zu", world));
	if (!env_given(maker->job, "PET_NODE_RANK"))
		env_add_index(env, "PET_NODE_RANK");
	add_default(maker, env, "PET_MASTER_ADDR", master);
	add_default(maker, env, "PET_MASTER_PORT",
		    arena_printf(maker->mem, "%d", TOPOLOGY_MASTER_PORT));
}

void pod_add_peers(const struct pod_maker *maker, const struct kube_pool *at,
		   bool in_jobset, json_t *spec)
{
	const struct kube_job *job = maker->out;
	json_t *container =
		json_array_get(json_object_get(spec, "containers"), 0);
	json_t *env = json_object_get(container, "env");
	const char *master;

	if (trials_are_wanted(maker->job))
		return;
	env_add_number(env, "NNODES", at->count);
	env_add_text(env, "JOBRUN_TASKS", task_list(maker));
	if (in_jobset) {
		env_add_text(env, "JOBSET_NAME", job->name);
		env_add_text(env, "JOBSET_SUBDOMAIN", job->name);
		env_add_text(env, "REPLICATED_JOB_NAME", at->name);
		master = arena_printf(maker->mem, "%s-%s-0-0.%s", job->name,
				      job->pools[0].name, job->name);
	} else {
		json_put_text(spec, "subdomain", job->name);
		master = arena_printf(maker->mem, "%s-0.%s", job->name,
				      job->name);
	}
	add_torch(maker, at, master, env);
	add_torchrun(maker, at, master, env);
}
