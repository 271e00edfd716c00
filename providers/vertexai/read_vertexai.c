/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vertex AI: CLUSTER_SPEC, in which tasks belong to worker pools
 * (cloud.google.com/vertex-ai/docs/training/distributed-training, "Cluster
 * description format").
 */
#include <string.h>

#include "core/base/json.h"
#include "providers/google/managed/read_cluster.h"
#include "providers/vertexai/vertexai.h"

static bool detects(const struct surroundings *at)
{
	const char *text = surroundings_get(at, "CLUSTER_SPEC");

	/* AI Platform's CLUSTER_SPEC has other keys; there TF_CONFIG says the
	 * same. */
	return text && strstr(text, "\"workerpool0\"");
}

/* Returns the role of a worker pool, which is given by its position. */
static int pool_type(const char *key, enum task_type *out)
{
	static const enum task_type types[] = { TASK_MASTER, TASK_WORKER,
						TASK_PS, TASK_EVALUATOR };

	if (strncmp(key, "workerpool", 10) != 0 || key[10] < '0' ||
	    key[10] > '3' || key[11])
		return -1;
	*out = types[key[10] - '0'];
	return 0;
}

static int read(const struct surroundings *at, struct arena *mem,
		struct topology *out, size_t *self, struct error *err)
{
	const char *text = surroundings_get(at, "CLUSTER_SPEC");
	struct topology all = { .names_pools = true, .master_name = "chief" };
	const char *job;
	json_t *spec;
	int ret;

	if (!text)
		return error_set(err, ERROR_INVALID, "CLUSTER_SPEC is not set");
	spec = json_read(text, strlen(text), "CLUSTER_SPEC", err);
	if (!spec) {
		err->code = ERROR_INVALID;
		return -1;
	}
	ret = topology_from_cluster(spec, "CLUSTER_SPEC", pool_type, mem, &all,
				    self, err);
	job = json_get_text(spec, "job", NULL);
	all.job_text = job ? arena_strdup(mem, job) : NULL;
	json_decref(spec);
	if (ret < 0)
		return -1;
	surroundings_cloud_ml(at, &all);
	*out = all;
	return 0;
}

const struct topology_reader reader_vertexai = {
	.name = "vertex-ai",
	.summary = "CLUSTER_SPEC with worker pools",
	.order = READER_SERVICE,
	.detects = detects,
	.read = read,
};
