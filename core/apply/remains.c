/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/remains.h"

#include <stdio.h>
#include <string.h>

static struct job *stand_in(const char *job_id, const char *provider)
{
	struct arena *mem = arena_new();
	struct job *job = arena_alloc(mem, sizeof(*job));

	job->mem = mem;
	job->job_id = arena_strdup(mem, job_id);
	job->jobrun.provider = provider;
	return job;
}

/* Notes for the reader of the plan where the resources are, each place once. */
static void note_where(struct resources *all, const char *where)
{
	const char *note = arena_printf(all->mem, "in %s", where);
	size_t i;

	for (i = 0; i < all->note_count; i++)
		if (!strcmp(all->notes[i], note))
			return;
	resources_note(all, "%s", note);
}

/* Adds a resource; those of earlier kinds are deleted after it. */
static void add(struct remains *remains, const struct listed *one)
{
	struct resources *all = remains->desired;
	struct resource *resource =
		resources_add(all, one->kind, one->name, remains->job);
	size_t i;

	if (one->place)
		resource->place = arena_strdup(all->mem, one->place);
	if (one->where)
		note_where(all, one->where);
	for (i = 0; i < resource->index; i++)
		if (all->items[i]->kind != one->kind)
			resource_needs(all, resource, all->items[i]);
	if (one->labels.digest)
		snprintf(remains->job->digest.hex,
			 sizeof(remains->job->digest.hex), "%s",
			 one->labels.digest);
}

int remains_read(const struct provider *provider, void *ctx,
		 const struct listing *all, const char *job_id,
		 struct remains *out, struct error *err)
{
	size_t i;

	*out = (struct remains){ .provider = provider,
				 .job = stand_in(job_id, provider->name),
				 .desired = resources_new() };
	for (i = 0; i < all->count; i++)
		if (!strcmp(all->items[i].labels.job_id, job_id))
			add(out, &all->items[i]);
	out->observed = resources_read(out->desired, ctx, err);
	return out->observed ? 0 : error_prefix(err, "job '%s'", job_id);
}

void remains_done(struct remains *remains)
{
	resources_forget(remains->observed,
			 remains->desired ? remains->desired->count : 0);
	resources_free(remains->desired);
	job_free(remains->job);
	*remains = (struct remains){ 0 };
}

bool remains_are_none(const struct remains *remains)
{
	size_t i;

	for (i = 0; i < remains->desired->count; i++)
		if (remains->observed[i].exists)
			return false;
	return true;
}

const struct resource *remains_live_run(const struct remains *remains)
{
	size_t i;

	for (i = 0; i < remains->desired->count; i++) {
		const struct resource *one = &remains->observed[i];

		if (one->exists && (one->kind->flags & KIND_RUN) &&
		    !run_state_is_final(one->run.state))
			return one;
	}
	return NULL;
}

const char *remains_leave_held(struct remains *remains)
{
	const char *out = NULL;
	size_t i;

	for (i = 0; i < remains->desired->count && !out; i++)
		if (remains->observed[i].exists)
			out = resource_held_why(&remains->observed[i]);
	for (i = 0; out && i < remains->desired->count; i++)
		if (!(remains->observed[i].kind->flags & KIND_RUN))
			remains->observed[i].exists = false;
	return out;
}

void remains_plan(const struct remains *remains, const char *reason,
		  struct plan *plan)
{
	plan_add_delete(plan, remains->provider, remains->job, remains->desired,
			remains->observed, reason);
}
