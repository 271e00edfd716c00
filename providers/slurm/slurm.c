/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/slurm.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/listing.h"
#include "providers/slurm/internal.h"
#include "providers/slurm/script.h"

/* Who did not answer, and has taken some time over that, is left alone for
 * longer, up to this. */
#define AWAY_MS 10000
/* To ask for one job is cheap; for many one by one it is not. */
#define MOMENT_MS 900
#define SINGLES_MAX 2
/* Before something is decided, what is known must be new. */
#define NOW 0

/* ---- clusters ---------------------------------------------------------- */

static struct slurm_cluster *find_cluster(struct slurm *slurm,
					  const char *place)
{
	size_t i;

	for (i = 0; i < slurm->count; i++)
		if (!strcmp(cluster_place(slurm->clusters[i].cluster), place))
			return &slurm->clusters[i];
	return NULL;
}

static struct slurm_cluster *add_cluster(struct slurm *slurm, const char *place,
					 struct error *err)
{
	struct slurm_cluster *out = &slurm->clusters[slurm->count];
	char *known;

	if (slurm->count == SLURM_CLUSTERS) {
		error_set(err, ERROR_FAILED,
			  "jobs of more than %d Slurm clusters at once",
			  SLURM_CLUSTERS);
		return NULL;
	}
	known = path_join(store_folder(slurm->env.store), "login_hosts");
	*out = (struct slurm_cluster){ .cluster = cluster_open(place, known,
							       err) };
	free(known);
	if (!out->cluster)
		return NULL;
	slurm->count++;
	return out;
}

struct slurm_cluster *slurm_at(struct slurm *slurm, const char *place,
			       struct error *err)
{
	struct slurm_cluster *out;

	place = place ? place : SLURM_USUAL_PLACE;
	pthread_mutex_lock(&slurm->lock);
	out = find_cluster(slurm, place);
	if (!out)
		out = add_cluster(slurm, place, err);
	pthread_mutex_unlock(&slurm->lock);
	return out;
}

/* A controller that is slow to answer is asked less often: of its time no more
 * than a fifth is for us. */
static bool is_fresh(const struct slurm_cluster *at, int64_t age_ms,
		     int64_t since_ms)
{
	int64_t least_ms = age_ms > NOW ? 4 * at->took_ms : 0;
	int64_t old_ms = time_monotonic_ms() - at->asked_ms;

	return at->mem && !at->why.code &&
	       time_now_ms() - old_ms - at->took_ms > since_ms &&
	       old_ms < (age_ms > least_ms ? age_ms : least_ms);
}

/* Whether it is too early to ask again one that has not answered. */
static bool is_away(const struct slurm_cluster *at, int64_t age_ms)
{
	int64_t rest_ms = 4 * at->took_ms;

	/* A login host is not held up by who does not reach it. */
	if (rest_ms < SLURM_QUEUE_AGE_MS || cluster_is_away(at->cluster))
		rest_ms = SLURM_QUEUE_AGE_MS;
	return at->why.code && age_ms > NOW &&
	       time_monotonic_ms() - at->asked_ms <
		       (rest_ms < AWAY_MS ? rest_ms : AWAY_MS);
}

/* Under the lock, so that many who want to know ask once. */
static int ask(struct slurm_cluster *at, int64_t age_ms, int64_t since_ms,
	       struct error *err)
{
	int64_t now_ms = time_monotonic_ms();
	struct arena *mem;

	if (is_away(at, age_ms)) {
		*err = at->why;
		return -1;
	}
	if (is_fresh(at, age_ms, since_ms))
		return 0;
	mem = arena_new();
	at->why.code = 0;
	if (queue_read(at->cluster, NULL, mem, &at->queue, err) < 0) {
		arena_free(mem);
		mem = NULL;
		at->why = *err;
	}
	arena_free(at->mem);
	at->mem = mem;
	at->asked_ms = time_monotonic_ms();
	at->took_ms = at->asked_ms - now_ms;
	return mem ? 0 : -1;
}

