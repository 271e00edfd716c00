/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/visit.h"

#include <stdlib.h>

#include "cmd/jobrun/ui/choose.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/job/boundary.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"

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

/* Records the run of a job; 1: there is none.  A place that only the file
 * names is not contacted. */
static int adopt(struct session *session, const struct job *job,
		 struct error *err)
{
	static const struct boundary none = { 0 };
	const struct provider *provider = provider_find(job->jobrun.provider);
	const struct kind *kind =
		provider && provider->open ? provider_run_kind(provider) : NULL;
	struct arena *mem = arena_new();
	int ret = 1;
	void *ctx;

	if (kind && kind->adopt &&
	    !provider_unseen(provider, job, &none, mem)) {
		ctx = session_context(session, provider, err);
		ret = ctx ? kind->adopt(ctx, job, err) : -1;
	}
	arena_free(mem);
	return ret < 0 ? error_prefix(err, "run '%s'", job->job_id) : ret;
}

static bool can_visit(const struct jobs *jobs)
{
	size_t i;

	for (i = 0; i < jobs->count; i++) {
		const struct provider *provider =
			provider_find(jobs->items[i]->jobrun.provider);

		if (provider && provider->open &&
		    provider_run_kind(provider)->adopt)
			return true;
	}
	return false;
}

/* Forgets a visited run that is another project's: 1. */
static int keep_own(struct session *session, const struct job *job,
		    struct error *other, struct error *err)
{
	struct store *store = session->env.store;
	struct arena *mem = arena_new();
	struct run_record run;
	int ret = store_run_get(store, job->job_id, 0, mem, &run, err);

	if (ret == 0 && choose_check_origin(&run, job, other) < 0)
		ret = store_run_delete(store, &run, err) < 0 ? -1 : 1;
	arena_free(mem);
	return ret;
}

static int adopt_all(struct session *session, const struct jobs *jobs,
		     size_t *found, struct error *other, struct error *err)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < jobs->count && ret >= 0; i++) {
		ret = adopt(session, jobs->items[i], err);
		if (ret == 0)
			ret = keep_own(session, jobs->items[i], other, err);
		*found += ret == 0;
	}
	return ret < 0 ? -1 : 0;
}

int visit_jobs(struct session *session, const struct jobs *jobs, size_t *found,
	       struct error *other, struct error *err)
{
	struct store *here = session->env.store;
	int ret = -1;

	if (!can_visit(jobs))
		return 0;
	if (!session->env.catalogue)
		session->env.catalogue = catalogue_get(err);
	if (session->env.catalogue)
		session->visit = make_folder(err);
	if (!session->visit)
		return -1;
	session_close_contexts(session);
	session->env.store = store_open_at(session->visit, err);
	if (session->env.store)
		ret = adopt_all(session, jobs, found, other, err);
	if (ret == 0 && *found) {
		store_close(here);
		return 0;
	}
	session_close_contexts(session);
	store_close(session->env.store);
	session->env.store = here;
	visit_end(session);
	return ret;
}

bool visit_has_ended(struct session *session, const struct run_record *run)
{
	const struct provider *provider;
	struct resource want = session_resource(run, &provider), found = { 0 };
	struct error ignored;
	bool ended = false;
	void *ctx;

	if (!session->visit || !provider)
		return false;
	ctx = session_context(session, provider, &ignored);
	if (ctx && want.kind->read(ctx, &want, &found, &ignored) == 0)
		ended = found.exists && run_state_is_final(found.run.state);
	json_decref(found.properties);
	json_decref(found.outputs);
	return ended;
}

void visit_end(struct session *session)
{
	struct error ignored;

	if (session->visit)
		folder_remove(session->visit, &ignored);
	free(session->visit);
	session->visit = NULL;
}
