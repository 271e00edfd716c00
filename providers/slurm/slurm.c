/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/slurm.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/job/traits.h"
#include "providers/slurm/slurm_internal.h"
#include "providers/slurm/script.h"
#include "providers/slurm/slurm_doctor.h"
#include "providers/slurm/slurm_uses.h"

/* ---- reading ----------------------------------------------------------- */

/* A job's runs, and the state of the one submitted last. */
struct slurm_view {
	struct slurm_cluster *at;
	struct slurm_runs runs;
	const struct slurm_run *run; /* NULL: there is none */
	struct queue_job job;
	bool known; /* Slurm knows the job */
};

/* Whether a run is recorded here as ended: it is over then, perhaps as it was
 * cancelled before it began. */
static bool has_ended(struct slurm *slurm, const struct slurm_run *run,
		      struct arena *mem)
{
	struct slurm_record record;
	struct error ignored;

	return slurm_recorded(slurm, run->job_id, mem, &record, &ignored) ==
		       0 &&
	       !strcmp(record.name, run->name) &&
	       run_state_is_final(record.run.state);
}

/* Finds the newest run that was certainly submitted: it has begun, or Slurm
 * knows it. */
static int see(struct slurm *slurm, const char *place, const char *job_id,
	       struct arena *mem, struct slurm_view *out, struct error *err)
{
	size_t i;
	int ret;

	*out = (struct slurm_view){ .at = slurm_at(slurm, place, err) };
	if (!out->at)
		return -1;
	if (runs_read(out->at->cluster, job_id, mem, &out->runs, err) < 0)
		return -1;
	for (i = out->runs.count; i-- > 0 && !out->run;) {
		const struct slurm_run *run = &out->runs.items[i];

		if (i + 1 == out->runs.count)
			ret = slurm_look_surely(slurm, out->at, run->comment,
						run->id, mem, &out->job, err);
		else
			ret = slurm_look(slurm, out->at, run->comment, run->id,
					 60000, 0, mem, &out->job, err);
		/* A run that is over needs no answer of the controller. */
		if (ret < 0 && (run->status == 0 || has_ended(slurm, run, mem)))
			ret = 1;
		if (ret < 0) {
			runs_done(&out->runs);
			return -1;
		}
		out->known = ret == 0;
		if (out->known || run->id || run->restart >= 0)
			out->run = run;
	}
	return 0;
}

/* Returns the state of a run: from Slurm, unless its folder says that it
 * succeeded or Slurm has forgotten it.  Cleaning up after a success may take a
 * while. */
static enum run_state state_of(const struct slurm_view *sight)
{
	if (sight->known && sight->run->status != 0)
		return queue_state(sight->job.state);
	return sight->run->status == 0 ? RUN_SUCCEEDED : RUN_FAILED;
}

static int slurm_read(void *ctx, const struct resource *want,
		      struct resource *found, struct error *err)
{
	struct slurm *slurm = ctx;
	struct arena *mem = arena_new();
	struct slurm_record record;
	struct slurm_view sight = { 0 };
	const char *place = NULL;
	struct error ignored;
	int ret = 0;

	if (want->job->file)
		place = slurm_place(want->job, mem);
	else if (slurm_recorded(slurm, want->name, mem, &record, err) == 0)
		place = record.place;
	ret = see(slurm, place, want->name, mem, &sight, err);
	if (ret == 0 && sight.run) {
		found->run.state = state_of(&sight);
		found->run.attempt = sight.run->number;
		found->run.exit_code = -1;
		run_status_set_origin(&found->run, sight.run->origin);
		resource_found(found, json_incref(sight.run->properties),
			       sight.run->digest, sight.run->digest2, NULL);
		/* Another machine may have started the run. */
		if (slurm->env.store && want->job->file)
			slurm_record(slurm, want->job, sight.at, sight.run,
				     &ignored);
	}
	runs_done(&sight.runs);
	arena_free(mem);
	return ret;
}

/* ---- starting ---------------------------------------------------------- */

/* Names the run by its number among those with the same digest. */
static void name_run(const struct slurm_view *sight,
		     const struct resource *want, struct arena *mem,
		     struct slurm_run *out)
{
	const struct job *job = want->job;
	int last = 0, same = 1;
	size_t i;

	for (i = 0; i < sight->runs.count; i++) {
		const struct slurm_run *run = &sight->runs.items[i];

		last = run->number > last ? run->number : last;
		if (!strncmp(run->digest, job->digest.hex, 8))
			same++;
	}
	*out = (struct slurm_run){
		.job_id = job->job_id,
		.name = slurm_run_name(job, same, mem),
		.number = last + 1,
		.digest = job->digest.hex,
		.digest2 = job->digest2.hex,
		.set = job->set,
		.origin = job->origin,
		.revision = job->revision,
		.cleanup = job->jobrun.cleanup,
		.create_time_ms = time_now_ms(),
		.properties = want->properties,
	};
	out->comment = slurm_comment(job, out->name, mem);
}

