/* SPDX-License-Identifier: Apache-2.0 */
#include "core/run/contract.h"

#include <stdlib.h>

#include "core/base/json.h"

static bool suits(const struct topology *all, size_t ordinal)
{
	(void)all;
	(void)ordinal;
	return true;
}

/* Vertex AI's pools are these roles by their positions (cloud.google.com,
 * "Distributed training", worker pools). */
static const char *pool_name(const struct topology *all, enum task_type type)
{
	static const char *const pools[] = {
		[TASK_MASTER] = "workerpool0",
		[TASK_WORKER] = "workerpool1",
		[TASK_PS] = "workerpool2",
		[TASK_EVALUATOR] = "workerpool3",
	};
	/* The first pool is there always: without a master it is the workers'. */
	bool headless = all->count && all->tasks[0].type == TASK_WORKER;

	if (!all->names_pools)
		return task_type_name(type);
	return pools[headless && type == TASK_WORKER ? TASK_MASTER : type];
}

/* The part that is the same for all tasks, as text.  Returns new. */
static char *cluster_text(const struct topology *all)
{
	json_t *cluster = json_object();
	char *text;
	size_t i;

	for (i = 0; i < all->count; i++) {
		const struct task_place *peer = &all->tasks[i];
		const char *name = pool_name(all, peer->type);
		json_t *list = json_object_get(cluster, name);

		if (!list) {
			json_put(cluster, name, json_array());
			list = json_object_get(cluster, name);
		}
		text = contract_address(peer->host, peer->port);
		json_array_append_new(list, json_text(text));
		free(text);
	}
	text = json_dumps(cluster, JSON_COMPACT);
	json_decref(cluster);
	return text;
}

static void share(struct topology *all, struct arena *mem)
{
	char *text = cluster_text(all);

	all->spec_cluster = arena_strdup(mem, text);
	free(text);
}

/*
 * Unlike TF_CONFIG it has every task, evaluators too, and the master is never
 * called chief (cloud.google.com, "Distributed training with containers" of AI
 * Platform; "Format of CLUSTER_SPEC" of Vertex AI).
 */
static void write_spec(const struct topology *all, size_t ordinal,
		       struct environment *env)
{
	const struct task_place *self = &all->tasks[ordinal];
	json_t *spec = json_object();
	json_t *task = json_object();
	char *cluster = all->spec_cluster ? NULL : cluster_text(all);

	json_put_text(spec, "environment", "cloud");
	json_put_text(task, "type", pool_name(all, self->type));
	json_put_int(task, "index", self->index);
	if (all->trial_id)
		json_put_text(task, "trial", all->trial_id);
	json_put(spec, "task", task);
	if (all->job_text)
		json_put_text(spec, "job", all->job_text);
	contract_set_cluster(env, "CLUSTER_SPEC",
			     cluster ? cluster : all->spec_cluster, spec);
	free(cluster);
}

const struct contract contract_cluster_spec = {
	.name = "cluster-spec",
	.summary = "CLUSTER_SPEC, of Vertex AI's and AI Platform's containers",
	.suits = suits,
	.write = write_spec,
	.share = share,
};
