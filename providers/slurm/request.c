/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/request.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "providers/slurm/options.h"

/* The defaults of a block, for jobs without one. */
static const struct slurm_block no_block = {
	.directory = SLURM_FOLDER,
	.machine_types = true,
};

static const char *gres_of(const struct slurm_block *block,
			   const struct catalogue *catalogue,
			   const struct machine_group *group, struct arena *mem)
{
	const struct accelerator *known;
	const char *name = NULL;
	char model[64];
	size_t i;

	if (!group->accelerator_type || group->accelerator_count <= 0)
		return NULL;
	known = catalogue_accelerator(catalogue, group->accelerator_type);
	for (i = 0; i < block->gres.count; i++)
		if (!strcmp(block->gres.items[i].name, group->accelerator_type))
			name = block->gres.items[i].value;
	if (!name && known)
		name = known->gres;
	/* The default is the model, as most sites name it: gpu:t4 for
	 * NVIDIA_TESLA_T4. */
	if (!name) {
		catalogue_model(catalogue, group->accelerator_type, model,
				sizeof(model));
		name = arena_printf(mem, "gpu:%s", model);
	}
	return arena_printf(mem, "%s:%ld", name, group->accelerator_count);
}

/*
 * Returns the memory to request: the machine's without what the node needs
 * itself, 512 MB and 1/32, for kernel and slurmd.  SchedMD's slurm-gcp declares
 * 400 MB and 30 MB for each GB less than the machine type has, and a job that
 * requests more waits forever.
 */
static unsigned memory_of(const struct slurm_block *block,
			  const struct machine *machine)
{
	double all = machine->memory_gb * 1024;

	if (options_have(block->sbatch, "mem") ||
	    options_have(block->sbatch, "exclusive"))
		return 0;
	return (unsigned)(all > 1100 ? all - all / 32 - 512 : all / 2);
}

static unsigned cpus_each(unsigned cpus, long tasks)
{
	unsigned each = cpus / (unsigned)tasks;

	return each ? each : 1;
}

/* Returns the CPUs per task: as given to sbatch, or those of the machine
 * type. */
static unsigned cpus_of(const struct slurm_block *block,
			const struct machine *machine, long tasks)
{
	json_t *options =
		block->sbatch ? json_loads(block->sbatch, 0, NULL) : NULL;
	const char *said = json_get_text(options, "cpus-per-task", NULL);
	unsigned cpus = 0;

	if (machine && machine->vcpus)
		cpus = cpus_each(machine->vcpus, tasks);
	if (said)
		cpus = (unsigned)strtoul(said, NULL, 10);
	else if (options_have(block->sbatch, "cpus-per-"))
		cpus = 0;
	json_decref(options);
	return cpus;
}

static bool is_same(const struct slurm_component *a,
		    const struct slurm_component *b)
{
	return a->cpus == b->cpus && a->tasks == b->tasks &&
	       a->memory_mb == b->memory_mb &&
	       !strcmp(a->gres ? a->gres : "", b->gres ? b->gres : "");
}

/* Adds a component.  Only neighbours can be merged, as their tasks have
 * consecutive ranks. */
static void add_component(struct slurm_request *out,
			  const struct slurm_component *one)
{
	struct slurm_component *last =
		out->count ? &out->components[out->count - 1] : NULL;

	if (last && is_same(last, one))
		last->nodes += one->nodes;
	else
		out->components[out->count++] = *one;
}

int slurm_request_make(const struct job *job, const struct catalogue *catalogue,
		       struct arena *mem, struct slurm_request *out,
		       const char **missing, struct error *err)
{
	const struct scheduling *scheduling = &job->training_input.scheduling;
	const struct slurm_block *block = job_block(job, "slurm");
	struct machine_groups machines;
	size_t i;

	*missing = NULL;
	*out = (struct slurm_request){
		.block = block ? block : &no_block,
		.limit_s = scheduling->max_running_time_s,
		.priority = scheduling->priority,
	};
	if (machines_of(job, catalogue, &machines, err) < 0)
		return -1;
	for (i = 0; i < machines.count; i++) {
		const struct machine_group *group = &machines.items[i];
		struct slurm_component one = {
			.nodes = group->count,
			.tasks = machines_processes(job, group),
		};

		if (group->slice) {
			*missing = "there are no Cloud TPUs at a Slurm "
				   "cluster: set an accelerator that it has";
			return 0;
		}
		if (out->block->machine_types && group->machine)
			one.memory_mb = memory_of(out->block, group->machine);
		one.all_memory =
			options_have(out->block->sbatch, "exclusive") &&
			!options_have(out->block->sbatch, "mem");
		one.cpus = cpus_of(out->block,
				   out->block->machine_types ? group->machine
							     : NULL,
				   one.tasks);
		one.gres = gres_of(out->block, catalogue, group, mem);
		add_component(out, &one);
	}
	return 0;
}

