/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AI Platform Training, and other systems that set TF_CONFIG: TensorFlow's own
 * contract (tensorflow.org, "Multi-worker training with Keras"), `gcloud
 * ai-platform local train`, Kubeflow.  TPU_CONFIG names a TPU node; callers
 * that can wait ask the TPU API for its address.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "providers/google/managed/read_cluster.h"
#include "providers/aiplatform/aiplatform.h"

static bool detects(const struct surroundings *at)
{
	return surroundings_get(at, "TF_CONFIG") ||
	       surroundings_get(at, "TPU_CONFIG");
}

static json_t *read_json(const struct surroundings *at, const char *name,
			 struct error *err)
{
	const char *text = surroundings_get(at, name);
	json_t *value = json_read(text, strlen(text), name, err);

	if (value && !json_is_object(value)) {
		json_decref(value);
		error_set(err, ERROR_INVALID, "%s is not a map", name);
		return NULL;
	}
	if (!value)
		err->code = ERROR_INVALID;
	return value;
}

/* Reads `job`: a string with JSON from the service, JSON itself from gcloud. */
static void read_job(const json_t *config, struct arena *mem,
		     struct topology *out)
{
	const json_t *job = json_object_get(config, "job");
	char *text;

	if (json_is_string(job)) {
		out->job_text = arena_strdup(mem, json_string_value(job));
	} else if (json_is_object(job)) {
		text = json_dumps(job, JSON_INDENT(1));
		out->job_text = arena_strdup(mem, text);
		free(text);
	}
}

static int read_tf_config(const struct surroundings *at, struct arena *mem,
			  struct topology *out, size_t *self, struct error *err)
{
	json_t *config = read_json(at, "TF_CONFIG", err);
	int ret;

	if (!config)
		return -1;
	ret = topology_from_cluster(config, "TF_CONFIG", task_type_parse, mem,
				    out, self, err);
	read_job(config, mem, out);
	out->master_name =
		json_object_get(json_object_get(config, "cluster"), "chief")
			? "chief"
			: "master";
	json_decref(config);
	return ret;
}

static const char *tpu_member(const json_t *config, const char *key,
			      struct arena *mem)
{
	const char *text = json_get_text(config, key, NULL);

	return text && *text ? arena_strdup(mem, text) : NULL;
}

static int read_tpu_config(const struct surroundings *at, struct arena *mem,
			   struct topology *out, struct error *err)
{
	json_t *config = read_json(at, "TPU_CONFIG", err);

	if (!config)
		return -1;
	out->tpu_project = tpu_member(config, "project", mem);
	out->tpu_zone = tpu_member(config, "zone", mem);
	out->tpu_name = tpu_member(config, "tpu_node_name", mem);
	json_decref(config);
	if (!out->tpu_project || !out->tpu_zone || !out->tpu_name)
		return error_set(err, ERROR_INVALID,
				 "TPU_CONFIG lacks project, zone or "
				 "tpu_node_name");
	out->tpu_kind = TPU_NODE;
	return 0;
}

/* Takes the slice that the job asked for, until the TPU itself is known. */
static void read_slice(const struct surroundings *at, struct arena *mem,
		       struct topology *out)
{
	const char *text = out->job_text ? out->job_text : "";
	json_t *job = json_loads(text, 0, NULL);
	const json_t *config = json_object_get(
		json_object_get(job, "worker_config"), "accelerator_config");
	const char *type = json_get_text(config, "type", "TPU_V2");
	const char *count = json_get_text(config, "count", "8");
	const struct tpu *tpu = catalogue_tpu(at->catalogue, type);
	const struct slice *slice =
		tpu ? tpu_slice(tpu, (unsigned)strtoul(count, NULL, 10)) : NULL;

	topology_set_slice(out, at->catalogue, slice ? slice->name : "", mem);
	json_decref(job);
}

static int read(const struct surroundings *at, struct arena *mem,
		struct topology *out, size_t *self, struct error *err)
{
	static const char *const here[] = { "127.0.0.1" };
	struct topology all = { 0 };
	size_t index = 0;

	if (surroundings_get(at, "TF_CONFIG")) {
		if (read_tf_config(at, mem, &all, &index, err) < 0)
			return -1;
	} else {
		topology_from_hosts(here, 1, mem, &all);
	}
	if (surroundings_get(at, "TPU_CONFIG")) {
		if (read_tpu_config(at, mem, &all, err) < 0)
			return -1;
		read_slice(at, mem, &all);
	}
	surroundings_cloud_ml(at, &all);
	*out = all;
	*self = index;
	return 0;
}

const struct topology_reader reader_aiplatform = {
	.name = "ai-platform",
	.summary = "TF_CONFIG and TPU_CONFIG",
	.order = READER_FRAMEWORK,
	.detects = detects,
	.read = read,
};
