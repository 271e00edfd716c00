/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topology/contract.h"

#include <stdlib.h>

#include "core/base/json.h"

/* The task's type in TF_CONFIG, where the master may be called chief. */
static const char *contract_tf_type(const struct topology *all,
				    enum task_type type)
{
	return type == TASK_MASTER ? all->master_name : task_type_name(type);
}

static void share(struct topology *all, struct arena *mem)
{
	char *text = contract_cluster_text(all, contract_tf_type, false);

	all->tf_cluster = arena_strdup(mem, text);
	free(text);
}

/*
 * As in the documents of AI Platform Training ("Details of distributed
 * training", "TF_CONFIG and distributed training with custom containers") and
 * in programs that print it: the cluster has no evaluators, and `job` is a
 * string of JSON.  Compact, with keys in the order cluster, environment, task,
 * job.
 */
static void write_config(const struct topology *all, size_t ordinal,
			 struct environment *env)
{
	const struct task_place *self = &all->tasks[ordinal];
	json_t *config = contract_task(all, self, contract_tf_type);
	char *cluster = NULL;

	if (!all->tf_cluster)
		cluster = contract_cluster_text(all, contract_tf_type, false);
	json_put_text(config, "job", all->job_text ? all->job_text : "{}");
	contract_set_cluster(env, "TF_CONFIG",
			     cluster ? cluster : all->tf_cluster, config);
	free(cluster);
}

const struct contract contract_tf_config = {
	.name = "tf-config",
	.summary = "TF_CONFIG, of TensorFlow and AI Platform",
	.write = write_config,
	.share = share,
};
