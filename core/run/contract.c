/* SPDX-License-Identifier: Apache-2.0 */
#include "core/run/contract.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"

/* The task's type as TF_CONFIG has it: the master may be called chief. */
static const char *tf_type(const struct topology *all, enum task_type type)
{
	return type == TASK_MASTER ? all->master_name : task_type_name(type);
}

/* The part that is the same for all tasks, as text.  Returns new. */
static char *cluster_text(const struct topology *all)
{
	json_t *cluster = json_object();
	char *text;

	for (size_t i = 0; i < all->count; i++) {
		const struct task_place *peer = &all->tasks[i];
		const char *type = tf_type(all, peer->type);
		json_t *list = json_object_get(cluster, type);

		if (peer->type == TASK_EVALUATOR)
			continue;
		if (!list) {
			json_put(cluster, type, json_array());
			list = json_object_get(cluster, type);
		}
		text = mem_printf("%s:%d", peer->host, peer->port);
		json_array_append_new(list, json_string(text));
		free(text);
	}
	text = json_dumps(cluster, JSON_COMPACT);
	json_decref(cluster);
	return text;
}

void contract_share(struct topology *all, struct arena *mem)
{
	char *text = cluster_text(all);

	all->cluster_text = arena_strdup(mem, text);
	free(text);
}

/*
 * TF_CONFIG, as the documents of AI Platform Training ("Details of
 * distributed training", "TF_CONFIG and distributed training with custom
 * containers") and programs that print it show it: evaluators are in no
 * cluster, and `job` is a text that holds JSON.  Compact, keys in the order
 * cluster, environment, task, job.
 */
static void write_tf_config(const struct topology *all, size_t ordinal,
			    struct environment *env)
{
	const struct task_place *self = &all->tasks[ordinal];
	json_t *config = json_object();
	json_t *task = json_object();
	char *cluster = all->cluster_text ? NULL : cluster_text(all);
	char *rest;

	json_put_text(config, "environment", "cloud");
	json_put_text(task, "type", tf_type(all, self->type));
	json_put_int(task, "index", self->index);
	json_put(config, "task", task);
	json_put_text(config, "job", all->job_text ? all->job_text : "{}");
	rest = json_dumps(config, JSON_COMPACT);
	/* To write out a thousand peers for each of a thousand tasks would
	 * take seconds: their text goes in as it is. */
	environment_printf(env, "TF_CONFIG", "{\"cluster\":%s,%s",
			   all->cluster_text ? all->cluster_text : cluster,
			   rest + 1);
	free(rest);
	free(cluster);
	json_decref(config);
}

/* TPU_CONFIG, as custom containers on AI Platform found it. */
static void write_tpu_config(const struct topology *all,
			     struct environment *env)
{
	json_t *config = json_object();
	char *text;

	json_put_text(config, "project", all->tpu_project);
	json_put_text(config, "zone", all->tpu_zone);
	json_put_text(config, "tpu_node_name", all->tpu_name);
	text = json_dumps(config, 0);
	environment_set(env, "TPU_CONFIG", text);
	free(text);
	json_decref(config);
}

/*
 * torch.distributed's environment (pytorch.org, "Distributed communication
 * package", environment variable initialization; torchrun, "Environment
 * Variables"): ranks count master and workers; local ranks those on one host.
 */
static void write_torch(const struct topology *all, size_t ordinal,
			struct environment *env)
{
	const struct task_place *self = &all->tasks[ordinal];
	size_t world = topology_world_size(all);
	size_t local_rank = 0, local_world = 0, group = 0;
	size_t i;

	if (ordinal >= world)
		return;
	for (i = 0; i < world; i++) {
		bool here = !strcmp(all->tasks[i].host, self->host);

		local_world += here;
		local_rank += here && i < ordinal;
		/* Groups are hosts, numbered as they first appear. */
		if (i < ordinal && !here &&
		    (i == 0 ||
		     strcmp(all->tasks[i].host, all->tasks[i - 1].host) != 0))
			group++;
	}
	environment_set(env, "MASTER_ADDR", all->tasks[0].host);
	environment_printf(env, "MASTER_PORT", "%d", all->master_port);
	environment_printf(env, "RANK", "%zu", ordinal);
	environment_printf(env, "WORLD_SIZE", "%zu", world);
	environment_printf(env, "LOCAL_RANK", "%zu", local_rank);
	environment_printf(env, "LOCAL_WORLD_SIZE", "%zu", local_world);
	environment_printf(env, "GROUP_RANK", "%zu", group);
}

/*
 * The device of PyTorch/XLA's PJRT runtime (torch_xla, "PJRT Runtime") and
 * how many a host has.  A rehearsal on CPUs has as many: CPU_NUM_DEVICES is
 * PyTorch/XLA's, the flag in XLA_FLAGS is what JAX reads.
 */
static void write_pjrt(const struct topology *all, struct environment *env)
{
	environment_set(env, "PJRT_DEVICE", all->tpu_is_cpu ? "CPU" : "TPU");
	environment_printf(env, "TPU_NUM_DEVICES", "%u", all->devices_per_host);
	if (!all->tpu_is_cpu)
		return;
	environment_printf(env, "CPU_NUM_DEVICES", "%u", all->devices_per_host);
	environment_printf(env, "XLA_FLAGS",
			   "--xla_force_host_platform_device_count=%u",
			   all->devices_per_host);
}

void contract_write(const struct topology *all, size_t ordinal,
		    struct environment *env)
{
	environment_set(env, "CLOUD_ML_JOB_ID", all->job_id);
	write_tf_config(all, ordinal, env);
	if (all->tpu_slice)
		write_tpu_config(all, env);
	write_torch(all, ordinal, env);
	if (all->tpu_slice && ordinal < topology_world_size(all))
		write_pjrt(all, env);
}
