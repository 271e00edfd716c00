/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Updates many runs at once.  Only waiting runs can be thousands, and Slurm's
 * queue tells all about those: one call of squeue and one write are enough for
 * any number.  Runs that have begun are followed one by one.
 */
#include <stdlib.h>
#include <string.h>

#include "providers/slurm/slurm_internal.h"

/* The waiting runs at one cluster. */
struct many {
	struct slurm_cluster *at;
	size_t count;
	size_t *which; /* indexes in the list of all runs */
	const char **comments;
	int64_t since_ms; /* creation time of the newest one */
	struct queue_job *jobs;
};

static struct many *group_of(struct many *groups, size_t *count,
			     struct slurm_cluster *at, size_t room,
			     struct arena *mem)
{
	struct many *one;
	size_t i;

	for (i = 0; i < *count; i++)
		if (groups[i].at == at)
			return &groups[i];
	one = &groups[(*count)++];
	*one = (struct many){
		.at = at,
		.which = arena_alloc(mem, room * sizeof(*one->which)),
		.comments = arena_alloc(mem, room * sizeof(char *)),
	};
	return one;
}

/* Groups the runs that wait, as far as is known. */
static size_t group(struct slurm *slurm, struct run_record *const *runs,
		    size_t count, struct arena *mem, struct many *groups)
{
	struct slurm_record record;
	struct slurm_cluster *at;
	struct error ignored;
	struct many *one;
	size_t n = 0, i;

	for (i = 0; i < count; i++) {
		if (runs[i]->state != RUN_QUEUED ||
		    slurm_record_read(runs[i], mem, &record) != 0)
			continue;
		at = slurm_at(slurm, record.place, &ignored);
		if (!at)
			continue;
		one = group_of(groups, &n, at, count, mem);
		one->which[one->count] = i;
		one->comments[one->count++] = record.comment;
		if (runs[i]->create_time_ms > one->since_ms)
			one->since_ms = runs[i]->create_time_ms;
	}
	return n;
}

/* Returns whether the record has changed. */
static bool take_reason(struct run_record *run, const struct queue_job *job,
			struct arena *mem)
{
	const char *why = queue_explain(job, mem);

	if (!strcmp(why, run->error ? run->error : ""))
		return false;
	run->error = *why ? why : NULL;
	return true;
}

static void refresh_at(struct slurm *slurm, struct many *one,
		       struct run_record *const *runs, struct arena *mem,
		       bool *fresh)
{
	const struct run_record **changed =
		arena_alloc(mem, one->count * sizeof(struct run_record *));
	struct error ignored;
	size_t n = 0, i;

	one->jobs = arena_alloc(mem, one->count * sizeof(*one->jobs));
	if (slurm_look_at_all(slurm, one->at, one->comments, one->count,
			      one->since_ms, mem, one->jobs, &ignored) < 0)
		return;
	for (i = 0; i < one->count; i++) {
		struct run_record *run = runs[one->which[i]];
		const struct queue_job *job = &one->jobs[i];

		if (!job->id || queue_state(job->state) != RUN_QUEUED)
			continue;
		fresh[one->which[i]] = true;
		if (take_reason(run, job, mem))
			changed[n++] = run;
	}
	/* If the store can't be written, the new state is still shown. */
	if (n)
		store_run_put_all(slurm->env.store, changed, n, &ignored);
}

void slurm_refresh(void *ctx, struct run_record *const *runs, size_t count,
		   struct arena *mem, bool *fresh)
{
	struct many groups[SLURM_CLUSTERS];
	struct slurm *slurm = ctx;
	size_t n = group(slurm, runs, count, mem, groups);
	size_t i;

	for (i = 0; i < n; i++)
		refresh_at(slurm, &groups[i], runs, mem, fresh);
}
