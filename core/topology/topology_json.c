/* SPDX-License-Identifier: Apache-2.0 */
/* A topology as a run's specification keeps it. */
#include "core/topology/topology.h"

#include <string.h>

#include "core/base/json.h"

static const char *const kind_names[] = {
	[TPU_NODE] = "node",
	[TPU_VM] = "vm",
	[TPU_CPU] = "cpu",
};

static json_t *tpu_json(const struct topology *all)
{
	json_t *tpu = json_object();
	json_t *hosts = json_array();
	size_t i;

	json_put_text(tpu, "slice", all->tpu_slice);
	if (all->tpu_slices > 1)
		json_put_int(tpu, "slices", all->tpu_slices);
	json_put_text(tpu, "kind", kind_names[all->tpu_kind]);
	if (all->tpu_xrt)
		json_put(tpu, "xrt", json_true());
	json_put_int(tpu, "devicesPerHost", all->devices_per_host);
	json_put_int(tpu, "chipsPerHost", all->chips_per_host);
	json_put_text(tpu, "bounds", all->tpu_bounds);
	json_put_text(tpu, "project", all->tpu_project);
	json_put_text(tpu, "zone", all->tpu_zone);
	json_put_text(tpu, "name", all->tpu_name);
	for (i = 0; i < all->tpu_host_count; i++) {
		json_t *host = json_object();

		json_put_text(host, "ip", all->tpu_hosts[i].ip);
		json_put_int(host, "port", all->tpu_hosts[i].port);
		json_array_append_new(hosts, host);
	}
	json_put(tpu, "hosts", hosts);
	return tpu;
}

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
	json_t *out = json_object();
	json_t *tasks = json_array();
	size_t i;

	json_put_text(out, "jobId", all->job_id);
	json_put_text(out, "masterName", all->master_name);
	json_put_text(out, "jobText", all->job_text);
	for (i = 0; i < all->count; i++) {
		json_t *task = json_object();

		json_put_text(task, "type", task_type_name(all->tasks[i].type));
		json_put_int(task, "index", all->tasks[i].index);
		json_put_text(task, "host", all->tasks[i].host);
		json_put_int(task, "port", all->tasks[i].port);
		json_array_append_new(tasks, task);
	}
	json_put(out, "tasks", tasks);
	json_put_int(out, "masterPort", all->master_port);
	json_put(out, "namesPools", json_boolean(all->names_pools));
	json_put_text(out, "trialId", all->trial_id);
	json_put_text(out, "metricFile", all->metric_file);
	if (all->tpu_slice)
		json_put(out, "tpu", tpu_json(all));
	return out;
}

static int read_tasks(const json_t *tasks, struct arena *mem,
		      struct topology *out, struct error *err)
{
	size_t i;

	out->count = json_array_size(tasks);
	out->tasks = arena_alloc(mem, out->count * sizeof(*out->tasks));
	for (i = 0; i < out->count; i++) {
		const json_t *task = json_array_get(tasks, i);
		struct task_place *place = &out->tasks[i];
		const char *type = json_get_text(task, "type", "");

		if (task_type_parse(type, &place->type) < 0)
			return error_set(err, ERROR_FAILED,
					 "a run's topology has a task of "
					 "unknown type '%s'",
					 type);
		place->index = (int)json_get_int(task, "index", 0);
		place->host = json_copy_text(task, "host", mem);
		place->port = (int)json_get_int(task, "port", 0);
		if (!place->host)
			return error_set(err, ERROR_FAILED,
					 "a run's topology has a task without "
					 "a host");
	}
	return 0;
}

static void read_tpu(const json_t *tpu, struct arena *mem, struct topology *out)
{
	const json_t *hosts = json_object_get(tpu, "hosts");
	const char *kind = json_get_text(tpu, "kind", "");
	struct tpu_place *places;
	size_t i;

	for (i = 0; i < COUNT(kind_names); i++)
		if (!strcmp(kind, kind_names[i]))
			out->tpu_kind = (enum tpu_kind)i;
	out->tpu_slice = json_copy_text(tpu, "slice", mem);
	out->tpu_slices = (unsigned)json_get_int(tpu, "slices", 0);
	out->tpu_xrt = json_is_true(json_object_get(tpu, "xrt"));
	out->devices_per_host =
		(unsigned)json_get_int(tpu, "devicesPerHost", 0);
	out->chips_per_host = (unsigned)json_get_int(tpu, "chipsPerHost", 0);
	out->tpu_bounds = json_copy_text(tpu, "bounds", mem);
	out->tpu_project = json_copy_text(tpu, "project", mem);
	out->tpu_zone = json_copy_text(tpu, "zone", mem);
	out->tpu_name = json_copy_text(tpu, "name", mem);
	out->tpu_host_count = json_array_size(hosts);
	places = arena_alloc(mem, out->tpu_host_count * sizeof(*places));
	for (i = 0; i < out->tpu_host_count; i++) {
		const json_t *host = json_array_get(hosts, i);
		const char *ip = json_copy_text(host, "ip", mem);

		places[i].ip = ip ? ip : "";
		places[i].port = (int)json_get_int(host, "port", 0);
	}
	out->tpu_hosts = places;
}

int topology_from_json(const json_t *value, struct arena *mem,
		       struct topology *out, struct error *err)
{
	const json_t *tpu = json_object_get(value, "tpu");
	struct topology all = { 0 };

	all.job_id = json_copy_text(value, "jobId", mem);
	all.master_name = json_copy_text(value, "masterName", mem);
	all.job_text = json_copy_text(value, "jobText", mem);
	if (read_tasks(json_object_get(value, "tasks"), mem, &all, err) < 0)
		return -1;
	if (!all.job_id || !all.master_name || !all.count)
		return error_set(err, ERROR_FAILED,
				 "a run's topology is incomplete");
	all.master_port = (int)json_get_int(value, "masterPort", 0);
	all.names_pools = json_is_true(json_object_get(value, "namesPools"));
	all.trial_id = json_copy_text(value, "trialId", mem);
	all.metric_file = json_copy_text(value, "metricFile", mem);
	if (tpu)
		read_tpu(tpu, mem, &all);
	topology_rank(&all);
	*out = all;
	return 0;
}