/* 1: it is not known by that number, or too many were asked for alone. */
static int ask_alone(struct slurm_cluster *at, const char *comment,
		     const char *id, struct arena *mem, struct queue_job *out,
		     struct error *err)
{
	int64_t now_ms = time_monotonic_ms();
	const struct queue_job *job;
	struct queue queue;

	if (now_ms - at->since_ms > MOMENT_MS) {
		at->since_ms = now_ms;
		at->singles = 0;
	}
	if (at->why.code || at->singles++ >= SINGLES_MAX)
		return 1;
	if (queue_read(at->cluster, id, mem, &queue, err) < 0) {
		at->why = *err;
		at->asked_ms = time_monotonic_ms();
		at->took_ms = at->asked_ms - now_ms;
		return -1;
	}
	job = queue_find(&queue, comment);
	if (!job)
		return 1;
	*out = *job;
	return 0;
}

/* What is in a queue goes with it. */
static void copy_job(const struct queue_job *job, struct arena *mem,
		     struct queue_job *out)
{
	*out = *job;
	out->id = arena_strdup(mem, job->id);
	out->comment = arena_strdup(mem, job->comment);
	out->state = arena_strdup(mem, job->state);
	out->reason = arena_strdup(mem, job->reason);
	out->nodes = arena_strdup(mem, job->nodes);
}

int slurm_look(struct slurm *slurm, struct slurm_cluster *at,
	       const char *comment, const char *id, int64_t age_ms,
	       int64_t since_ms, struct arena *mem, struct queue_job *out,
	       struct error *err)
{
	const struct queue_job *job = NULL;
	int ret = 1;

	pthread_mutex_lock(&slurm->lock);
	if (id && *id && !is_fresh(at, age_ms, since_ms))
		ret = ask_alone(at, comment, id, mem, out, err);
	if (ret == 1) {
		ret = ask(at, age_ms, since_ms, err);
		if (ret == 0)
			job = queue_find(&at->queue, comment);
		ret = ret < 0 ? -1 : job ? 0 : 1;
	}
	if (job)
		copy_job(job, mem, out);
	pthread_mutex_unlock(&slurm->lock);
	return ret;
}

int slurm_look_at_all(struct slurm *slurm, struct slurm_cluster *at,
		      const char *const *comments, size_t count,
		      int64_t since_ms, struct arena *mem,
		      struct queue_job *out, struct error *err)
{
	const struct queue_job *job;
	size_t i;
	int ret;

	pthread_mutex_lock(&slurm->lock);
	ret = ask(at, SLURM_QUEUE_AGE_MS, since_ms, err);
	for (i = 0; ret == 0 && i < count; i++) {
		job = queue_find(&at->queue, comments[i]);
		out[i] = (struct queue_job){ 0 };
		if (job)
			copy_job(job, mem, &out[i]);
	}
	pthread_mutex_unlock(&slurm->lock);
	return ret;
}

/* ---- reading ----------------------------------------------------------- */

/* A job's runs, and how the newest that was submitted stands. */
struct sight {
	struct slurm_cluster *at;
	struct slurm_runs runs;
	const struct slurm_run *run; /* NULL: there is none */
	struct queue_job job;
	bool known; /* Slurm knows it */
};

/* One that has begun or that Slurm knows was submitted; of the rest nobody
 * knows. */
static int see(struct slurm *slurm, const char *place, const char *job_id,
	       struct arena *mem, struct sight *out, struct error *err)
{
	size_t i;
	int ret;

