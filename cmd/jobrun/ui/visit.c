/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/visit.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/ui/aside.h"
#include "cmd/jobrun/ui/choose.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/job/boundary.h"
#include "core/provider/listing.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"

/* A place that is silent for this long is given up. */
#define SILENT_MS 3000

struct visit {
	struct session session;
	char *folder; /* of its store */
	bool fresh;
	bool said; /* that something may be missing */
};

/* ---- the store --------------------------------------------------------- */

/* Returns the new folder of a store, or NULL. */
static char *make_folder(struct error *err)
{
	const char *parent = getenv("TMPDIR");
	char *folder = path_join(parent && *parent ? parent : "/tmp",
				 "jobrun-visit.XXXXXX");

	if (mkdtemp(folder))
		return folder;
	error_errno(err, "cannot make a folder '%s'", folder);
	free(folder);
	return NULL;
}

/* Opens the session of a visit, with its own handle of the store. */
static int open_session(const struct session *from, const char *folder,
			struct session *out, struct error *err)
{
	*out = (struct session){ .app = from->app };
	out->env.trace_http = from->env.trace_http;
	out->env.read_yaml = from->env.read_yaml;
	out->env.visits = true;
	out->env.catalogue = catalogue_get(err);
	if (!out->env.catalogue)
		return -1;
	out->env.store = store_open_at(folder, err);
	return out->env.store ? 0 : -1;
}

/* Makes the store unless there is one. */
static int begin(struct session *session, struct error *err)
{
	struct visit *visit = session->visit;

	if (visit)
		return 0;
	session->visit = visit = mem_alloc(sizeof(*visit));
	visit->folder = make_folder(err);
	return visit->folder ? open_session(session, visit->folder,
					    &visit->session, err)
			     : -1;
}

void visit_end(struct session *session)
{
	struct visit *visit = session->visit;
	struct error ignored;

	if (!visit)
		return;
	session_close(&visit->session);
	if (visit->folder)
		folder_remove(visit->folder, &ignored);
	free(visit->folder);
	free(visit);
	session->visit = NULL;
}

struct session *visit_session(struct session *session)
{
	return session->visit ? &session->visit->session : NULL;
}

/* Gets the newest run in a store.  1: there is none. */
static int get_newest(const struct session *session, const char *job_id,
		      struct arena *mem, struct run_record *out)
{
	struct error ignored;

	return store_run_get(session->env.store, job_id, 0, mem, out,
			     &ignored) == 0
		       ? 0
		       : 1;
}

struct session *visit_of(struct session *session, const char *job_id)
{
	struct arena *mem;
	struct run_record run;
	struct session *out = session;

	if (!session->visit || !session->visit->session.env.store)
		return session;
	mem = arena_new();
	if (get_newest(&session->visit->session, job_id, mem, &run) == 0)
		out = &session->visit->session;
	arena_free(mem);
	return out;
}

bool visit_is_fresh(const struct session *session)
{
	return session->visit && session->visit->fresh;
}

/* ---- by job files ------------------------------------------------------ */

/* The kind of a provider's runs if those of others can be looked at there, or
 * NULL. */
static const struct kind *visited_kind(const struct provider *provider)
{
	const struct kind *kind =
		provider && provider->open ? provider_run_kind(provider) : NULL;

	return kind && kind->adopt ? kind : NULL;
}

/* Records the run of a job; 1: there is none.  A place that only the file
 * names is not contacted. */
static int adopt(struct session *guest, const struct job *job,
		 struct error *err)
{
	static const struct boundary none = { 0 };
	const struct provider *provider = provider_find(job->jobrun.provider);
	const struct kind *kind = visited_kind(provider);
	const struct resource run = { .name = job->job_id, .job = job };
	struct arena *mem = arena_new();
	int ret = 1;
	void *ctx;

	if (kind && !provider_unseen(provider, job, &none, mem)) {
		ctx = session_context(guest, provider, err);
		ret = ctx ? kind->adopt(ctx, &run, err) : -1;
	}
	arena_free(mem);
	return ret < 0 ? error_prefix(err, "run '%s'", job->job_id) : ret;
}

static bool can_visit(const struct jobs *jobs)
{
	size_t i;

	for (i = 0; i < jobs->count; i++)
		if (visited_kind(
			    provider_find(jobs->items[i]->jobrun.provider)))
			return true;
	return false;
}

/* Forgets a visited run that is another project's: 1. */
static int keep_own(const struct session *guest, const struct job *job,
		    struct error *other, struct error *err)
{
	struct store *store = guest->env.store;
	struct arena *mem = arena_new();
	struct run_record run;
	int ret = store_run_get(store, job->job_id, 0, mem, &run, err);

	if (ret == 0 && choose_check_origin(&run, job, other) < 0)
		ret = store_run_delete(store, &run, err) < 0 ? -1 : 1;
	arena_free(mem);
	return ret;
}

int visit_jobs(struct session *session, const struct jobs *jobs, size_t *found,
	       struct error *other, struct error *err)
{
	struct session *guest;
	size_t i;
	int ret;

	if (!can_visit(jobs))
		return 0;
	ret = begin(session, err);
	guest = visit_session(session);
	for (i = 0; i < jobs->count && ret >= 0; i++) {
		ret = adopt(guest, jobs->items[i], err);
		if (ret == 0)
			ret = keep_own(guest, jobs->items[i], other, err);
		*found += ret == 0;
	}
	if (*found)
		session->visit->fresh = false;
	return ret < 0 ? -1 : 0;
}

/* ---- by labels --------------------------------------------------------- */

