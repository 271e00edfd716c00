/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/prune.h"

#include <stdlib.h>
#include <string.h>

#define REASON "gone from the files"

struct finder {
	const struct prune_scope *scope;
	struct prune *out;
	struct member_list members; /* of all sets */
	const char **ids;           /* ids of the jobs in the files, sorted */
	size_t room;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has_file(const struct finder *finder, const char *job_id)
{
	return bsearch(&job_id, finder->ids, finder->scope->job_count,
		       sizeof(job_id), by_text);
}

static const struct provider *find_provider(const struct prune_scope *scope,
					    const char *name)
{
	size_t i;

	for (i = 0; scope->providers[i]; i++)
		if (!strcmp(scope->providers[i]->name, name))
			return scope->providers[i];
	return NULL;
}

/* ---- which places to look at ----------------------------------------- */

static bool is_used(const struct finder *finder,
		    const struct provider *provider)
{
	const struct prune_scope *scope = finder->scope;
	size_t i;

	for (i = 0; i < scope->job_count; i++)
		if (!strcmp(scope->jobs[i]->jobrun.provider, provider->name))
			return true;
	for (i = 0; i < finder->members.count; i++)
		if (!strcmp(finder->members.items[i].set, scope->set) &&
		    !strcmp(finder->members.items[i].provider, provider->name))
			return true;
	return false;
}

/* Lists all places of the jobs that exist, and of the former members. */
static int list_all(const struct finder *finder,
		    const struct provider *provider, struct listing *out,
		    struct error *err)
{
	const struct prune_scope *scope = finder->scope;
	struct arena *mem = finder->out->mem;
	struct places places = { 0 };
	size_t i;
	void *ctx;
	int ret;

	ctx = scope->context(scope->arg, provider, err);
	if (!ctx)
		return -1;
	for (i = 0; i < finder->members.count; i++) {
		const struct task_file_path *one = &finder->members.items[i];

		if (one->place && !strcmp(one->set, scope->set) &&
		    !strcmp(one->provider, provider->name))
			places_add(&places, mem, one->place);
	}
	for (i = 0; i < scope->job_count; i++)
		places_add_job(&places, mem, provider, scope->boundary,
			       scope->jobs[i]);
	provider_list(provider, ctx, &places, out);
	/* Only a complete listing shows that a job is gone. */
	ret = listing_check(out, err);
	places_done(&places);
	return ret;
}

/* ---- which jobs are gone --------------------------------------------- */

/* Returns another set with the same job and provider, or NULL. */
static const char *other_set(const struct finder *finder, const char *job_id,
			     const char *provider)
{
	size_t i;

	for (i = 0; i < finder->members.count; i++) {
		const struct task_file_path *one = &finder->members.items[i];

		if (!strcmp(one->job_id, job_id) &&
		    !strcmp(one->provider, provider) &&
		    strcmp(one->set, finder->scope->set) != 0)
			return one->set;
	}
	return NULL;
}

static struct gone *add_gone(struct finder *finder, const char *job_id,
			     const struct provider *provider)
{
	struct prune *out = finder->out;
	struct gone *gone;
	size_t i;

	for (i = 0; i < out->count; i++)
		if (out->items[i].provider == provider &&
		    !strcmp(out->items[i].job_id, job_id))
			return &out->items[i];
	if (out->count == finder->room) {
		finder->room = finder->room ? 2 * finder->room : 16;
		out->items =
			mem_grow(out->items, finder->room, sizeof(*out->items));
	}
	gone = &out->items[out->count++];
	*gone = (struct gone){ .job_id = arena_strdup(out->mem, job_id),
			       .provider = provider,
			       .also_in = other_set(finder, job_id,
						    provider->name) };
	return gone;
}

static int add_members(struct finder *finder, struct error *err)
{
	size_t i;

	for (i = 0; i < finder->members.count; i++) {
		const struct task_file_path *one = &finder->members.items[i];
		const struct provider *provider;

		if (strcmp(one->set, finder->scope->set) != 0 ||
		    has_file(finder, one->job_id))
			continue;
		provider = find_provider(finder->scope, one->provider);
		if (!provider)
			return error_set(err, ERROR_FAILED,
					 "job '%s' was applied to provider "
					 "'%s', which this jobrun does not "
					 "have",
					 one->job_id, one->provider);
		add_gone(finder, one->job_id, provider)->file = one->file;
	}
	return 0;
}

static int add_labelled(struct finder *finder, const struct provider *provider,
			struct error *err)
{
	const char *set = finder->scope->set;
	struct listing all;
	size_t i;
	int ret;

	listing_init(&all);
	ret = list_all(finder, provider, &all, err);
	for (i = 0; ret == 0 && i < all.count; i++) {
		const struct labels *labels = &all.items[i].labels;

		if (labels_are_of_set(labels, set) &&
		    !has_file(finder, labels->job_id))
			add_gone(finder, labels->job_id, provider);
	}
	listing_done(&all);
	return ret;
}

static int by_job(const void *a, const void *b)
{
	const struct gone *one = a, *other = b;
	int order = strcmp(one->job_id, other->job_id);

	return order ? order
		     : strcmp(one->provider->name, other->provider->name);
}

static int finder_init(struct finder *finder, const struct prune_scope *scope,
		       struct prune *out, struct error *err)
{
	size_t i;

