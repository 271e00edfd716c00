/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topology/topology_read.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/units.h"

const struct topology_reader *const topology_readers[] = {
	&reader_vertexai, &reader_aiplatform, &reader_slurm, &reader_kubernetes,
	&reader_tpu_vm,   &reader_local,      NULL,
};

const struct topology_reader *topology_reader_find(const char *name,
						   struct error *err)
{
	struct buf names = { 0 };
	size_t i;

	for (i = 0; topology_readers[i]; i++)
		if (!strcmp(topology_readers[i]->name, name))
			return topology_readers[i];
	for (i = 0; topology_readers[i]; i++)
		buf_printf(&names, "%s%s", i ? ", " : "",
			   topology_readers[i]->name);
	error_set(err, ERROR_USAGE, "'%s' is no place that is known: %s", name,
		  buf_text(&names));
	buf_done(&names);
	return NULL;
}

const struct topology_reader *
topology_reader_detect(const struct surroundings *at)
{
	size_t i = 0;

	while (!topology_readers[i]->detects(at))
		i++;
	return topology_readers[i];
}

const char *surroundings_get(const struct surroundings *at, const char *name)
{
	size_t len = strlen(name);
	char *const *item;

	for (item = at->env; *item; item++)
		if (!strncmp(*item, name, len) && (*item)[len] == '=')
			return (*item)[len + 1] ? *item + len + 1 : NULL;
	return NULL;
}

int surroundings_number(const struct surroundings *at, const char *name,
			long min, long max, long *out, struct error *err)
{
	const char *text = surroundings_get(at, name);

	if (!text)
		return error_set(err, ERROR_INVALID, "%s is not set", name);
	if (number_parse(text, min, max, out, err) < 0) {
		err->code = ERROR_INVALID;
		return error_prefix(err, "%s", name);
	}
	return 0;
}

void surroundings_cloud_ml(const struct surroundings *at, struct topology *out)
{
	const char *name = surroundings_get(at, "CLOUD_ML_JOB_ID");
	const char *trial = surroundings_get(at, "CLOUD_ML_TRIAL_ID");

	out->job_id = name ? name : "job";
	/* The cluster's description may have said it already. */
	if (trial)
		out->trial_id = trial;
	out->metric_file = surroundings_get(at, "CLOUD_ML_HP_METRIC_FILE");
}

void topology_from_hosts(const char *const *hosts, size_t count,
			 struct arena *mem, struct topology *out)
{
	size_t i;

	out->tasks = arena_alloc(mem, count * sizeof(*out->tasks));
	out->count = count;
	out->master_name = "master";
	out->master_port = TOPOLOGY_MASTER_PORT;
	for (i = 0; i < count; i++) {
		out->tasks[i].type = count == 1 ? TASK_MASTER : TASK_WORKER;
		out->tasks[i].index = (int)i;
		out->tasks[i].host = hosts[i];
		out->tasks[i].port = TOPOLOGY_TASK_PORT;
	}
	topology_rank(out);
}
