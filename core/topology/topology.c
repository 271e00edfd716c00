/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topology/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/job/machines.h"

const char *const task_type_names[] = {
	[TASK_MASTER] = "master", [TASK_WORKER] = "worker",
	[TASK_PS] = "ps",         [TASK_EVALUATOR] = "evaluator",
	[TASK_TYPE_COUNT] = NULL,
};

const char *task_type_name(enum task_type type)
{
	return task_type_names[type];
}

int task_type_parse(const char *name, enum task_type *out)
{
	size_t i;

	if (!strcmp(name, "chief"))
		name = "master";
	else if (!strcmp(name, "parameterServer"))
		name = "ps";
	for (i = 0; i < TASK_TYPE_COUNT; i++) {
		if (!strcmp(task_type_names[i], name)) {
			*out = (enum task_type)i;
			return 0;
		}
	}
	return -1;
}

/* Adds so many tasks of a type, with so many on each machine; the first machine
 * may already have a task of another type. */
static void place(struct topology *out, enum task_type type, long count,
		  long each, long before, const char *host)
{
	long i;

	for (i = 0; i < count; i++) {
		struct task_place *task = &out->tasks[out->count++];

		task->type = type;
		task->index = (int)(before + i);
		task->host = host;
		task->beside = each > 1 && i % each;
	}
}

static void place_all(struct topology *out, const long counts[ROLE_COUNT],
		      const long each[ROLE_COUNT], const char *host)
{
	long more = counts[ROLE_MASTER] * (each[ROLE_MASTER] - 1), i;

	place(out, TASK_MASTER, counts[ROLE_MASTER], 1, 0, host);
	place(out, TASK_WORKER, more, 1, 0, host);
	for (i = 0; i < more; i++)
		out->tasks[out->count - 1 - (size_t)i].beside = true;
	place(out, TASK_WORKER, counts[ROLE_WORKER] * each[ROLE_WORKER],
	      each[ROLE_WORKER], more, host);
	place(out, TASK_PS, counts[ROLE_PARAMETER_SERVER], 1, 0, host);
	place(out, TASK_EVALUATOR, counts[ROLE_EVALUATOR], 1, 0, host);
}

/* The GPUs of each machine of the group, if all have the same number. */
static unsigned count_accelerators(const struct machine_groups *machines)
{
	const struct machine_group *master =
		machines_find(machines, ROLE_MASTER);
	const struct machine_group *worker =
		machines_find(machines, ROLE_WORKER);
	long count = master ? master->accelerator_count : 0;

	if ((master && master->slice) || (worker && worker->slice) ||
	    (worker && worker->accelerator_count != count) || count < 0)
		return 0;
	return (unsigned)count;
}

static void name_tpu(const struct job *job, struct arena *mem,
		     struct topology *out)
{
	const char *region = job->training_input.region;

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
	long counts[ROLE_COUNT] = { 0 }, each[ROLE_COUNT] = { 1, 1, 1, 1 };
	size_t total = 0;
	json_t *text;
	size_t i;

	if (machines_of(job, catalogue, &machines, err) < 0)
		return -1;
	for (i = 0; i < machines.count; i++) {
		const struct machine_group *group = &machines.items[i];

		counts[group->role] = group->count;
		each[group->role] = machines_processes(job, group);
	}
	tpu = machines_find(&machines, ROLE_WORKER);
	if (tpu && !tpu->slice)
		tpu = NULL;
	if (tpu) {
		bool single = tpu->slice->hosts == 1;

		counts[ROLE_MASTER] = single;
		counts[ROLE_WORKER] = single ? 0 : (long)tpu->slice->hosts;
		each[ROLE_MASTER] = each[ROLE_WORKER];
	}
	for (i = 0; i < ROLE_COUNT; i++)
		total += (size_t)(counts[i] * each[i]);

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
	place_all(out, counts, each, host);
	out->accelerators = count_accelerators(&machines);
	topology_rank(out);
	if (tpu) {
		topology_set_slice(out, catalogue, tpu->slice->name, mem);
		name_tpu(job, mem, out);
	}
	return 0;
}

/*
 * The bounds of a slice in hosts.  The catalogue has them for v2 to v4; for the
 * others it has the chips ("4x4", "2x2x4"), and each host of a slice with
 * several hosts has two by two of them.
 */
static const char *host_bounds(const struct slice *slice, struct arena *mem)
{
	unsigned x, y, z = 1;

	if (slice->hosts == 1)
		return "1,1,1";
	if (strchr(slice->topology, ','))
		return slice->topology;
	if (sscanf(slice->topology, "%ux%ux%u", &x, &y, &z) < 2)
		return NULL;
	return arena_printf(mem, "%u,%u,%u", x / 2, y / 2, z);
}

void topology_set_slice(struct topology *all, const struct catalogue *catalogue,
			const char *name, struct arena *mem)
{
	/* For each host of a slice with several hosts. */
	const unsigned usual_chips = 4;
	const struct tpu *tpu;
	const struct slice *slice = catalogue_slice(catalogue, name, &tpu);

	all->tpu_slice = arena_strdup(mem, name);
	all->devices_per_host = 0;
	all->chips_per_host = 0;
	all->tpu_bounds = NULL;
	if (!slice)
		return;
	all->chips_per_host = slice->chips / slice->hosts;
	all->devices_per_host =
		tpu->devices_per_host * all->chips_per_host / usual_chips;
	all->tpu_bounds = host_bounds(slice, mem);
}