	*finder = (struct finder){ .scope = scope, .out = out };
	finder->ids = mem_alloc((scope->job_count + 1) * sizeof(*finder->ids));
	for (i = 0; i < scope->job_count; i++)
		finder->ids[i] = scope->jobs[i]->job_id;
	if (scope->job_count)
		qsort(finder->ids, scope->job_count, sizeof(*finder->ids),
		      by_text);
	return store_member_list(scope->store, NULL, out->mem, &finder->members,
				 err);
}

int prune_find(const struct prune_scope *scope, struct prune *out,
	       struct error *err)
{
	struct finder finder;
	size_t i;
	int ret;

	*out = (struct prune){ .mem = arena_new() };
	ret = finder_init(&finder, scope, out, err);
	if (ret == 0)
		ret = add_members(&finder, err);
	/* Providers that cost nothing are always asked: the store may be lost,
	 * and the last file of a provider may be gone. */
	for (i = 0; ret == 0 && scope->providers[i]; i++)
		if (scope->providers[i]->open &&
		    (!scope->providers[i]->asks ||
		     is_used(&finder, scope->providers[i])))
			ret = add_labelled(&finder, scope->providers[i], err);
	if (ret == 0 && out->count)
		qsort(out->items, out->count, sizeof(*out->items), by_job);
	free(finder.ids);
	return ret;
}

void prune_done(struct prune *prune)
{
	size_t i;

	for (i = 0; i < prune->count; i++)
		remains_done(&prune->items[i].remains);
	free(prune->items);
	if (prune->mem)
		arena_free(prune->mem);
	*prune = (struct prune){ 0 };
}

/* ---- planning -------------------------------------------------------- */

/* Returns the name of another set if a label of the job's resources has it
 * now. */
static const char *other_label(const struct listing *all,
			       const struct gone *gone, const char *set)
{
	size_t i;

	for (i = 0; i < all->count; i++) {
		const struct labels *labels = &all->items[i].labels;

		if (labels_are_of_a_set(labels) &&
		    !labels_are_of_set(labels, set) &&
		    !strcmp(labels->job_id, gone->job_id))
			return labels->set ? labels->set : labels->set_digest;
	}
	return NULL;
}

static int plan_one(struct gone *gone, const struct listing *all,
		    const struct finder *finder, struct plan *plan,
		    struct error *err)
{
	const struct prune_scope *scope = finder->scope;
	const char *other = other_label(all, gone, scope->set);
	const struct resource *run;
	const char *held;
	void *ctx;

	/* Another apply may have taken the job over since it was found. */
	gone->also_in = other_set(finder, gone->job_id, gone->provider->name);
	if (!gone->also_in && other)
		gone->also_in = arena_strdup(finder->out->mem, other);
	if (gone->also_in)
		return 0;
	ctx = scope->context(scope->arg, gone->provider, err);
	if (!ctx || remains_read(gone->provider, ctx, all, gone->job_id,
				 &gone->remains, err) < 0)
		return -1;
	run = remains_live_run(&gone->remains);
	if (run && !scope->take_over &&
	    plan_check_origin(gone->job_id, &run->run, gone->origin, err) < 0)
		return -1;
	held = remains_leave_held(&gone->remains);
	if (held)
		return error_set(err, ERROR_TRY_AGAIN, "job '%s': %s",
				 gone->job_id, held);
	if (!remains_are_none(&gone->remains))
		remains_plan(&gone->remains, REASON, plan);
	return 0;
}

int prune_plan(struct prune *prune, const struct prune_scope *scope,
	       struct plan *plan, struct error *err)
{
	const struct provider *provider;
	struct finder finder;
	size_t i, j;
	int ret;

	ret = finder_init(&finder, scope, prune, err);
	for (i = 0; ret == 0 && (provider = scope->providers[i]); i++) {
		struct listing all = { 0 };

		for (j = 0; ret == 0 && j < prune->count; j++) {
			struct gone *gone = &prune->items[j];

			if (gone->provider != provider)
				continue;
			if (!all.mem) {
				listing_init(&all);
				ret = list_all(&finder, provider, &all, err);
			}
			if (ret == 0)
				ret = plan_one(gone, &all, &finder, plan, err);
		}
		listing_done(&all);
	}
	free(finder.ids);
	return ret;
}

/* Closes the intents that a killed command left for the job. */
static int end_intents(const struct gone *gone, struct store *store,
		       struct error *err)
{
	struct arena *mem = arena_new();
	struct intent_list open;
	size_t i;
	int ret = store_intent_list(store, mem, &open, err);

	for (i = 0; ret == 0 && i < open.count; i++) {
		const struct intent_record *one = &open.items[i];

		if (!strcmp(one->job_id, gone->job_id) &&
		    !strcmp(one->provider, gone->provider->name))
			ret = store_intent_end(store, one, INTENT_DONE, NULL,
					       err);
	}
	arena_free(mem);
	return ret;
}

int prune_forget(const struct gone *gone, const struct prune_scope *scope,
		 struct error *err)
{
	if (!gone->also_in && end_intents(gone, scope->store, err) < 0)
		return -1;
	return store_member_drop(scope->store, scope->set, gone->job_id,
				 gone->provider->name, err);
}
