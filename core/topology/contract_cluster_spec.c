/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topology/contract.h"

#include <stdlib.h>

#include "core/base/json.h"

/* Vertex AI's pools have these roles by their positions (cloud.google.com,
 * "Distributed training", worker pools). */
static const char *pool_name(const struct topology *all, enum task_type type)
{
	static const char *const pools[] = {
		[TASK_MASTER] = "workerpool0",
		[TASK_WORKER] = "workerpool1",
		[TASK_PS] = "workerpool2",
		[TASK_EVALUATOR] = "workerpool3",
	};
	/* The first pool always exists: without a master it is the workers'. */
	bool headless = all->count && all->tasks[0].type == TASK_WORKER;

	if (!all->names_pools)
		return task_type_name(type);
	return pools[headless && type == TASK_WORKER ? TASK_MASTER : type];
}

static void share(struct topology *all, struct arena *mem)
{
	char *text = contract_cluster_text(all, pool_name, true);

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
	json_t *spec = contract_task(all, self, pool_name);
	char *cluster = NULL;

	if (!all->spec_cluster)
		cluster = contract_cluster_text(all, pool_name, true);
	if (all->job_text)
		json_put_text(spec, "job", all->job_text);
	contract_set_cluster(env, "CLUSTER_SPEC",
			     cluster ? cluster : all->spec_cluster, spec);
	free(cluster);
}

const struct contract contract_cluster_spec = {
	.name = "cluster-spec",
	.summary = "CLUSTER_SPEC, of Vertex AI's and AI Platform's containers",
	.write = write_spec,
	.share = share,
};