/* Returns the newest run if an earlier try has made it for this state of the
 * job, or NULL. */
static const struct slurm_run *left_by_earlier(const struct slurm_view *sight,
					       const struct resource *want)
{
	const struct slurm_run *last =
		sight->runs.count ? &sight->runs.items[sight->runs.count - 1]
				  : NULL;

	if (last && last->number > want->run.attempt &&
	    job_was_run(want->job, last->digest, last->digest2))
		return last;
	return NULL;
}

/* How long another machine may take between a run's folder and its job. */
#define STARTING_MS 60000

/* Fails while another machine that just created the run's folder may be about
 * to submit the run. */
static int check_starting(struct slurm *slurm, const struct slurm_run *run,
			  struct error *err)
{
	int64_t age_ms = time_now_ms() - run->create_time_ms;
	char *owner;
	int ret = 0;

	if (run->id || !run->owner || age_ms < 0 || age_ms > STARTING_MS)
		return 0;
	owner = store_owner(slurm->env.store, err);
	if (!owner)
		return -1;
	/* After the id comes a description of the owner, for people. */
	if (strncmp(owner, run->owner, strcspn(owner, " ") + 1) != 0)
		ret = error_set(err, ERROR_TRY_AGAIN,
				"it is being started elsewhere, since %lld s",
				(long long)age_ms / 1000);
	free(owner);
	return ret;
}

static int slurm_create(void *ctx, const struct resource *want,
			struct error *err)
{
	struct slurm *slurm = ctx;
	struct arena *mem = arena_new();
	const struct slurm_run *earlier;
	struct slurm_run run;
	struct slurm_job what;
	struct slurm_view sight = { 0 };
	char *owner = NULL;
	int ret = -1;

	if (slurm_job_make(want->job, slurm->env.catalogue, mem, &what, err) <
	    0)
		goto out;
	if (what.missing) {
		error_set(err, ERROR_INVALID, "%s", what.missing);
		goto out;
	}
	if (see(slurm, slurm_place(want->job, mem), want->name, mem, &sight,
		err) < 0)
		goto out;
	earlier = left_by_earlier(&sight, want);
	if (earlier && has_ended(slurm, earlier, mem))
		earlier = NULL;
	if (!earlier) {
		owner = store_owner(slurm->env.store, err);
		if (!owner)
			goto out;
		name_run(&sight, want, mem, &run);
		run.owner = owner;
		ret = slurm_submit(sight.at->cluster, want->job, &what, &run,
				   mem, err);
	} else {
		run = *earlier;
		ret = earlier != sight.run ? check_starting(slurm, &run, err)
					   : 0;
		if (ret == 0 && earlier != sight.run)
			ret = slurm_submit_again(sight.at->cluster, &what, &run,
						 mem, err);
		else if (sight.known)
			run.id = sight.job.id;
	}
	if (ret == 0)
		ret = slurm_record(slurm, want->job, sight.at, &run, err);
out:
	free(owner);
	runs_done(&sight.runs);
	arena_free(mem);
	return ret;
}

/* ---- following --------------------------------------------------------- */

/* Reports a change: why the run is pending, what does not answer, or that it
 * resumed. */
static void say_pending(const struct run_record *run, const char *before,
			struct error *err)
{
	if (run->error)
		snprintf(err->text, sizeof(err->text), "%s", run->error);
	else if (before && run->state == RUN_RUNNING)
		snprintf(err->text, sizeof(err->text), "it runs");
}

static int slurm_wait(void *ctx, const struct resource *have,
		      enum wait_state *state, struct error *err)
{
	struct slurm *slurm = ctx;
	struct slurm_record record;
	struct arena *mem;
	const char *before;
	int ret;

	/* 1: Slurm has started the job again, so look at the next attempt. */
	do {
		mem = arena_new();
		before = NULL;
		ret = slurm_recorded(slurm, have->name, mem, &record, err);
		if (ret == 0)
			before = record.run.error;
		if (ret == 1)
			ret = error_set(err, ERROR_FAILED, "the run is gone");
		else if (ret == 0 && !run_state_is_final(record.run.state))
			ret = slurm_follow(slurm, &record, mem, err);
		if (ret == 0)
			*state = run_state_is_final(record.run.state)
					 ? WAIT_DONE
					 : WAIT_PENDING;
		if (ret == 0 && *state == WAIT_PENDING)
			say_pending(&record.run, before, err);
		arena_free(mem);
	} while (ret == 1);
	return ret;
}

/* Cancels a job.  A pending job gets no signals, and some elements of an array
 * may be pending. */
