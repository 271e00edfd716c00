/* SPDX-License-Identifier: Apache-2.0 */
/* When a cluster's accounting is queried, and for which jobs. */
#include <string.h>

#include "core/base/clock.h"
#include "providers/slurm/slurm_internal.h"
#include "providers/slurm/slurm.h"

/* With more names than this, listing all jobs takes no longer. */
#define NAMES_MAX 200

/* Lists the runs at the cluster that have not ended as far as is known here,
 * and this one; `since_ms` is set to when the first of them was created. */
static int list_names(struct slurm *slurm, const struct slurm_cluster *at,
		      const struct slurm_record *record, struct arena *mem,
		      struct strings *out, int64_t *since_ms, struct error *err)
{
	struct slurm_record other;
	struct run_list all;
	size_t i;

	if (store_run_list_open(slurm->env.store, provider_slurm.name, mem,
				&all, err) < 0)
		return -1;
	out->items = arena_alloc(mem, (all.count + 1) * sizeof(char *));
	out->items[0] = record->run.job_id;
	out->count = 1;
	*since_ms = record->run.create_time_ms;
	for (i = 0; i < all.count; i++) {
		const struct run_record *run = &all.items[i];

		if (!strcmp(run->job_id, record->run.job_id) ||
		    slurm_record_read(run, mem, &other) != 0 ||
		    strcmp(other.place, cluster_place(at->cluster)) != 0)
			continue;
		out->items[out->count++] = run->job_id;
		if (run->create_time_ms < *since_ms)
			*since_ms = run->create_time_ms;
	}
	if (out->count > NAMES_MAX)
		out->count = 0;
	return 0;
}

/* Queries the accounting; the lock is held, so that concurrent callers ask
 * once. */
static bool ask(struct slurm *slurm, struct slurm_cluster *at,
		const struct slurm_record *record, int64_t since_ms)
{
	struct arena *mem = arena_new();
	int64_t now_ms = time_now_ms();
	struct accounts accounts;
	struct strings names;
	struct error err;

	if (at->unaccounted ||
	    (at->accounts_mem && at->accounted_ms > since_ms &&
	     now_ms - at->accounted_ms < SLURM_QUEUE_AGE_MS))
		goto out;
	if (list_names(slurm, at, record, mem, &names, &since_ms, &err) < 0 ||
	    accounts_read(at->cluster, &names, since_ms, mem, &accounts, &err) <
		    0) {
		/* Accounting that does not answer may return; accounting that
		 * does not exist will not. */
		at->unaccounted = err.code != ERROR_UNREACHABLE;
		arena_free(mem);
		return false;
	}
	arena_free(at->accounts_mem);
	at->accounts_mem = mem;
	at->accounts = accounts;
	at->accounted_ms = now_ms;
	return true;
out:
	arena_free(mem);
	return !at->unaccounted;
}

/* Returns when the first attempt of the run was created. */
static int64_t submit_time(struct slurm *slurm,
			   const struct slurm_record *record, struct arena *mem)
{
	const struct run_record *run = &record->run;
	struct run_record first;
	struct error ignored;

	if (run->attempt != run->origin &&
	    store_run_get(slurm->env.store, run->job_id, run->origin, mem,
			  &first, &ignored) == 0)
		return first.create_time_ms;
	return run->create_time_ms;
}

bool slurm_account(struct slurm *slurm, struct slurm_cluster *at,
		   const struct slurm_record *record, int64_t since_ms,
		   struct arena *mem, struct queue_job *out,
		   struct usage *usage)
{
	struct arena *scratch = arena_new();
	const struct account_key key = {
		.name = record->run.job_id,
		.id = record->id,
		.comment = record->comment,
		.since_ms = submit_time(slurm, record, scratch),
	};
	struct queue_job job;
	bool known = false;

	pthread_mutex_lock(&slurm->lock);
	if (ask(slurm, at, record, since_ms) &&
	    accounts_find(&at->accounts, &key, scratch, &job, usage)) {
		known = true;
		queue_job_copy(&job, mem, out);
	}
	pthread_mutex_unlock(&slurm->lock);
	arena_free(scratch);
	return known;
}