/* Returns variables of sbatch, which override what the script says. */
const char *const *slurm_variables(const struct slurm_request *request,
				   struct arena *mem)
{
	const struct slurm_block *block = request->block;
	const struct {
		const char *name;
		bool is_said; /* the file sets it */
	} all[] = {
		{ "SBATCH_ACCOUNT", block->account },
		{ "SBATCH_CONSTRAINT", block->constraint },
		{ "SBATCH_PARTITION", block->partition },
		{ "SBATCH_QOS", block->qos },
		{ "SBATCH_RESERVATION", block->reservation },
		{ "SBATCH_TIMELIMIT", request->limit_s },
	};
	const char **out = arena_alloc(mem, (COUNT(all) + 1) * sizeof(*out));
	size_t i, n = 0;

	for (i = 0; i < COUNT(all); i++)
		if (!all[i].is_said)
			out[n++] = all[i].name;
	return out;
}

long slurm_limit_rest(long limit_s)
{
	return (60 - limit_s % 60) % 60;
}

/* Describes a component: "3 nodes, each with 4 CPUs, 15360 MB, gpu:t4:1". */
static json_t *component_json(const struct slurm_component *one)
{
	const char *with = one->nodes == 1 ? " with " : ", each with ";
	struct buf text = { 0 };
	json_t *out;

	buf_printf(&text, "%ld node%s", one->nodes, one->nodes == 1 ? "" : "s");
	if (one->tasks > 1) {
		buf_printf(&text, "%s%ld processes", with, one->tasks);
		with = ", ";
	}
	if (one->cpus) {
		buf_printf(&text, "%s%u CPUs%s", with, one->cpus,
			   one->tasks > 1 ? " for each" : "");
		with = ", ";
	}
	if (one->memory_mb) {
		buf_printf(&text, "%s%u MB", with, one->memory_mb);
		with = ", ";
	}
	if (one->all_memory) {
		buf_printf(&text, "%sall memory", with);
		with = ", ";
	}
	if (one->gres)
		buf_printf(&text, "%s%s", with, one->gres);
	out = json_string(buf_text(&text));
	buf_done(&text);
	return out;
}

static void put_options(json_t *out, const char *name, const char *options)
{
	if (options)
		json_put(out, name, json_loads(options, 0, NULL));
}

json_t *slurm_request_json(const struct slurm_request *request)
{
	static const char *const words[] = {
		[SLURM_REQUEUE_NO] = "no",
		[SLURM_REQUEUE_YES] = "yes",
		[SLURM_REQUEUE_EXPEDITE] = "expedite",
	};
	const struct slurm_block *block = request->block;
	json_t *components = json_array();
	json_t *out = json_object();
	char text[32];
	size_t i;

	json_put_text(out, "partition", block->partition);
	json_put_text(out, "account", block->account);
	json_put_text(out, "qos", block->qos);
	json_put_text(out, "constraint", block->constraint);
	json_put_text(out, "reservation", block->reservation);
	for (i = 0; i < request->count; i++)
		json_array_append_new(components,
				      component_json(&request->components[i]));
	json_put(out, "components", components);
	if (request->trials)
		json_put(out, "array",
			 json_sprintf("1-%ld, %ld at a time", request->trials,
				      request->at_a_time));
	if (request->limit_s) {
		duration_format(request->limit_s, text, sizeof(text));
		json_put_text(out, "timeLimit", text);
	}
	if (block->signal_time_s) {
		duration_format(block->signal_time_s, text, sizeof(text));
		json_put_text(out, "signalTime", text);
	}
	if (request->priority)
		json_put_int(out, "priority", request->priority);
	if (block->nice)
		json_put_int(out, "nice", block->nice);
	json_put_text(out, "requeue", words[request->requeue]);
	put_options(out, "sbatch", block->sbatch);
	put_options(out, "srun", block->srun);
	if (block->prolog.count)
		json_put(out, "prolog",
			 json_texts(block->prolog.items, block->prolog.count));
	return out;
}