	*out = (struct sight){ .at = slurm_at(slurm, place, err) };
	if (!out->at)
		return -1;
	if (runs_read(out->at->cluster, job_id, mem, &out->runs, err) < 0)
		return -1;
	for (i = out->runs.count; i-- > 0 && !out->run;) {
		const struct slurm_run *run = &out->runs.items[i];

		ret = slurm_look(slurm, out->at, run->comment, run->id,
				 i + 1 == out->runs.count ? NOW : 60000, 0, mem,
				 &out->job, err);
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

/* The state of a run by what its folder says, if Slurm has forgotten it; one
 * that has succeeded there may be cleaned up after for a while. */
static enum run_state state_of(const struct sight *sight)
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
	struct sight sight = { 0 };
	const char *place = NULL;
	struct error ignored;
	int ret = 0;

	if (want->job->file)
		place = slurm_place(want->job, mem);
	else if (slurm_recorded(slurm, want->name, mem, &record, err) == 0)
		place = record.place;
	ret = see(slurm, place, want->name, mem, &sight, err);
	if (ret == 0 && sight.run) {
		found->exists = true;
		found->properties = sight.run->properties
					    ? json_incref(sight.run->properties)
					    : json_object();
		found->run.state = state_of(&sight);
		found->run.attempt = sight.run->number;
		found->run.exit_code = -1;
		snprintf(found->run.digest.hex, sizeof(found->run.digest.hex),
			 "%s", sight.run->digest);
		/* Another machine may have started it. */
		if (slurm->env.store && want->job->file)
			slurm_record(slurm, want->job, sight.at, sight.run,
				     &ignored);
	}
	runs_done(&sight.runs);
	arena_free(mem);
	return ret;
}

/* ---- starting ---------------------------------------------------------- */

/* The run's place among those of its digest gives it its name. */
static void name_run(const struct sight *sight, const struct resource *want,
		     struct arena *mem, struct slurm_run *out)
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
		.set = job->set,
		.cleanup = job->jobrun.cleanup,
		.create_time_ms = time_now_ms(),
		.properties = want->properties,
	};
	out->comment = slurm_comment(job, out->name, mem);
}

/* The newest run that an earlier try has made, if it is of this job as it is
 * now; NULL: there is none. */
static const struct slurm_run *left_by_earlier(const struct sight *sight,
					       const struct resource *want)
{
	const struct slurm_run *last =
		sight->runs.count ? &sight->runs.items[sight->runs.count - 1]
				  : NULL;

	if (last && last->number > want->run.attempt &&
	    !strcmp(last->digest, want->job->digest.hex))
		return last;
	return NULL;
}

static int slurm_create(void *ctx, const struct resource *want,
			struct error *err)
{
	struct slurm *slurm = ctx;
	struct arena *mem = arena_new();
	const struct slurm_run *earlier;
	struct slurm_run run;
	struct slurm_job what;
	struct sight sight = { 0 };
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
	if (!earlier) {
		name_run(&sight, want, mem, &run);
		ret = slurm_submit(sight.at->cluster, want->job, &what, &run,
				   mem, err);
	} else {
		run = *earlier;
		ret = 0;
		if (earlier != sight.run)
			ret = slurm_submit_again(sight.at->cluster, &what, &run,
						 mem, err);
		else if (sight.known)
			run.id = sight.job.id;
	}
	if (ret == 0)
		ret = slurm_record(slurm, want->job, sight.at, &run, err);
out:
	runs_done(&sight.runs);
	arena_free(mem);
	return ret;
}

/* ---- following --------------------------------------------------------- */

/* What it waits for, or who does not answer; and that it goes on again. */
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

	/* 1: Slurm has started it again, which is another attempt. */
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

static int slurm_cancel(void *ctx, const struct resource *have, bool now,
			struct error *err)
{
	const char *argv[4] = { "scancel" };
	struct slurm *slurm = ctx;
	struct arena *mem = arena_new();
	struct slurm_cluster *at = NULL;
	struct command_answer answer;
	struct slurm_record record;
	struct queue_job job;
	size_t n = 1;
	int ret = slurm_recorded(slurm, have->name, mem, &record, err);

