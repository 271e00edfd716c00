/* SPDX-License-Identifier: Apache-2.0 */
#include "core/run/contract.h"

#include <stdlib.h>

#include "core/base/json.h"

const char *contract_tf_type(const struct topology *all, enum task_type type)
{
	return type == TASK_MASTER ? all->master_name : task_type_name(type);
}

static bool suits(const struct topology *all, size_t ordinal)
{
	(void)all;
	(void)ordinal;
	return true;
}

/* The part that is the same for all tasks, as text.  Returns new. */
static char *cluster_text(const struct topology *all)
{
	json_t *cluster = json_object();
	char *text;
	size_t i;

	for (i = 0; i < all->count; i++) {
		const struct task_place *peer = &all->tasks[i];
		const char *type = contract_tf_type(all, peer->type);
		json_t *list = json_object_get(cluster, type);
		char *address;

		if (peer->type == TASK_EVALUATOR)
			continue;
		if (!list) {
			json_put(cluster, type, json_array());
			list = json_object_get(cluster, type);
		}
		address = contract_address(peer->host, peer->port);
		json_array_append_new(list, json_text(address));
		free(address);
	}
	text = json_dumps(cluster, JSON_COMPACT);
	json_decref(cluster);
	return text;
}

static void share(struct topology *all, struct arena *mem)
{
	char *text = cluster_text(all);

	all->tf_cluster = arena_strdup(mem, text);
	free(text);
}

/*
 * As the documents of AI Platform Training ("Details of distributed training",
 * "TF_CONFIG and distributed training with custom containers") and programs
 * that print it show it: evaluators are in no cluster, and `job` is a text
 * that holds JSON.  Compact, keys in the order cluster, environment, task,
 * job.
 */
static void write_config(const struct topology *all, size_t ordinal,
			 struct environment *env)
{
	const struct task_place *self = &all->tasks[ordinal];
	json_t *config = json_object();
	json_t *task = json_object();
	char *cluster = all->tf_cluster ? NULL : cluster_text(all);

	json_put_text(config, "environment", "cloud");
	json_put_text(task, "type", contract_tf_type(all, self->type));
	json_put_int(task, "index", self->index);
	if (all->trial_id)
		json_put_text(task, "trial", all->trial_id);
	json_put(config, "task", task);
	json_put_text(config, "job", all->job_text ? all->job_text : "{}");
	contract_set_cluster(env, "TF_CONFIG",
			     cluster ? cluster : all->tf_cluster, config);
	free(cluster);
}

const struct contract contract_tf_config = {
	.name = "tf-config",
	.summary = "TF_CONFIG, of TensorFlow and AI Platform",
	.suits = suits,
	.write = write_config,
	.share = share,
};
