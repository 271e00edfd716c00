/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds, and on request deletes, what nobody needs any more: resources by their
 * labels (core/apply/orphans.h), what providers left behind, and members of
 * sets of which nothing exists.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/gc_find.h"
#include "cmd/jobrun/ui/load.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/ui/undo.h"
#include "cmd/jobrun/view/rows.h"
#include "core/apply/orphans.h"
#include "core/apply/remains.h"
#include "core/base/clock.h"
#include "providers/registry.h"

/* Younger resources may be machines of a run that another machine is about to
 * start. */
#define YOUNG_S 3600

struct gc_opts {
	const char *provider;
	const char *format;
	const char *output;
	bool yes;
	bool lost_runs;
	long older_than;
};

static const struct opt options[] = {
	{ 0, "provider", OPT_STRING, offsetof(struct gc_opts, provider), "NAME",
	  "look only at this provider" },
	{ 0, "older-than", OPT_DURATION, offsetof(struct gc_opts, older_than),
	  "DURATION", "keep newer things that have no run yet (1h)" },
	{ 0, "lost-runs", OPT_FLAG, offsetof(struct gc_opts, lost_runs), NULL,
	  "also logs and models of runs no longer recorded" },
	{ 'y', "yes", OPT_FLAG, offsetof(struct gc_opts, yes), NULL,
	  "delete without asking" },
	{ 0, "format", OPT_CHOICE, offsetof(struct gc_opts, format),
	  "text|json", "the output format; text is the default" },
	{ 'o', "output", OPT_STRING, offsetof(struct gc_opts, output), "FORM",
	  ROWS_FORMATS },
	{ 0 },
};

/* The findings at one provider. */
struct site {
	const struct provider *provider;
	struct listing all;
	struct orphans orphans;
	struct leftovers leftovers;
};

struct gc {
	struct session *session;
	const struct gc_opts *opts;
	const struct jobs *jobs; /* also say where to look */
	struct arena *mem;
	struct member_list members;
	struct intent_list open; /* begun here and not ended */
	struct site sites[SESSION_PROVIDERS];
	size_t site_count;
	struct find *finds;
	size_t count, room;
	size_t kept; /* leftovers with work in them that stay */
	bool quiet;  /* failures were reported before */
	int status;
};

/* ---- finding --------------------------------------------------------- */

/* Reports a failure.  The first one decides the exit status, and the work goes
 * on. */
static void fail(struct gc *gc, const struct error *err)
{
	if (!gc->quiet)
		app_fail(gc->session->app, err);
	gc->status = gc->status ? gc->status : error_status(err);
}

static void add(struct gc *gc, const struct find *find)
{
	if (gc->count == gc->room) {
		gc->room = gc->room ? 2 * gc->room : 16;
		gc->finds = mem_grow(gc->finds, gc->room, sizeof(*gc->finds));
	}
	gc->finds[gc->count++] = *find;
}

/* Whether another jobrun works on the job. */
static bool is_worked_on(const struct gc *gc, const char *job_id)
{
	return !lock_set_has(gc->session->locks, job_id) &&
	       session_is_locked(gc->session, job_id);
}

static bool exists(const struct site *site, const char *job_id)
{
	size_t i;

	for (i = 0; i < site->all.count; i++)
		if (!strcmp(site->all.items[i].labels.job_id, job_id))
			return true;
	return false;
}

static void add_members(struct gc *gc, const struct site *site)
{
	size_t i;

	for (i = 0; i < gc->members.count; i++) {
		const struct task_file_path *one = &gc->members.items[i];

		if (!strcmp(one->provider, site->provider->name) &&
		    !exists(site, one->job_id) &&
		    !listing_lacks(&site->all, one->place) &&
		    !is_worked_on(gc, one->job_id))
			add(gc,
			    &(struct find){ .provider = site->provider,
					    .member = one,
					    .why = "nothing of it exists" });
	}
}

static void add_finds(struct gc *gc, const struct site *site)
{
	size_t i;

	for (i = 0; i < site->orphans.count; i++) {
		const struct orphan *one = &site->orphans.items[i];

		if (!is_worked_on(gc, one->it->labels.job_id))
			add(gc, &(struct find){ .provider = site->provider,
						.resource = one->it,
						.why = one->why });
	}
	for (i = 0; i < site->leftovers.count; i++) {
		const struct leftover *one = &site->leftovers.items[i];

		if (one->has_work && !gc->opts->lost_runs)
			gc->kept++;
		else if (!one->job_id || !is_worked_on(gc, one->job_id))
			add(gc, &(struct find){ .provider = site->provider,
						.leftover = one,
						.why = one->why });
	}
	add_members(gc, site);
}

