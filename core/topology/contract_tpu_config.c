/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topology/contract.h"

#include <stdlib.h>

#include "core/base/json.h"

static bool suits(const struct topology *all, size_t ordinal)
{
	(void)ordinal;
	return all->tpu_slice && all->tpu_name;
}

/* As custom containers on AI Platform got it ("Using TPUs to train your model",
 * wait_for_tpu_cluster_resolver_ready). */
static void write_config(const struct topology *all, size_t ordinal,
			 struct environment *env)
{
	json_t *config;
	char *text;

	if (!suits(all, ordinal))
		return;
	config = json_object();
	json_put_text(config, "project", all->tpu_project);
	json_put_text(config, "zone", all->tpu_zone);
	json_put_text(config, "tpu_node_name", all->tpu_name);
	text = json_dumps(config, 0);
	environment_set(env, "TPU_CONFIG", text);
	free(text);
	json_decref(config);
}

const struct contract contract_tpu_config = {
	.name = "tpu-config",
	.summary = "TPU_CONFIG, of AI Platform",
	.suits = suits,
	.write = write_config,
};
