/* SPDX-License-Identifier: Apache-2.0 */
/* Lists everything that jobrun made at the clusters, from any machine, for gc,
 * --prune and delete, which have no job file. */
#include <string.h>

#include "core/provider/listing.h"
#include "providers/slurm/slurm_internal.h"
#include "providers/slurm/slurm.h"

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

		/* List only the newest run of each job. */
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
						.origin = run->origin,
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

/* Lists the places where this machine has started runs, each once. */
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

int slurm_list(void *ctx, const char *place, struct listing *out,
	       struct error *err)
{
	struct slurm *slurm = ctx;
	struct places places = { 0 };
	struct arena *mem;
	struct error why;
	size_t i;
	int ret;

	if (place)
		return list_at(slurm, place, out, err);
	mem = arena_new();
	places_add(&places, mem, SLURM_USUAL_PLACE);
	ret = remembered_places(slurm, mem, &places, err);
	for (i = 0; ret == 0 && i < places.count; i++)
		if (list_at(slurm, places.items[i], out, &why) < 0)
			listing_add_unreached(out, places.items[i], &why);
	places_done(&places);
	arena_free(mem);
	return ret;
}