static int cancel_job(struct cluster *cluster, const struct queue_job *job,
		      bool now, struct error *err)
{
	const char *const kill[] = { "scancel", "--signal=KILL", job->id,
				     NULL };
	bool runs = queue_state(job->state) == RUN_RUNNING;
	struct command_answer answer;

	if (now && runs) {
		if (cluster_slurm(cluster, kill, &answer, err) < 0)
			return -1;
		command_answer_done(&answer);
		if (!job->element_count)
			return 0;
	}
	return cluster_cancel(cluster, job->id, err);
}

static int slurm_cancel(void *ctx, const struct resource *have, bool now,
			struct error *err)
{
	struct slurm *slurm = ctx;
	struct arena *mem = arena_new();
	struct slurm_cluster *at = NULL;
	struct slurm_record record;
	struct queue_job job;
	int ret = slurm_recorded(slurm, have->name, mem, &record, err);

	if (ret == 0 && !run_state_is_final(record.run.state)) {
		at = slurm_at(slurm, record.place, err);
		ret = at ? slurm_look_surely(slurm, at, record.comment,
					     record.id, mem, &job, err)
			 : -1;
	}
	if (ret == 0 && at && !run_state_is_final(queue_state(job.state))) {
		slurm_mark_cancel(slurm, at->cluster, &record, RUN_CANCELLED,
				  mem);
		ret = cancel_job(at->cluster, &job, now, err);
	}
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

static int forget_records(struct slurm *slurm, const char *job_id,
			  struct error *err)
{
	struct arena *mem = arena_new();
	struct slurm_record record;
	int ret;

	do {
		ret = slurm_recorded(slurm, job_id, mem, &record, err);
		if (ret == 0)
			ret = store_run_delete(slurm->env.store, &record.run,
					       err);
	} while (ret == 0);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

static int slurm_delete(void *ctx, const struct resource *have,
			struct error *err)
{
	struct slurm *slurm = ctx;
	struct arena *mem = arena_new();
	struct slurm_record record;
	struct slurm_view sight = { 0 };
	const char *place = have->place;
	int ret = 0;

	if (!place) {
		ret = slurm_recorded(slurm, have->name, mem, &record, err);
		place = ret == 0 ? record.place : NULL;
	}
	if (ret >= 0)
		ret = see(slurm, place, have->name, mem, &sight, err);
	if (ret == 0 && sight.run && !run_state_is_final(state_of(&sight)))
		ret = error_set(err, ERROR_TRY_AGAIN,
				"still running; 'jobrun cancel %s' stops it",
				have->name);
	if (ret == 0)
		ret = slurm_forget(sight.at->cluster, have->name, NULL, err);
	if (ret == 0)
		ret = forget_records(slurm, have->name, err);
	runs_done(&sight.runs);
	arena_free(mem);
	return ret;
}

/* ---- the provider ------------------------------------------------------ */

const struct kind slurm_kind_job = {
	.name = "slurm-job",
	.flags = KIND_RUN,
	.files = "source.files",
	.read = slurm_read,
	.create = slurm_create,
	.delete = slurm_delete,
	.wait = slurm_wait,
	.refresh = slurm_refresh,
	.cancel = slurm_cancel,
	.list = slurm_list,
	.enter = slurm_enter,
};

static const struct kind *const kinds[] = { &slurm_kind_job, NULL };

static void *slurm_open(const struct provider_env *env, struct error *err)
{
	struct slurm *slurm;

	if (!env->store) {
		error_set(err, ERROR_FAILED,
			  "the provider slurm needs a store");
		return NULL;
	}
	slurm = mem_alloc(sizeof(*slurm));
	slurm->env = *env;
	pthread_mutex_init(&slurm->lock, NULL);
	return slurm;
}

static void slurm_close(void *ctx)
{
	struct slurm *slurm = ctx;
	size_t i;

	if (!slurm)
		return;
	for (i = 0; i < slurm->count; i++) {
		cluster_close(slurm->clusters[i].cluster);
		arena_free(slurm->clusters[i].mem);
		arena_free(slurm->clusters[i].accounts_mem);
	}
	pthread_mutex_destroy(&slurm->lock);
	free(slurm);
}

const struct provider provider_slurm = {
	.name = "slurm",
	.summary = "a Slurm cluster",
	.traits = TRAIT_STARTS_PROGRAM | TRAIT_BESIDE_TASKS | TRAIT_QUEUE |
		  TRAIT_PROCESSES | TRAIT_PRIORITY,
	.uses = slurm_uses,
	.kinds = kinds,
	.block = &slurm_message,
	.asks = true,
	.desire = slurm_desire,
	.place = slurm_place,
	.contacts = slurm_contacts,
	.open = slurm_open,
	.close = slurm_close,
	.reader = &reader_slurm,
	.render = &slurm_render,
	.commands = slurm_commands,
	.doctor = slurm_doctor,
	.doctor_job = slurm_doctor_job,
};