static void list_site(struct gc *gc, struct site *site, void *ctx)
{
	const struct provider *provider = site->provider;
	struct places places = { 0 };
	size_t i;

	for (i = 0; i < gc->members.count; i++) {
		const struct task_file_path *one = &gc->members.items[i];

		if (one->place && !strcmp(one->provider, provider->name))
			places_add(&places, gc->mem, one->place);
	}
	for (i = 0; i < gc->jobs->count; i++)
		places_add_job(&places, gc->mem, provider, NULL,
			       gc->jobs->items[i]);
	provider_list(provider, ctx, &places, &site->all);
	for (i = 0; i < site->all.unreached_count; i++)
		fail(gc, &site->all.unreached[i].why);
	places_done(&places);
}

static int search_site(struct gc *gc, const struct provider *provider,
		       struct error *err)
{
	void *ctx = session_context(gc->session, provider, err);
	struct site *site = &gc->sites[gc->site_count];
	long asked_s = gc->opts->older_than;
	struct orphan_rules rules = {
		.now_ms = time_now_ms(),
		.young_ms = asked_s * INT64_C(1000),
		.age_is_asked = asked_s >= 0,
		.young_killed_ms = asked_s < 0 ? 0 : asked_s * INT64_C(1000),
		.provider = provider->name,
		.open = &gc->open,
	};

	if (!ctx)
		return -1;
	gc->site_count++;
	site->provider = provider;
	listing_init(&site->all);
	site->leftovers.mem = arena_new();
	list_site(gc, site, ctx);
	if (provider->leftovers &&
	    provider->leftovers(ctx, &site->leftovers, err) < 0)
		return -1;
	/* If nobody else can see what we create, our locks are enough. */
	if (asked_s < 0)
		rules.young_ms = provider->asks ? YOUNG_S * 1000 : 0;
	orphans_find(&site->all, &rules, &site->orphans);
	add_finds(gc, site);
	return 0;
}

static void forget_finds(struct gc *gc)
{
	size_t i;

	for (i = 0; i < gc->site_count; i++) {
		orphans_done(&gc->sites[i].orphans);
		listing_done(&gc->sites[i].all);
		arena_free(gc->sites[i].leftovers.mem);
		free(gc->sites[i].leftovers.items);
		gc->sites[i] = (struct site){ 0 };
	}
	gc->site_count = 0;
	gc->count = 0;
	gc->kept = 0;
}

/* Searches everything again.  A provider that can't be reached does not keep
 * the others from being searched. */
static void search(struct gc *gc)
{
	const char *only = gc->opts->provider;
	struct error err;
	size_t i;

	forget_finds(gc);
	if (store_member_list(gc->session->env.store, NULL, gc->mem,
			      &gc->members, &err) < 0 ||
	    store_intent_list(gc->session->env.store, gc->mem, &gc->open,
			      &err) < 0) {
		fail(gc, &err);
		return;
	}
	for (i = 0; providers[i]; i++) {
		if (only ? strcmp(only, providers[i]->name) != 0
			 : !providers[i]->open)
			continue;
		if (search_site(gc, providers[i], &err) < 0)
			fail(gc, &err);
	}
}

/* ---- deleting -------------------------------------------------------- */

static void on_deleted(void *arg, const struct resource *gone)
{
	struct gc *gc = arg;
	size_t i;

	for (i = 0; i < gc->count; i++) {
		const struct listed *it = gc->finds[i].resource;

		if (it && it->kind == gone->kind &&
		    !strcmp(it->name, gone->name) &&
		    !strcmp(it->labels.job_id, gone->job->job_id))
			gc->finds[i].deleted = true;
	}
}

static bool is_locked(const struct gc *gc, const struct find *find)
{
	const char *job_id = find_job(find);

	return !job_id || lock_set_has(gc->session->locks, job_id);
}

/* Whether another resource of the same job and provider comes before this one,
 * with which it is deleted. */
static bool was_before(const struct gc *gc, size_t at)
{
	const struct find *find = &gc->finds[at];
	size_t i;

	for (i = 0; i < at; i++)
		if (gc->finds[i].resource &&
		    gc->finds[i].provider == find->provider &&
		    !strcmp(find_job(&gc->finds[i]), find_job(find)))
			return true;
	return false;
}

