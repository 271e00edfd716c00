/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clusters in use, and their queues: how often they are asked, and how long
 * an answer, or none, stays valid.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "providers/slurm/slurm_internal.h"

/* The longest time that a cluster is left alone after it took long without
 * answering. */
#define AWAY_MS 10000
/* A single job is asked for often, as that is cheap; many one by one are
 * not. */
#define MOMENT_MS 900
#define SINGLES_MAX 2

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
	known = path_join(store_folder(slurm->env.store), LOGIN_HOSTS);
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

/* Whether the queue is fresh enough.  A slow controller is asked less often, so
 * that we use at most a fifth of its time. */
static bool is_fresh(const struct slurm_cluster *at, int64_t age_ms,
		     int64_t since_ms)
{
	int64_t least_ms = age_ms > SLURM_NOW ? 4 * at->took_ms : 0;
	int64_t old_ms = time_monotonic_ms() - at->asked_ms;

	return at->mem && !at->why.code &&
	       time_now_ms() - old_ms - at->took_ms > since_ms &&
	       old_ms < (age_ms > least_ms ? age_ms : least_ms);
}

/* Whether it is too early to ask a cluster again that has not answered. */
static bool is_away(const struct slurm_cluster *at, int64_t age_ms)
{
	int64_t rest_ms = 4 * at->took_ms;

	/* An unreachable host does not suffer from being asked more often. */
	if (rest_ms < SLURM_QUEUE_AGE_MS || cluster_is_away(at->cluster))
		rest_ms = SLURM_QUEUE_AGE_MS;
	return at->why.code && age_ms > SLURM_NOW &&
	       time_monotonic_ms() - at->asked_ms <
		       (rest_ms < AWAY_MS ? rest_ms : AWAY_MS);
}

/* Reads the queue; the lock is held, so that concurrent callers ask once. */
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

/* Asks for one job; returns 1 if its number is unknown, or too many single jobs
 * were asked for. */
static int ask_alone(struct slurm_cluster *at, const char *comment,
		     const char *id, struct arena *mem, struct queue_job *out,
		     struct error *err)
{
	int64_t now_ms = time_monotonic_ms();
	const struct queue_job *job;
	struct slurm_queue queue;

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
		queue_job_copy(job, mem, out);
	pthread_mutex_unlock(&slurm->lock);
	return ret;
}

int slurm_look_surely(struct slurm *slurm, struct slurm_cluster *at,
		      const char *comment, const char *id, struct arena *mem,
		      struct queue_job *out, struct error *err)
{
	int ret =
		slurm_look(slurm, at, comment, id, SLURM_NOW, 0, mem, out, err);

	if (ret == 1 && id && *id &&
	    queue_confirm_end(at->cluster, id, comment, err) < 0)
		ret = -1;
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
			queue_job_copy(job, mem, &out[i]);
	}
	pthread_mutex_unlock(&slurm->lock);
	return ret;
}