	if (ret == 0 && !run_state_is_final(record.run.state)) {
		at = slurm_at(slurm, record.place, err);
		ret = at ? slurm_look(slurm, at, record.comment, record.id, NOW,
				      0, mem, &job, err)
			 : -1;
	}
	if (ret == 0 && at && !run_state_is_final(queue_state(job.state))) {
		/* A job that waits gets no signals. */
		if (now && queue_state(job.state) == RUN_RUNNING)
			argv[n++] = "--signal=KILL";
		argv[n++] = job.id;
		ret = cluster_slurm(at->cluster, argv, &answer, err);
		if (ret == 0)
			command_answer_done(&answer);
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
	struct sight sight = { 0 };
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
				"it is still running: 'jobrun cancel %s' ends "
				"it",
				have->name);
	if (ret == 0)
		ret = slurm_forget(sight.at->cluster, have->name, NULL, err);
	if (ret == 0)
		ret = forget_records(slurm, have->name, err);
	runs_done(&sight.runs);
	arena_free(mem);
	return ret;
}

/* ---- listing ----------------------------------------------------------- */

static int list_at(struct slurm *slurm, const char *place, struct listing *out,
		   struct error *err)
{
	struct arena *mem = arena_new();
	struct slurm_cluster *at = slurm_at(slurm, place, err);
	struct slurm_runs runs = { 0 };
	int ret = at ? runs_read(at->cluster, NULL, mem, &runs, err) : -1;
	size_t i;

	for (i = 0; ret == 0 && i < runs.count; i++) {
		const struct slurm_run *run = &runs.items[i];
		struct queue_job job;
		int known;

		/* Only the newest of each job. */
		if (i + 1 < runs.count &&
		    !strcmp(run->job_id, runs.items[i + 1].job_id))
			continue;
		known = slurm_look(slurm, at, run->comment, run->id, 1000, 0,
				   mem, &job, err);
		if (known < 0) {
			ret = -1;
			break;
		}
		listing_add(out,
			    &(struct listed){
				    .kind = &slurm_kind_job,
				    .name = run->job_id,
				    .place = cluster_place(at->cluster),
				    .labels = { .job_id = run->job_id,
						.digest = run->digest,
						.set = run->set,
						.cleanup = run->cleanup },
				    .create_time_ms = run->create_time_ms,
				    .live = known == 0 && run->status != 0 &&
					    !run_state_is_final(
						    queue_state(job.state)),
				    .succeeded = run->status == 0,
			    });
	}
	runs_done(&runs);
	arena_free(mem);
	return ret;
}

/* Where this machine has started runs, each place once. */
static int remembered_places(struct slurm *slurm, struct arena *mem,
			     struct places *out, struct error *err)
{
	struct slurm_record record;
	struct run_list all;
	size_t i;
	int ret = store_run_list(slurm->env.store, false, mem, &all, err);

	for (i = 0; ret == 0 && i < all.count; i++) {
		if (strcmp(all.items[i].provider, provider_slurm.name) != 0)
			continue;
		ret = slurm_recorded(slurm, all.items[i].job_id, mem, &record,
				     err);
		if (ret == 0)
			places_add(out, mem, record.place);
		ret = ret < 0 ? -1 : 0;
	}
	return ret;
}

static int slurm_list(void *ctx, const char *place, struct listing *out,
		      struct error *err)
{
	struct slurm *slurm = ctx;
	struct places places = { 0 };
	struct arena *mem;
	size_t i;
	int ret;

	if (place)
		return list_at(slurm, place, out, err);
	mem = arena_new();
	places_add(&places, mem, SLURM_USUAL_PLACE);
	ret = remembered_places(slurm, mem, &places, err);
	for (i = 0; ret == 0 && i < places.count; i++)
		ret = list_at(slurm, places.items[i], out, err);
	places_done(&places);
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
	}
	pthread_mutex_destroy(&slurm->lock);
	free(slurm);
}

const struct provider provider_slurm = {
	.name = "slurm",
	.summary = "a Slurm cluster",
	.kinds = kinds,
	.block = &slurm_message,
	.asks = true,
	.desire = slurm_desire,
	.place = slurm_place,
	.open = slurm_open,
	.close = slurm_close,
};