/* Plans to delete the findings of one job; its other resources stay. */
static int plan_resources(struct gc *gc, const struct find *first,
			  struct remains *remains, struct plan *plan,
			  struct error *err)
{
	void *ctx = session_context(gc->session, first->provider, err);
	struct listing mine;
	size_t i;
	int ret = -1;

	listing_init(&mine);
	for (i = 0; i < gc->count; i++)
		if (gc->finds[i].resource &&
		    gc->finds[i].provider == first->provider &&
		    !strcmp(find_job(&gc->finds[i]), find_job(first)))
			listing_add(&mine, gc->finds[i].resource);
	if (ctx)
		ret = remains_read(first->provider, ctx, &mine, find_job(first),
				   remains, err);
	if (ret == 0)
		remains_plan(remains, "no longer needed", plan);
	listing_done(&mine);
	return ret;
}

static void delete_resources(struct gc *gc)
{
	struct remains *remains = mem_alloc((gc->count + 1) * sizeof(*remains));
	struct plan *plan = plan_new();
	struct error err;
	size_t i;

	for (i = 0; i < gc->count; i++) {
		const struct find *find = &gc->finds[i];

		if (find->resource && is_locked(gc, find) &&
		    !was_before(gc, i) &&
		    plan_resources(gc, find, &remains[i], plan, &err) < 0)
			fail(gc, &err);
	}
	if (undo_execute(gc->session, plan, on_deleted, gc, &err) < 0)
		gc->status = gc->status ? gc->status : error_status(&err);
	plan_free(plan);
	for (i = 0; i < gc->count; i++)
		remains_done(&remains[i]);
	free(remains);
}

static void delete_one(struct gc *gc, struct find *find)
{
	struct store *store = gc->session->env.store;
	struct error err;
	void *ctx;
	int ret;

	if (find->member) {
		ret = store_member_drop(store, find->member->set,
					find->member->job_id,
					find->provider->name, &err);
	} else {
		ctx = session_context(gc->session, find->provider, &err);
		ret = ctx ? find->provider->sweep(ctx, find->leftover, &err)
			  : -1;
	}
	if (ret < 0) {
		error_prefix(&err, "%s '%s'", find_kind(find), find_name(find));
		fail(gc, &err);
	}
	find->deleted = ret == 0;
}

/* Whether everything that the job had there was found and is gone now. */
static bool is_cleared(const struct gc *gc, const struct intent_record *intent)
{
	bool any = false;
	size_t i;

	for (i = 0; i < gc->count; i++) {
		const struct find *find = &gc->finds[i];

		if (!find->resource ||
		    strcmp(find->provider->name, intent->provider) != 0 ||
		    strcmp(find_job(find), intent->job_id) != 0)
			continue;
		if (!find->deleted)
			return false;
		any = true;
	}
	return any;
}

/* Closes the intents of killed commands for these jobs: the resource was
 * deleted, or the search with the job's lock did not find it. */
static void close_intents(struct gc *gc)
{
	struct error err;
	size_t i;

	for (i = 0; i < gc->open.count; i++)
		if (is_cleared(gc, &gc->open.items[i]) &&
		    store_intent_end(gc->session->env.store, &gc->open.items[i],
				     INTENT_DONE, NULL, &err) < 0)
			fail(gc, &err);
}

/* Deletes with the jobs' locks: jobs that somebody works on stay, and only what
 * a search with the locks finds is deleted. */
static void delete_all(struct gc *gc)
{
	const char **ids = mem_alloc((gc->count + 1) * sizeof(*ids));
	struct error err;
	size_t i, n = 0;

	for (i = 0; i < gc->count; i++)
		if (find_job(&gc->finds[i]))
			ids[n++] = find_job(&gc->finds[i]);
	if (session_lock_free(gc->session, ids, n, &err) < 0) {
		fail(gc, &err);
		goto out;
	}
	gc->quiet = true;
	search(gc);
	gc->quiet = false;
	delete_resources(gc);
	close_intents(gc);
	for (i = 0; i < gc->count; i++)
		if (!gc->finds[i].resource && is_locked(gc, &gc->finds[i]))
			delete_one(gc, &gc->finds[i]);
out:
	free(ids);
}

/* ---- all of it ------------------------------------------------------- */