void topology_repeat(struct topology *all, unsigned slices, struct arena *mem)
{
	size_t world = topology_world_size(all), others = all->count - world;
	bool has_master = world && all->tasks[0].type == TASK_MASTER;
	struct task_place *tasks =
		arena_alloc(mem, (world * slices + others) * sizeof(*tasks));
	size_t i;

	for (i = 0; i < world * slices; i++)
		tasks[i] =
			i < world
				? all->tasks[i]
				: (struct task_place){
					  .type = TASK_WORKER,
					  .index = (int)(i - has_master),
					  .host = all->tasks[0].host,
					  .beside =
						  all->tasks[i % world].beside,
				  };
	if (others)
		memcpy(tasks + world * slices, all->tasks + world,
		       others * sizeof(*tasks));
	all->tasks = tasks;
	all->count = world * slices + others;
	all->tpu_slices = slices;
	topology_rank(all);
}

void topology_split(struct topology *all, unsigned processes, size_t *self,
		    struct arena *mem)
{
	size_t world = topology_world_size(all), others = all->count - world;
	struct task_place *tasks =
		arena_alloc(mem, (world * processes + others) * sizeof(*tasks));
	int workers = 0;
	size_t i;

	for (i = 0; i < world * processes; i++) {
		struct task_place *task = &tasks[i];
		unsigned beside = (unsigned)(i % processes);

		*task = all->tasks[i / processes];
		if (task->port)
			task->port += (int)beside;
		if (beside) {
			task->type = TASK_WORKER;
			task->beside = true;
		}
		if (task->type == TASK_WORKER)
			task->index = workers++;
	}
	if (others)
		memcpy(tasks + world * processes, all->tasks + world,
		       others * sizeof(*tasks));
	*self = *self < world ? *self * processes
			      : *self + world * (processes - 1);
	all->tasks = tasks;
	all->count = world * processes + others;
	all->tf_cluster = all->spec_cluster = NULL;
	topology_rank(all);
}

unsigned topology_slice_hosts(const struct topology *all)
{
	size_t world = topology_world_size(all);
	unsigned hosts = 0, slices = all->tpu_slices ? all->tpu_slices : 1;
	size_t i;

	for (i = 0; i < world; i++)
		if (all->tasks[i].group >= (int)hosts)
			hosts = (unsigned)all->tasks[i].group + 1;
	return hosts / slices ? hosts / slices : 1;
}

unsigned topology_slice_of(const struct topology *all, size_t ordinal)
{
	return (unsigned)all->tasks[ordinal].group / topology_slice_hosts(all);
}

/* Sorts by host, and on one host by ordinal. */
static int compare_places(const void *a, const void *b)
{
	const struct task_place *one = *(struct task_place *const *)a;
	const struct task_place *two = *(struct task_place *const *)b;
	int order = strcmp(one->host, two->host);

	return order ? order : (one > two) - (one < two);
}

static bool is_together(const struct topology *all,
			const struct task_place *one,
			const struct task_place *two)
{
	return all->apart ? one->machine == two->machine
			  : !strcmp(one->host, two->host);
}

size_t topology_machines(const struct topology *all)
{
	return all->count ? all->tasks[all->count - 1].machine + 1 : 0;
}

size_t topology_on_host(const struct topology *all, size_t host, size_t hosts,
			size_t from)
{
	while (from < all->count && all->tasks[from].machine % hosts != host)
		from++;
	return from;
}

void topology_rank(struct topology *all)
{
	size_t world = topology_world_size(all);
	struct task_place **sorted, **first;
	size_t i, j, k;
	int groups = 0;

	for (i = 1; i < all->count; i++)
		all->tasks[i].machine =
			all->tasks[i - 1].machine + !all->tasks[i].beside;
	sorted = mem_alloc((world + 1) * sizeof(*sorted));
	first = mem_alloc((world + 1) * sizeof(*first));
	for (i = 0; i < world; i++)
		sorted[i] = &all->tasks[i];
	/* Otherwise they are sorted by machine. */
	if (!all->apart)
		qsort(sorted, world, sizeof(*sorted), compare_places);
	for (i = 0; i < world; i = j) {
		for (j = i; j < world && is_together(all, sorted[i], sorted[j]);
		     j++)
			;
		for (k = i; k < j; k++) {
			sorted[k]->local_rank = (int)(k - i);
			sorted[k]->local_world = (int)(j - i);
			first[sorted[k] - all->tasks] = sorted[i];
		}
	}
	/* Numbers hosts in the order in which they first appear. */
	for (i = 0; i < world; i++)
		all->tasks[i].group =
			first[i] == &all->tasks[i] ? groups++ : first[i]->group;
	free(first);
	free(sorted);
}

bool topology_is_standalone(const struct strings *command)
{
	size_t i;

	for (i = 0; i < command->count; i++)
		if (strstr(command->items[i], "--standalone"))
			return true;
	return false;
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
