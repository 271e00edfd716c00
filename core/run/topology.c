/* SPDX-License-Identifier: Apache-2.0 */
#include "core/run/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

/* A scale tier or count beyond this is a mistake on one machine or many. */
#define TASK_MAX 100000

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

/* The TPU of a job: its row, and its size in the unit of the job file. */
static int find_tpu(const struct job *job, const struct catalogue *catalogue,
		    const struct tpu **tpu, const struct slice **slice,
		    struct error *err)
{
	const struct training_input *input = &job->training_input;
	const struct accelerator_config *config =
		&input->worker_config.accelerator_config;
	const struct tier *tier = catalogue_tier(catalogue, "BASIC_TPU");
	const char *type = config->type;
	long count = config->count;

	/* With a legacy master the file names no type: it is BASIC_TPU's. */
	if (!type && tier)
		type = tier->accelerator_type;
	if (!count && tier)
		count = (long)tier->accelerator_count;
	*tpu = type ? catalogue_tpu(catalogue, type) : NULL;
	if (!*tpu)
		return error_set(err, ERROR_INVALID, "unknown TPU type '%s'",
				 type ? type : "");
	*slice = count > 0 && count <= TASK_MAX
			 ? tpu_slice(*tpu, (unsigned)count)
			 : NULL;
	if (!*slice)
		return error_set(err, ERROR_INVALID, "no %s has %ld cores",
				 type, count);
	return 0;
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
	const struct training_input *input = &job->training_input;
	long workers = input->worker_count;
	long servers = input->parameter_server_count;
	long evaluators = input->evaluator_count;
	const struct slice *slice = NULL;
	const struct tpu *tpu;
	long masters = 1;
	json_t *text;

	if (job_uses_tpu(job)) {
		if (find_tpu(job, catalogue, &tpu, &slice, err) < 0)
			return -1;
		masters = slice->hosts == 1;
		workers = masters ? 0 : (long)slice->hosts;
	} else if (input->scale_tier != SCALE_TIER_CUSTOM &&
		   input->scale_tier != SCALE_TIER_UNSPECIFIED) {
		static const char *const tiers[] = {
			[SCALE_TIER_BASIC] = "BASIC",
			[SCALE_TIER_STANDARD_1] = "STANDARD_1",
			[SCALE_TIER_PREMIUM_1] = "PREMIUM_1",
			[SCALE_TIER_BASIC_GPU] = "BASIC_GPU",
		};
		const char *name = tiers[input->scale_tier];
		const struct tier *tier = catalogue_tier(catalogue, name);

		if (!tier)
			return error_set(err, ERROR_INVALID,
					 "unknown scale tier '%s'", name);
		workers = (long)tier->worker_count;
		servers = (long)tier->parameter_server_count;
	}
	if (workers > TASK_MAX || servers > TASK_MAX || evaluators > TASK_MAX)
		return error_set(err, ERROR_INVALID,
				 "more than %d tasks of one type", TASK_MAX);

	*out = (struct topology){ 0 };
	out->job_id = job->job_id;
	out->master_name = job_master_name(job);
	text = message_json(job->training_message, input,
			    MESSAGE_SNAKE | MESSAGE_WIRE);
	out->job_text = json_dumps(text, JSON_INDENT(1));
	json_decref(text);
	if (out->job_text) {
		char *owned = (char *)out->job_text;

		out->job_text = arena_strdup(mem, owned);
		free(owned);
	}
	out->tasks = arena_alloc(
		mem, (size_t)(masters + workers + servers + evaluators) *
			     sizeof(*out->tasks));
	place(out, TASK_MASTER, masters, host);
	place(out, TASK_WORKER, workers, host);
	place(out, TASK_PS, servers, host);
	place(out, TASK_EVALUATOR, evaluators, host);
	topology_rank(out);
	if (slice) {
		topology_set_slice(out, catalogue, slice->name, mem);
		name_tpu(job, mem, out);
	}
	return 0;
}

/*
 * The bounds of a slice in hosts.  The catalogue has v2 to v4 so; of the rest
 * it has the chips ("4x4", "2x2x4"), and a host of a slice that has several
 * is two by two of them.
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
	/* A host of a slice that has several. */
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

/* By host, and on one host by ordinal. */
static int compare_places(const void *a, const void *b)
{
	const struct task_place *one = *(struct task_place *const *)a;
	const struct task_place *two = *(struct task_place *const *)b;
	int order = strcmp(one->host, two->host);

	return order ? order : (one > two) - (one < two);
}

void topology_rank(struct topology *all)
{
	size_t world = topology_world_size(all);
	struct task_place **sorted, **first;
	size_t i, j, k;
	int groups = 0;

	sorted = mem_alloc((world + 1) * sizeof(*sorted));
	first = mem_alloc((world + 1) * sizeof(*first));
	for (i = 0; i < world; i++)
		sorted[i] = &all->tasks[i];
	qsort(sorted, world, sizeof(*sorted), compare_places);
	for (i = 0; i < world; i = j) {
		for (j = i;
		     j < world && !strcmp(sorted[i]->host, sorted[j]->host);
		     j++)
			;
		for (k = i; k < j; k++) {
			sorted[k]->local_rank = (int)(k - i);
			sorted[k]->local_world = (int)(j - i);
			first[sorted[k] - all->tasks] = sorted[i];
		}
	}
	/* Hosts are numbered as they first appear. */
	for (i = 0; i < world; i++)
		all->tasks[i].group =
			first[i] == &all->tasks[i] ? groups++ : first[i]->group;
	free(first);
	free(sorted);
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
