/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/desire.h"

#include <limits.h>
#include <stdlib.h>

#include "core/base/json.h"
#include "core/base/units.h"
#include "core/job/boundary.h"
#include "core/provider/extension.h"
#include "core/spec/describe.h"
#include "core/spec/restart.h"
#include "core/supervise/supervised.h"
#include "core/trial/trial_spec.h"
#include "core/job/source.h"
#include "providers/slurm/slurm_program.h"
#include "providers/slurm/script.h"
#include "providers/slurm/slurm.h"
#include "providers/slurm/slurm_internal.h"
#include "providers/slurm/standalone.h"

/* Sets how often Slurm requeues the job: as often as jobrun.restart allows a
 * host to be lost, or without that block as often as Slurm likes. */
static void set_restarts(const struct job *job, struct slurm_job *out)
{
	const struct attempt_outcome lost = { .cause = OUTCOME_LOST };
	const struct restart_counts none = { 0 };
	struct restart_decision decision;

	if (out->request.block->requeue && !job_has(job, "restart"))
		out->spec.restart.max_preemptions = INT_MAX;
	restart_decide(&out->spec.restart, &none, &lost, &decision);
	out->request.requeue =
		!decision.again ? SLURM_REQUEUE_NO
		: out->request.block->requeue == SLURM_REQUEUE_EXPEDITE
			? SLURM_REQUEUE_EXPEDITE
			: SLURM_REQUEUE_YES;
}

int slurm_job_make(const struct job *job, const struct catalogue *catalogue,
		   struct arena *mem, struct slurm_job *out, struct error *err)
{
	char id[64];

	*out = (struct slurm_job){ 0 };
	if (slurm_request_make(job, catalogue, mem, &out->request,
			       &out->missing, err) < 0)
		return -1;
	/* On a cluster the job is trained, not tried out. */
	if (spec_from_job(job, catalogue, IMAGES_ALWAYS, mem, &out->spec,
			  out->missing ? &(const char *){ NULL }
				       : &out->missing,
			  err) < 0)
		return -1;
	/* The last checkpoint may take longer than the grace for ending. */
	if (out->request.block->signal_time_s > out->spec.grace_s)
		out->spec.grace_s = out->request.block->signal_time_s;
	set_restarts(job, out);
	out->request.trials = trial_count(&out->spec);
	out->request.at_a_time = out->spec.tuning.max_parallel_trials;
	program_id(id, sizeof(id));
	out->program = slurm_program(out->request.block, id, mem);
	return 0;
}

static json_t *texts_json(const struct strings *texts)
{
	return json_texts(texts->items, texts->count);
}

/* Describes the job without paths of this machine, so that plans of one commit
 * are equal everywhere. */
static json_t *describe(const struct job *job, const struct slurm_job *what)
{
	const struct run_spec *spec = &what->spec;
	json_t *out = json_object();

	describe_program(spec, out);
	if (job->jobrun.source)
		json_put(out, "source", source_json(job));
	if (spec->packages.count)
		json_put(out, "packages",
			 texts_json(&job->training_input.package_uris));
	json_put(out, "tasks", topology_tasks_json(&spec->topology));
	json_put(out, "slurm", slurm_request_json(&what->request));
	if (spec->env.count)
		json_put(out, "env", spec_env_json(spec));
	if (spec->secret_count)
		json_put(out, "secrets", spec_secrets_json(spec));
	describe_files(job, spec, out);
	if (spec->tuning.params.count)
		json_put(out, "trials", describe_trials(spec));
	return out;
}

/* Returns the call of sbatch with the script of the first run. */
static json_t *call_json(const struct job *job, const struct slurm_job *what)
{
	const char *host = what->request.block->login_host;
	struct arena *mem = arena_new();
	json_t *body = json_object();
	json_t *out = json_object();
	struct buf text = { 0 };

	slurm_script_write(job, &what->request, slurm_run_name(job, 1, mem),
			   what->program, &text);
	json_put_text(body, "script", buf_text(&text));
	json_put_text(out, "method", "sbatch");
	json_put(out, "url",
		 host ? json_sprintf("ssh://%s", host) : json_string(""));
	json_put(out, "body", body);
	buf_done(&text);
	arena_free(mem);
	return out;
}

/* Notes where restarts differ from those of tasks that jobrun starts itself. */
static void note_restarts(const struct job *job, const struct slurm_job *what,
			  struct resources *out)
{
	const struct restart *policy = &what->spec.restart;

	if (!job_has(job, "restart"))
		return;
	if (what->request.requeue && what->request.limit_s)
		resources_note(out, "trainingInput.scheduling.maxRunningTime "
				    "is for all attempts on the same nodes: "
				    "after the loss of one Slurm counts from "
				    "the start");
	if (what->request.requeue && policy->backoff_s)
		resources_note(out, "after the loss of a node the job waits in "
				    "Slurm's queue, however long that takes, "
				    "and not for jobrun.restart.backoff");
	if (what->request.block->requeue == SLURM_REQUEUE_YES)
		resources_note(out, "jobrun.slurm.requeue has no effect beside "
				    "jobrun.restart, which says how often "
				    "(maxPreemptions)");
}

