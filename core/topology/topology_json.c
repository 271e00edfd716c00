/* SPDX-License-Identifier: Apache-2.0 */
/* The form in which a run's specification stores a topology. */
#include "core/topology/topology.h"

#include "core/base/json.h"

static const char *const kind_names[] = {
	[TPU_NODE] = "node",
	[TPU_VM] = "vm",
	[TPU_CPU] = "cpu",
	NULL,
};

static const struct field host_fields[] = {
	{ FIELD_PLAIN(tpu_place, "ip", FIELD_STRING, ip),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(tpu_place, "port", FIELD_INT, port) },
	{ .name = NULL },
};

static const struct message host_message = {
	.name = "TPU host",
	.size = sizeof(struct tpu_place),
	.fields = host_fields,
};

static const struct field tpu_fields[] = {
	{ FIELD_PLAIN(topology, "slice", FIELD_STRING, tpu_slice),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(topology, "slices", FIELD_INT, tpu_slices),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(topology, "kind", FIELD_ENUM, tpu_kind),
	  .values = kind_names },
	{ FIELD_PLAIN(topology, "xrt", FIELD_BOOL, tpu_xrt),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(topology, "devicesPerHost", FIELD_INT,
		      devices_per_host) },
	{ FIELD_PLAIN(topology, "chipsPerHost", FIELD_INT, chips_per_host) },
	{ FIELD_PLAIN(topology, "bounds", FIELD_STRING, tpu_bounds) },
	{ FIELD_PLAIN(topology, "project", FIELD_STRING, tpu_project) },
	{ FIELD_PLAIN(topology, "zone", FIELD_STRING, tpu_zone) },
	{ FIELD_PLAIN(topology, "name", FIELD_STRING, tpu_name) },
	{ FIELD_PLAIN(topology, "hosts", FIELD_MESSAGES, tpu_hosts),
	  .flags = FIELD_ARRAY, .message = &host_message },
	{ .name = NULL },
};

/* A separate message in JSON, here a part of the struct. */
static const struct message tpu_message = {
	.name = "tpu",
	.size = sizeof(struct topology),
	.fields = tpu_fields,
};

static const struct field task_fields[] = {
	{ FIELD_PLAIN(task_place, "type", FIELD_ENUM, type),
	  .flags = FIELD_REQUIRED, .values = task_type_names },
	{ FIELD_PLAIN(task_place, "index", FIELD_INT, index) },
	{ FIELD_PLAIN(task_place, "host", FIELD_STRING, host),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(task_place, "port", FIELD_INT, port) },
	{ FIELD_PLAIN(task_place, "beside", FIELD_BOOL, beside),
	  .flags = FIELD_OPTIONAL },
	{ .name = NULL },
};

static const struct message task_message = {
	.name = "task",
	.size = sizeof(struct task_place),
	.fields = task_fields,
};

static const struct field topology_fields[] = {
	{ FIELD_PLAIN(topology, "jobId", FIELD_STRING, job_id),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(topology, "masterName", FIELD_STRING, master_name),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(topology, "jobText", FIELD_STRING, job_text) },
	{ FIELD_PLAIN(topology, "tasks", FIELD_MESSAGES, tasks),
	  .flags = FIELD_REQUIRED | FIELD_ARRAY, .message = &task_message },
	{ FIELD_PLAIN(topology, "masterPort", FIELD_INT, master_port) },
	{ FIELD_PLAIN(topology, "namesPools", FIELD_BOOL, names_pools) },
	{ FIELD_PLAIN(topology, "trialId", FIELD_STRING, trial_id) },
	{ FIELD_PLAIN(topology, "metricFile", FIELD_STRING, metric_file) },
	{ FIELD_PLAIN(topology, "accelerators", FIELD_INT, accelerators),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(topology, "standalone", FIELD_BOOL, standalone),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(topology, "apart", FIELD_BOOL, apart),
	  .flags = FIELD_OPTIONAL },
	{ .name = "tpu",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_OPTIONAL,
	  .message = &tpu_message },
	{ .name = NULL },
};

const struct message topology_message = {
	.name = "a topology",
	.size = sizeof(struct topology),
	.fields = topology_fields,
};

json_t *topology_tasks_json(const struct topology *all)
{
	json_t *out = json_object();
	size_t i;

	for (i = 0; i < all->count; i++) {
		const char *type = task_type_name(all->tasks[i].type);

		json_put_int(out, type, json_get_int(out, type, 0) + 1);
	}
	return out;
}

json_t *topology_json(const struct topology *all)
{
	return message_json(&topology_message, all, MESSAGE_PLAIN);
}

int topology_from_json(const json_t *value, struct arena *mem,
		       struct topology *out, struct error *err)
{
	struct topology all = { 0 };

	if (message_read(&topology_message, value, mem, &all, err) < 0)
		return -1;
	topology_rank(&all);
	*out = all;
	return 0;
}