/* Returns 1 for yes, 0 if findings are only shown, -1 if the answer was no. */
static int is_wanted(const struct gc *gc)
{
	if (!gc->count)
		return 0;
	if (gc->opts->yes)
		return 1;
	if (!isatty(STDIN_FILENO) || !gc->session->app->err_terminal)
		return 0;
	return app_confirm(gc->session->app, "Delete all of this?") ? 1 : -1;
}

static void say_result(const struct gc *gc, int wanted)
{
	struct app *app = gc->session->app;
	size_t i, deleted = 0;

	for (i = 0; i < gc->count; i++)
		deleted += gc->finds[i].deleted;
	if (wanted > 0)
		app_say(app, "%zu deleted, %zu left", deleted,
			gc->count - deleted);
	else if (gc->count)
		app_say(app, "nothing deleted%s",
			wanted < 0 ? "" : "; pass --yes to delete it");
	if (gc->kept)
		app_say(app,
			"%zu %s unknown to the state directory %s logs or "
			"output and %s kept; --lost-runs lists %s, too",
			gc->kept, gc->kept == 1 ? "run" : "runs",
			gc->kept == 1 ? "has" : "have",
			gc->kept == 1 ? "is" : "are",
			gc->kept == 1 ? "it" : "them");
}

static int put_rows(const struct gc *gc, struct buf *out, struct error *err)
{
	json_t *all = finds_json(gc->finds, gc->count);
	int ret = rows_put(all, "found", "name", gc->opts->format, out, err);

	json_decref(all);
	return ret;
}

static int collect(struct gc *gc)
{
	bool has_text = rows_is_text(gc->opts->format);
	struct buf text = { 0 };
	struct error err;
	int wanted;

	search(gc);
	/* If a search failed, finding nothing has no meaning and is not
	 * reported. */
	if (has_text && (gc->count || !gc->status))
		finds_text(gc->finds, gc->count, &text);
	app_print(gc->session->app, &text);
	buf_clear(&text);
	wanted = is_wanted(gc);
	if (wanted > 0)
		delete_all(gc);
	if (!has_text && put_rows(gc, &text, &err) < 0)
		fail(gc, &err);
	app_print(gc->session->app, &text);
	buf_done(&text);
	say_result(gc, wanted);
	if (!gc->status && wanted < 0)
		gc->status = ERROR_FAILED;
	return gc->status;
}

static int check(const struct gc_opts *opts, struct error *err)
{
	const struct provider *provider;

	provider = opts->provider ? provider_find(opts->provider) : NULL;
	if (opts->provider && !provider)
		return error_set(err, ERROR_USAGE,
				 "unknown provider '%s'; 'jobrun explain "
				 "providers' lists them",
				 opts->provider);
	return rows_check(opts->format, err);
}

static int run(struct app *app, int argc, char **argv)
{
	struct gc_opts opts = { .format = "text", .older_than = -1 };
	struct schema_options schema = load_plain_options();
	struct session session = { 0 };
	struct jobs jobs = { 0 };
	struct gc gc = { .session = &session, .opts = &opts, .jobs = &jobs };
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_gc, argc, argv, &opts, 0, INT_MAX,
			      &status);
	if (first < 0)
		return status;
	if (opts.output)
		opts.format = opts.output;
	if (check(&opts, &err) < 0)
		return app_fail(app, &err);
	if (first < argc)
		status = load_jobs_or_none(app, &schema, argv + first,
					   (size_t)(argc - first), &jobs);
	if (status)
		return status;
	gc.mem = arena_new();
	if (session_open(&session, app, SESSION_WRITE, &err) < 0)
		status = app_fail(app, &err);
	else
		status = collect(&gc);
	forget_finds(&gc);
	free(gc.finds);
	arena_free(gc.mem);
	session_close(&session);
	jobs_done(&jobs);
	return status;
}

const struct command cmd_gc = {
	.name = "gc",
	.group = GROUP_CLEAN_UP,
	.args = "[--provider NAME] [--older-than DURATION] [--lost-runs] "
		"[--yes] [--format FORMAT] [-o FORM] [PATH...]",
	.summary = "clean up what no job needs any more",
	.help = "Asks before it deletes anything.  Looks where jobs were "
		"applied from here, and\n"
		"where the jobs of each PATH run.\n"
		"  jobrun gc --older-than 48h\n",
	.options = options,
	.remote = true,
	.run = run,
};
