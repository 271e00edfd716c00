/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/local/local.h"

#include <stdlib.h>

#include "core/job/traits.h"
#include "core/spec/describe.h"
#include "core/supervise/supervised.h"
#include "core/store/store.h"
#include "providers/local/leftovers.h"
#include "providers/local/local_block.h"
#include "providers/local/local_devices.h"
#include "providers/local/local_doctor.h"

static void note_hosts(const struct job *job, const struct run_spec *spec,
		       struct resources *out)
{
	size_t at_a_time = 1, used;

	if (!spec->hosts.names.count)
		return;
	if (!job->jobrun.source)
		resources_note(out, "jobrun.source is not set: jobrun copies "
				    "nothing to the hosts, and the program "
				    "starts in the home directory there");
	if (spec->tuning.params.count)
		at_a_time = (size_t)spec->tuning.max_parallel_trials;
	used = topology_machines(&spec->topology) * at_a_time;
	if (spec->hosts.names.count > used)
		resources_note(out,
			       "%zu of the %zu hosts get no task and are not "
			       "used",
			       spec->hosts.names.count - used,
			       spec->hosts.names.count);
}

static void check_checkpoints(const struct run_spec *spec,
			      struct resources *out)
{
	const struct run_checkpoints *how = &spec->checkpoints;

	if (!how->is_used || !spec->hosts.names.count)
		return;
	if (how->to && how->to[0] == '/')
		resources_note(out,
			       "jobrun.checkpoints.to is a directory of the "
			       "hosts, which they must share");
	if (!how->to)
		resources_note(out, "jobrun.checkpoints.to is not set: "
				    "checkpoints come back at the end of the "
				    "run, and another run starts from scratch");
}

static void check_trials(const struct job *job, const struct run_spec *spec,
			 struct resources *out)
{
	const struct hyperparameter_spec *tuning =
		&job->training_input.hyperparameters;

	supervised_check_trials(job, spec, out);
	if (spec->hosts.names.count && tuning->enable_trial_early_stopping)
		resources_note(out, "trials on hosts are stopped early by what "
				    "they print: the file of "
				    "CLOUD_ML_HP_METRIC_FILE is read when one "
				    "has ended");
}

static int desire(const struct job *job, const struct provider_env *env,
		  struct resources *out, struct error *err)
{
	struct run_spec spec;
	struct resource *run;
	const char *missing;

	if (spec_from_job(job, env->catalogue, IMAGES_IF_ASKED, out->mem, &spec,
			  &missing, err) < 0)
		return -1;
	run = resources_add(out, &kind_supervised_run, job->job_id, job);
	run->properties = describe_run(job, &spec);
	if (missing)
		resources_miss(out, "%s", missing);
	if (job->training_input.master_config.image_uri &&
	    job->jobrun.command.count && !job_has(job, "container"))
		resources_note(out,
			       "jobrun.command runs without '%s': jobrun."
			       "container: {} runs it in a container",
			       job->training_input.master_config.image_uri);
	note_hosts(job, &spec, out);
	if (local_devices_note(job, env, &spec, out, err) < 0)
		return -1;
	if (!missing && !job->jobrun.source && !spec.packages.count &&
	    !spec.hosts.names.count)
		resources_note(out, "jobrun cannot notice changes to the "
				    "program's files: set jobrun.source to "
				    "their directory");
	check_checkpoints(&spec, out);
	check_trials(job, &spec, out);
	resources_note_unused(out, job, &provider_local);
	return 0;
}

static int specify(const struct supervised *as, const struct job *job,
		   const struct resource *want, struct arena *mem,
		   struct run_spec *out, const char **missing,
		   struct error *err)
{
	if (spec_from_job(job, as->env.catalogue, IMAGES_IF_ASKED, mem, out,
			  missing, err) < 0)
		return -1;
	out->queue.priority = job->training_input.scheduling.priority;
	/* Only a run takes devices; predicting its environment does not. */
	if (want && !*missing &&
	    local_devices_set(job, &as->env, mem, out, missing, err) < 0)
		return -1;
	/* How many run at once is a limit of this machine. */
	if (out->hosts.names.count)
		return 0;
	return local_runs_at_once(job, &as->env, &out->queue.limit, err);
}

static void *local_open(const struct provider_env *env, struct error *err)
{
	struct supervised *as = mem_alloc(sizeof(*as));

	if (supervised_init(as, env, provider_local.name, err) == 0) {
		as->specify = specify;
		return as;
	}
	free(as);
	return NULL;
}

static void local_close(void *ctx)
{
	free(ctx);
}

static const struct kind *const kinds[] = { &kind_supervised_run, NULL };

static int leftovers(void *ctx, struct leftovers *out, struct error *err)
{
	const struct supervised *as = ctx;

	return local_leftovers(as->env.store, out, err);
}

static int sweep(void *ctx, const struct leftover *one, struct error *err)
{
	const struct supervised *as = ctx;

	return local_sweep(as->env.store, one, err);
}

const struct provider provider_local = {
	.name = "local",
	.summary = "processes on this machine",
	.traits = TRAIT_THIS_MACHINE | TRAIT_SUPERVISED | TRAIT_STARTS_PROGRAM |
		  TRAIT_BESIDE_TASKS | TRAIT_PROCESSES | TRAIT_PRIORITY,
	.block = &local_message,
	.kinds = kinds,
	.uses = local_uses,
	.ignores_machines = true,
	.desire = desire,
	.leftovers = leftovers,
	.sweep = sweep,
	.environment = supervised_environment,
	.open = local_open,
	.close = local_close,
	.reader = &reader_local,
	.doctor_job = local_doctor_job,
};