static void check_trials(const struct job *job, const struct slurm_job *what,
			 struct resources *out)
{
	supervised_check_trials(job, &what->spec, out);
	if (!what->request.trials)
		return;
	if (what->request.count > 1)
		resources_miss(out, "trials of hyperparameters are the "
				    "elements of a job array, and Slurm has no "
				    "arrays of heterogeneous jobs: set the "
				    "same machine type and accelerator for "
				    "all tasks, or jobrun.slurm.machineTypes "
				    "to false");
	if (what->request.limit_s)
		resources_note(out, "trainingInput.scheduling.maxRunningTime "
				    "is for each trial, not for all of them");
}

/* Notes variables set on this machine; those of a login host are unknown. */
static void note_variables(const struct slurm_request *request,
			   struct resources *out)
{
	const char *const *kept = slurm_variables(request, out->mem);
	size_t i;

	for (i = 0; kept[i] && !request->block->login_host; i++) {
		const char *value = getenv(kept[i]);

		if (value && *value)
			resources_note(out, "%s=%s is set here, and holds",
				       kept[i], value);
	}
}

static void note_limit(const struct slurm_request *request,
		       struct resources *out)
{
	long rest_s = slurm_limit_rest(request->limit_s);
	char exact[32], rounded[32];

	if (!rest_s)
		return;
	duration_format(request->limit_s, exact, sizeof(exact));
	duration_format(request->limit_s + rest_s, rounded, sizeof(rounded));
	resources_note(out,
		       "Slurm counts minutes and is asked for %s: jobrun "
		       "itself ends the run after %s "
		       "(trainingInput.scheduling.maxRunningTime)",
		       rounded, exact);
}

static void note_memory(const struct slurm_request *request,
			struct resources *out)
{
	unsigned memory_mb = request->components[0].memory_mb;

	if (memory_mb)
		resources_note(out,
			       "Slurm is asked for %u MB of each node: the "
			       "rest of the machine type's memory is the "
			       "node's own; jobrun.slurm.sbatch.mem says "
			       "another amount",
			       memory_mb);
}

static void check(const struct job *job, const struct slurm_job *what,
		  struct resources *out)
{
	const struct slurm_block *block = what->request.block;

	if (what->missing)
		resources_miss(out, "%s", what->missing);
	check_trials(job, what, out);
	if (block->signal_time_s && !what->request.limit_s)
		resources_note(out, "jobrun.slurm.signalTime counts from the "
				    "partition's time limit: trainingInput."
				    "scheduling.maxRunningTime is not set");
	if (what->spec.checkpoints.is_used && !what->spec.checkpoints.to &&
	    what->spec.topology.count > 1)
		resources_note(out,
			       "jobrun.checkpoints.to is not set: a restarted "
			       "run of several tasks starts from scratch");
	note_variables(&what->request, out);
	note_limit(&what->request, out);
	note_memory(&what->request, out);
	note_restarts(job, what, out);
	if (!job->jobrun.source && !what->spec.packages.count)
		resources_note(out, "jobrun.source is not set: jobrun copies "
				    "nothing to the cluster, and the program "
				    "starts in the home directory there");
}

int slurm_desire(const struct job *job, const struct provider_env *env,
		 struct resources *out, struct error *err)
{
	struct slurm_job what;
	struct resource *run;

	if (slurm_job_make(job, env->catalogue, out->mem, &what, err) < 0)
		return -1;
	run = resources_add(out, &slurm_kind_job, job->job_id, job);
	run->properties = describe(job, &what);
	run->request = call_json(job, &what);
	check(job, &what, out);
	resources_note_unused(out, job, &provider_slurm);
	return 0;
}

const char *slurm_place(const struct job *job, struct arena *mem)
{
	const struct slurm_block *block = job_block(job, "slurm");

	if (!block)
		return NULL;
	return arena_printf(mem, "%s:%s",
			    block->login_host ? block->login_host : "",
			    block->directory);
}

const char *slurm_contacts(const struct job *job,
			   const struct boundary *boundary, struct arena *mem)
{
	const struct slurm_block *block = job_block(job, "slurm");

	if (!block || boundary->connect)
		return NULL;
	if (block->login_host)
		return arena_printf(mem, "the login host '%s'",
				    block->login_host);
	if (message_has(&slurm_message, block, "directory"))
		return arena_printf(mem, "the cluster's directory '%s'",
				    block->directory);
	return NULL;
}

/* Writes a batch script for use without jobrun. */
static int render(const struct job *job, const struct render_env *env,
		  struct buf *out, struct error *err)
{
	struct arena *mem = arena_new();
	struct slurm_job what;
	int ret = slurm_job_make(job, env->catalogue, mem, &what, err);

	if (ret == 0) {
		ret = slurm_standalone_write(job, &what, env, out, err);
		if (what.missing)
			env->tell(env->arg, true, NULL, what.missing);
	}
	arena_free(mem);
	return ret;
}

const struct provider_render slurm_render = {
	.digest = true,
	.render = render,
};
