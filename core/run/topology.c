/* SPDX-License-Identifier: Apache-2.0 */
#include "core/run/topology.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/machines.h"

static const char *const type_names[] = {
	[TASK_MASTER] = "master",
	[TASK_WORKER] = "worker",
	[TASK_PS] = "ps",
	[TASK_EVALUATOR] = "evaluator",
};

const char *task_type_name(enum task_type type)
{
	return type_names[type];
}

int task_type_parse(const char *name, enum task_type *out)
{
	size_t i;

	if (!strcmp(name, "chief"))
		name = "master";
	else if (!strcmp(name, "parameterServer"))
		name = "ps";
	for (i = 0; i < COUNT(type_names); i++) {
		if (!strcmp(type_names[i], name)) {
			*out = (enum task_type)i;
			return 0;
		}
	}
	return -1;
}

static void place(struct topology *out, enum task_type type, long count,
		  const char *host)
{
	long i;

	for (i = 0; i < count; i++) {
		struct task_place *task = &out->tasks[out->count++];

		task->type = type;
		task->index = (int)i;
		task->host = host;
	}
}

static void name_tpu(const struct job *job, const struct tpu *tpu,
		     const struct slice *slice, struct arena *mem,
		     struct topology *out)
{
	const char *region = job->training_input.region;

	out->tpu_slice = arena_strdup(mem, slice->name);
	out->devices_per_host = tpu->devices_per_host;
	out->tpu_project = job->jobrun.project ? job->jobrun.project : "local";
	out->tpu_zone = job->jobrun.zone ? job->jobrun.zone
			: region         ? arena_printf(mem, "%s-b", region)
					 : "local";
	out->tpu_name = arena_printf(mem, "cmle-training-%s-tpu", job->job_id);
}

int topology_from_job(const struct job *job, const struct catalogue *catalogue,
		      const char *host, struct arena *mem, struct topology *out,
		      struct error *err)
{
	const struct machine_group *tpu;
	struct machine_groups machines;
	long counts[ROLE_COUNT] = { 0 };
	size_t total = 0;
	json_t *text;
	size_t i;

	if (machines_of(job, catalogue, &machines, err) < 0)
		return -1;
	for (i = 0; i < machines.count; i++)
		counts[machines.items[i].role] = machines.items[i].count;
	tpu = machines_find(&machines, ROLE_WORKER);
	if (tpu && !tpu->slice)
		tpu = NULL;
	if (tpu) {
		bool single = tpu->slice->hosts == 1;

		counts[ROLE_MASTER] = single;
		counts[ROLE_WORKER] = single ? 0 : (long)tpu->slice->hosts;
	}
	for (i = 0; i < ROLE_COUNT; i++)
		total += (size_t)counts[i];

	*out = (struct topology){ 0 };
	out->job_id = job->job_id;
	out->master_name = job_master_name(job);
	text = message_json(job->training_message, &job->training_input,
			    MESSAGE_SNAKE | MESSAGE_WIRE);
	out->job_text = json_dumps(text, JSON_INDENT(1));
	json_decref(text);
	if (out->job_text) {
		char *owned = (char *)out->job_text;

		out->job_text = arena_strdup(mem, owned);
		free(owned);
	}
	out->tasks = arena_alloc(mem, total * sizeof(*out->tasks));
	place(out, TASK_MASTER, counts[ROLE_MASTER], host);
	place(out, TASK_WORKER, counts[ROLE_WORKER], host);
	place(out, TASK_PS, counts[ROLE_PARAMETER_SERVER], host);
	place(out, TASK_EVALUATOR, counts[ROLE_EVALUATOR], host);
	if (tpu)
		name_tpu(job, tpu->tpu, tpu->slice, mem, out);
	return 0;
}

int topology_find(const struct topology *all, enum task_type type, int index)
{
	size_t i;

	for (i = 0; i < all->count; i++)
		if (all->tasks[i].type == type && all->tasks[i].index == index)
			return (int)i;
	return -1;
}

size_t topology_world_size(const struct topology *all)
{
	size_t i = 0;

	while (i < all->count && all->tasks[i].type <= TASK_WORKER)
		i++;
	return i;
}

size_t topology_port_count(const struct topology *all)
{
	return all->count + 1;
}

void topology_set_ports(struct topology *all, const int *ports)
{
	size_t i;

	for (i = 0; i < all->count; i++)
		all->tasks[i].port = ports[i];
	all->master_port = ports[all->count];
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
	if (all->tpu_slice) {
		json_t *tpu = json_object();

		json_put_text(tpu, "slice", all->tpu_slice);
		json_put_int(tpu, "devicesPerHost", all->devices_per_host);
		json_put(tpu, "cpu", json_boolean(all->tpu_is_cpu));
		json_put_text(tpu, "project", all->tpu_project);
		json_put_text(tpu, "zone", all->tpu_zone);
		json_put_text(tpu, "name", all->tpu_name);
		json_put(out, "tpu", tpu);
	}
	return out;
}

static const char *copy_text(const json_t *object, const char *key,
			     struct arena *mem)
{
	const char *text = json_get_text(object, key, NULL);

	return text ? arena_strdup(mem, text) : NULL;
}

int topology_from_json(const json_t *value, struct arena *mem,
		       struct topology *out, struct error *err)
{
	const json_t *tasks = json_object_get(value, "tasks");
	const json_t *tpu = json_object_get(value, "tpu");
	size_t i;

	*out = (struct topology){ 0 };
	out->job_id = copy_text(value, "jobId", mem);
	out->master_name = copy_text(value, "masterName", mem);
	out->job_text = copy_text(value, "jobText", mem);
	out->count = json_array_size(tasks);
	if (!out->job_id || !out->master_name || !out->count)
		return error_set(err, ERROR_FAILED,
				 "a run's topology is incomplete");
	out->tasks = arena_alloc(mem, out->count * sizeof(*out->tasks));
	for (i = 0; i < out->count; i++) {
		const json_t *task = json_array_get(tasks, i);
		struct task_place *place_out = &out->tasks[i];
		const char *type = json_get_text(task, "type", "");

		if (task_type_parse(type, &place_out->type) < 0)
			return error_set(err, ERROR_FAILED,
					 "a run's topology has a task of "
					 "unknown type '%s'",
					 type);
		place_out->index = (int)json_get_int(task, "index", 0);
		place_out->host = copy_text(task, "host", mem);
		place_out->port = (int)json_get_int(task, "port", 0);
	}
	out->master_port = (int)json_get_int(value, "masterPort", 0);
	if (!tpu)
		return 0;
	out->tpu_slice = copy_text(tpu, "slice", mem);
	out->devices_per_host =
		(unsigned)json_get_int(tpu, "devicesPerHost", 0);
	out->tpu_is_cpu = json_is_true(json_object_get(tpu, "cpu"));
	out->tpu_project = copy_text(tpu, "project", mem);
	out->tpu_zone = copy_text(tpu, "zone", mem);
	out->tpu_name = copy_text(tpu, "name", mem);
	return 0;
}