/* Whether the run may be another than the newest one that is known here. */
static bool is_news(const struct session *session, const struct listed *one)
{
	struct arena *mem = arena_new();
	struct run_record run;
	bool known = get_newest(session, one->name, mem, &run) == 0;
	bool news = !known || (one->live && run_state_is_final(run.state));

	arena_free(mem);
	return news;
}

static int take_listed(const struct session *session,
		       const struct visit_wish *wish, void *ctx,
		       const struct listing *all, struct error *err)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < all->count && ret >= 0; i++) {
		const struct listed *one = &all->items[i];
		const struct resource run = { .kind = one->kind,
					      .name = one->name,
					      .place = one->place };

		if (wish->wants(wish->arg, one->name) && is_news(session, one))
			ret = one->kind->adopt(ctx, &run, err);
	}
	return ret < 0 ? -1 : 0;
}

static int adopt_listed(const struct session *session, struct session *guest,
			const struct visit_wish *wish, struct error *err)
{
	const struct kind *kind;
	struct listing all;
	size_t i;
	int ret = 0;
	void *ctx;

	for (i = 0; providers[i] && ret == 0; i++) {
		kind = visited_kind(providers[i]);
		if (!kind || !kind->list)
			continue;
		ctx = session_context(guest, providers[i], err);
		if (!ctx)
			return -1;
		listing_init(&all);
		ret = kind->list(ctx, NULL, &all, err);
		if (ret == 0)
			ret = take_listed(session, wish, ctx, &all, err);
		listing_done(&all);
	}
	return ret < 0 ? error_prefix(err, "runs of others") : 0;
}

int visit_all(struct session *session, const struct visit_wish *wish,
	      struct error *err)
{
	if (begin(session, err) < 0)
		return -1;
	return adopt_listed(session, &session->visit->session, wish, err);
}

/* ---- in a process of its own ------------------------------------------- */

struct visit_survey {
	struct session *session;
	const struct visit_wish *wish;
	int out;
};

/* What the process reports after each step. */
struct visit_step {
	char why[512]; /* "": it is done */
};

static void send_step(const struct visit_survey *survey,
		      const struct error *why)
{
	struct visit_step step = { "" };

	if (why)
		snprintf(step.why, sizeof(step.why), "%s", why->text);
	aside_report(survey->out, &step, sizeof(step));
}

static void report(void *arg, size_t i, const struct error *why)
{
	(void)i;
	send_step(arg, why);
}

static int refresh_all(struct visit_survey *survey, struct session *guest,
		       struct error *err)
{
	struct arena *mem = arena_new();
	struct run_record **runs;
	struct run_list all;
	size_t *some, i;
	int ret = store_run_list(guest->env.store, false, mem, &all, err);

	if (ret == 0) {
		runs = arena_alloc(mem, (all.count + 1) * sizeof(*runs));
		some = arena_alloc(mem, (all.count + 1) * sizeof(*some));
		for (i = 0; i < all.count; i++) {
			runs[i] = &all.items[i];
			some[i] = i;
		}
		session_refresh_some(guest, mem, runs, some, all.count, report,
				     survey);
	}
	arena_free(mem);
	return ret;
}

static void look(void *arg, int out)
{
	struct visit_survey *survey = arg;
	struct session guest, here;
	struct error err;
	int ret;

	survey->out = out;
	ret = open_session(survey->session, survey->session->visit->folder,
			   &guest, &err);
	guest.env.only_states = true;
	if (ret == 0)
		ret = session_open(&here, survey->session->app, 0, &err);
	if (ret == 0)
		ret = adopt_listed(&here, &guest, survey->wish, &err);
	if (ret == 0) {
		send_step(survey, NULL);
		ret = refresh_all(survey, &guest, &err);
	}
	if (ret < 0)
		send_step(survey, &err);
}

/* Reads what the process reports; returns false with `why` set if something may
 * be missing. */
static bool hear(struct aside *aside, struct visit_step *why)
{
	struct visit_step step;

	*why = (struct visit_step){ "" };
	while (aside->from >= 0) {
		struct pollfd wait = { aside->from, POLLIN, 0 };
		int64_t left_ms = aside_left_ms(aside, SILENT_MS);

		if (poll(&wait, 1, (int)left_ms) > 0) {
			if (aside_read(aside, &step, sizeof(step)) && *step.why)
				*why = step;
		} else if (!aside_left_ms(aside, SILENT_MS)) {
			aside_end(aside);
			strcpy(why->why, "no answer yet");
		}
	}
	return !*why->why;
}

int visit_survey(struct session *session, const struct visit_wish *wish,
		 struct error *err)
{
	struct visit_survey survey = { .session = session, .wish = wish };
	struct aside aside;
	struct visit_step why;

	if (begin(session, err) < 0 ||
	    aside_start(&aside, look, &survey, err) < 0)
		return -1;
	if (!hear(&aside, &why) && !session->visit->said) {
		app_say(session->app, "runs of others may be missing: %s",
			why.why);
		session->visit->said = true;
	}
	session->visit->fresh = true;
	return 0;
}

/* ---- a run ------------------------------------------------------------- */

bool visit_has_ended(struct session *session, const struct run_record *run)
{
	struct session *guest = visit_of(session, run->job_id);
	const struct provider *provider;
	struct resource want = session_resource(run, &provider), found = { 0 };
	struct error ignored;
	bool ended = false;
	void *ctx;

	if (guest == session || !provider)
		return false;
	ctx = session_context(guest, provider, &ignored);
	if (ctx && want.kind->read(ctx, &want, &found, &ignored) == 0)
		ended = found.exists && run_state_is_final(found.run.state);
	json_decref(found.properties);
	json_decref(found.outputs);
	return ended;
}
