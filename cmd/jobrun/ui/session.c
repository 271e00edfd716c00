/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/ui/job_order.h"
#include "cmd/jobrun/ui/visit.h"
#include "core/apply/journal.h"
#include "core/apply/resume.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/job/boundary.h"
#include "core/job/machines.h"
#include "core/job/revision.h"
#include "core/job/traits.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/catalogue/prices.h"
#include "schema/read/yaml_read.h"

/* Interrupted actions to list; others are counted. */
#define SESSION_SAY_MAX 8
/* Jobs to list that cannot be planned, often all for one reason. */
#define SESSION_FAIL_MAX 20

int session_open(struct session *session, struct app *app, unsigned flags,
		 struct error *err)
{
	*session = (struct session){ .app = app };
	session->env.trace_http = app->trace_http;
	session->env.read_yaml = yaml_read;
	if (flags & SESSION_CATALOGUE) {
		session->env.catalogue = catalogue_get(err);
		if (!session->env.catalogue)
			return -1;
	}
	session->env.store = flags & SESSION_WRITE ? store_open(err)
						   : store_open_to_read(err);
	return session->env.store ? 0 : -1;
}

/* Closes the contexts that are open, which borrow the store. */
static void close_contexts(struct session *session)
{
	size_t i;

	for (i = 0; i < SESSION_PROVIDERS && providers[i]; i++) {
		if (session->contexts[i])
			providers[i]->close(session->contexts[i]);
		session->contexts[i] = NULL;
	}
}

void session_close(struct session *session)
{
	size_t i;

	plan_free(session->plan);
	prices_free(session->prices);
	for (i = 0; i < session->job_count; i++) {
		resources_forget(
			session->observed[i],
			session->desired[i] ? session->desired[i]->count : 0);
		resources_free(session->desired[i]);
	}
	free(session->observed);
	free(session->desired);
	free(session->unplanned);
	for (i = 0; i < session->never_count; i++)
		free(session->never[i]);
	for (i = 0; i < COUNT(session->repositories); i++)
		git_status_free(session->repositories[i]);
	close_contexts(session);
	lock_set_free(session->locks);
	store_close(session->env.store);
	visit_end(session);
}

void *session_context(struct session *session, const struct provider *provider,
		      struct error *err)
{
	size_t i = 0;

	if (!provider->open) {
		error_set(err, ERROR_UNREACHABLE,
			  "this version checks jobs for the provider %s, but "
			  "cannot run them ('--provider %s' runs them on this "
			  "machine)",
			  provider->name, providers[0]->name);
		return NULL;
	}
	while (providers[i] != provider)
		i++;
	assert(i < SESSION_PROVIDERS);
	if (!session->contexts[i])
		session->contexts[i] = provider->open(&session->env, err);
	return session->contexts[i];
}

int session_prices(struct session *session, const char *path, struct error *err)
{
	if (!path)
		path = getenv("JOBRUN_PRICES");
	if (!path || !*path)
		return 0;
	session->prices = prices_read(path, err);
	return session->prices ? 0 : -1;
}

/* Returns the prices of the option or of the catalogue, or NULL. */
static const struct price_list *price_list(const struct session *session)
{
	const struct catalogue *catalogue = session->env.catalogue;

	if (session->prices)
		return session->prices;
	return catalogue && catalogue->prices.currency ? &catalogue->prices
						       : NULL;
}

static void say_waiting(void *arg, const struct error *why)
{
	app_say(arg, "%s; waiting for it", why->text);
}

static char *lock_folder(const struct session *session)
{
	return path_join(store_folder(session->env.store), "locks");
}

bool session_is_locked(const struct session *session, const char *job_id)
{
	char *folder = lock_folder(session);
	bool held = lock_is_held(folder, job_id);

	free(folder);
	return held;
}

int session_lock_free(struct session *session, const char *const *job_ids,
		      size_t count, struct error *err)
{
	char *folder = lock_folder(session);

	session->locks = lock_set_take_free(folder, job_ids, count, err);
	free(folder);
	return session->locks ? 0 : -1;
}

int session_lock(struct session *session, const char *const *job_ids,
		 size_t count, long timeout_s, struct error *err)
{
	char *folder = lock_folder(session);

	session->locks =
		lock_set_take(folder, job_ids, count, (int64_t)timeout_s * 1000,
			      say_waiting, session->app, err);
	free(folder);
	return session->locks ? 0 : -1;
}

static void add_unplanned(struct session *session, const struct job *job,
			  const struct error *why)
{
	size_t n = session->unplanned_count++;

	if (!(n & (n - 1)))
		session->unplanned = mem_grow(session->unplanned, n ? 2 * n : 1,
					      sizeof(*session->unplanned));
	session->unplanned[n] = (struct unplanned){ job->job_id, *why };
}

static const char *shown_path(const char *path, struct arena *mem)
{
	char *found = realpath(path, NULL);
	char *real = found ? found : path_absolute(path);
	const char *home = getenv("HOME"), *out;
	size_t n = home ? strlen(home) : 0;

	if (n > 1 && !strncmp(real, home, n) && real[n] == '/')
		out = arena_printf(mem, "~%s", real + n);
	else
		out = arena_strdup(mem, real);
	free(real);
	return out;
}

/* Notes for readers of the plan which paths leave the root. */
static void note_reaches(const struct job *job, struct resources *desired)
{
	const char *where =
		job->reach_count ? boundary_root_name(job->root) : NULL;
	size_t i;

	for (i = 0; i < job->reach_count; i++) {
		const struct job_reach *one = &job->reaches[i];
		const char *path = shown_path(one->path, desired->mem);

		if (one->use == REACH_READS || one->use == REACH_WRITES)
			resources_note(desired, "%s outside %s: %s",
				       one->use == REACH_READS ? "reads"
							       : "writes",
				       where, path);
		else if (one->use != REACH_CHOSEN)
			resources_note(desired, "%s from %s", one->field, path);
	}
}

/* Plans without knowing what exists, as there are no credentials or looking is
 * not allowed; the plan says so. */
static struct resource *observe_nothing(struct session *session,
					struct resources *desired,
					const char *why)
{
	session->unknown_count++;
	resources_unknown(desired, "what exists: %s", why);
	return resources_unseen(desired);
}

static struct resource *look(struct session *session,
			     const struct provider *provider,
			     struct resources *desired, void *ctx,
			     struct error *err)
{
	struct resource *found;

	if (session->look == LOOK_HERE &&
	    !traits_have(provider->traits, TRAIT_THIS_MACHINE))
		return observe_nothing(session, desired,
				       "not checked (--offline)");
	found = resources_read(desired, ctx, err);
	if (found)
		resources_say_found(desired, found);
	if (!found && session->look == LOOK_IF_ASKED && error_is_unasked(err))
		found = observe_nothing(session, desired, err->text);
	return found;
}

/* Notes a catalogue entry that is not jobrun's own: it decides what is
 * requested, or the costs shown.  In CI a reviewer of the commit has not chosen
 * it. */
static void note_row(const struct provider_env *env, struct resources *desired,
		     const char *what, const char *name, const char *origin)
{
	bool doubt = env->boundary && env->boundary->untrusted;

	if (origin)
		resources_note(desired, "%s%s from catalogue %s%s", what, name,
			       origin,
			       doubt ? ", not jobrun's own: review it" : "");
}

static void note_catalogue(const struct job *job,
			   const struct provider_env *env,
			   const struct price_list *prices,
			   struct resources *desired)
{
	const struct accelerator *accelerator;
	const struct machine_family *family;
	struct machine_groups groups;
	struct error ignored;
	size_t i;

	if (!env->catalogue ||
	    machines_of(job, env->catalogue, &groups, &ignored) < 0)
		return;
	for (i = 0; i < groups.count; i++) {
		const struct machine_group *one = &groups.items[i];

		if (one->machine &&
		    catalogue_machine(env->catalogue, one->type, &family))
			note_row(env, desired, "machine type ",
				 arena_printf(desired->mem, "%s is", one->type),
				 family->origin);
		accelerator =
			one->accelerator_type
				? catalogue_accelerator(env->catalogue,
							one->accelerator_type)
				: NULL;
		if (accelerator)
			note_row(env, desired, "accelerator ",
				 arena_printf(desired->mem, "%s is",
					      accelerator->type),
				 accelerator->origin);
		if (one->tpu)
			note_row(env, desired, "TPU ",
				 arena_printf(desired->mem, "%s is",
					      one->tpu->type),
				 one->tpu->origin);
	}
	if (prices)
		note_row(env, desired, "prices", " are", prices->origin);
}

/* Observes what exists, as far as that is allowed. */
static struct resource *observe(struct session *session, const struct job *job,
				const struct provider *provider,
				struct resources *desired, void *ctx,
				struct error *err)
{
	const struct boundary *boundary = session->env.boundary;
	const char *unseen =
		provider_unseen(provider, job, boundary, desired->mem);

	if (!unseen)
		return look(session, provider, desired, ctx, err);
	if (boundary->apply) {
		error_set(err, ERROR_DENIED,
			  "its file names %s; pass --yes or --allow-connect to "
			  "contact it",
			  unseen);
		return NULL;
	}
	resources_note(desired,
		       PLAN_NOT_LOOKED_AT
		       "%s, which only the file names (--allow-connect)",
		       unseen);
	return resources_unseen(desired);
}

/* Adds a path that is never part of a source.  A file that does not exist is
 * found by its folder. */
static void add_never(struct session *session, const char *path)
{
	char *real = realpath(path, NULL);
	char *folder = path_folder(path), *above;

	if (!real) {
		above = realpath(folder, NULL);
		if (above)
			real = path_join(above, path_base(path));
		free(above);
	}
	free(folder);
	if (real)
		session->never[session->never_count++] = real;
}

void session_leave_out(struct session *session, const char *out)
{
	if (out)
		add_never(session, out);
}

/* Finds the revision.  Many jobs share a repository, so the last few are
 * kept. */
static void find_revision(struct session *session, struct job *job)
{
	const char *folder = revision_folder(job);
	size_t most = COUNT(session->repositories), i;
	struct git_status **at;

	for (i = 0; i < most && session->repositories[i]; i++)
		if (git_status_is_of(session->repositories[i], folder)) {
			revision_set(job, session->repositories[i]);
			return;
		}
	at = &session->repositories[session->repository_count % most];
	git_status_free(*at);
	*at = git_status_new(folder);
	if (!*at)
		return;
	session->repository_count++;
	revision_set(job, *at);
}

/* Digests the source; one that several jobs share is read once. */
static int digest(struct session *session, struct job *job, struct error *err)
{
	size_t n = session->digested_count, i;

	job->before = session->digested;
	job->before_count = n < SESSION_DIGESTED ? n : SESSION_DIGESTED;
	if (job_digest(job, err) < 0)
		return -1;
	for (i = 0; i < job->before_count; i++)
		if (job->before[i]->contents.items == job->contents.items)
			return 0;
	if (job->contents.count)
		session->digested[session->digested_count++ %
				  SESSION_DIGESTED] = job;
	return 0;
}

/* Puts the labels by which runs are chosen (choose.h).  A provider's own labels
 * stay. */
static void put_labels(const struct job *job, struct resources *desired)
{
	struct resource *run = NULL;
	json_t *labels;
	size_t i;

	for (i = 0; i < desired->count; i++)
		if (desired->items[i]->kind->flags & KIND_RUN)
			run = desired->items[i];
	if (!run || !job->labels.count ||
	    json_object_get(run->properties, "labels"))
		return;
	labels = json_object();
	for (i = 0; i < job->labels.count; i++)
		json_put_text(labels, job->labels.items[i].name,
			      job->labels.items[i].value);
	json_object_set_new(run->properties, "labels", labels);
}

static int plan_one(struct session *session, struct job *job, size_t at,
		    const struct plan_options *options, struct error *err)
{
	int ret;
	const struct provider *provider = provider_find(job->jobrun.provider);
	struct resources *desired;
	void *ctx;

	ctx = session_context(session, provider, err);
	if (!ctx)
		return error_prefix(err, "job '%s'", job->job_id);
	job->never = (const char *const *)session->never;
	job->never_count = session->never_count;
	desired = session->desired[at] = resources_new();
	ret = digest(session, job, err);
	if (ret == 0)
		find_revision(session, job);
	if (ret == 0 &&
	    provider->desire(job, &session->env, desired, err) == 0 &&
	    job_order_check(session, job, desired, err) == 0) {
		put_labels(job, desired);
		session->observed[at] =
			observe(session, job, provider, desired, ctx, err);
	}
	if (!session->observed[at])
		return error_prefix(err, "job '%s'", job->job_id);
	note_reaches(job, desired);
	note_catalogue(job, &session->env, options->prices, desired);
	return plan_add(session->plan, provider, job, desired,
			session->observed[at], options, err);
}

void session_plan(struct session *session, const struct jobs *jobs,
		  const struct plan_options *options)
{
	struct plan_options how = *options;
	size_t *order = mem_alloc((jobs->count + 1) * sizeof(*order));
	struct error err;
	size_t i;

	session->plan = plan_new();
	session->desired =
		mem_alloc((jobs->count + 1) * sizeof(*session->desired));
	session->observed =
		mem_alloc((jobs->count + 1) * sizeof(*session->observed));
	how.store = session->env.store;
	how.catalogue = session->env.catalogue;
	how.prices = price_list(session);
	how.closed_secrets =
		session->env.boundary && !session->env.boundary->apply;
	session->job_count = jobs->count;
	if (session->env.store)
		add_never(session, store_folder(session->env.store));
	if (job_order_make(jobs, order, &err) < 0) {
		add_unplanned(session, jobs->items[0], &err);
		session->unordered = true;
		goto out;
	}
	for (i = 0; i < jobs->count; i++) {
		struct job *job = jobs->items[order[i]];

		if (plan_one(session, job, i, &how, &err) < 0)
			add_unplanned(session, job, &err);
	}
out:
	free(order);
}

int session_check_targets(const struct session *session, struct error *err)
{
	return session->unplanned_count
		       ? 0
		       : plan_check_targets(session->plan, err);
}

int session_fail_unplanned(const struct session *session)
{
	size_t i, n = session->unplanned_count;

	for (i = 0; i < n && i < SESSION_FAIL_MAX; i++)
		app_fail(session->app, &session->unplanned[i].why);
	if (i < n)
		app_say(session->app,
			"and %zu more jobs can't be planned either", n - i);
	return n ? error_status(&session->unplanned[0].why) : 0;
}

struct resumed {
	struct session *session;
	size_t count;
};

static void *resumed_context(void *arg, const struct provider *provider)
{
	struct resumed *resumed = arg;
	struct error ignored;

	return session_context(resumed->session, provider, &ignored);
}

static void say_resumed(void *arg, const struct intent_record *intent,
			const char *found)
{
	struct resumed *resumed = arg;

	if (resumed->count++ < SESSION_SAY_MAX)
		app_say(resumed->session->app,
			"an earlier command %s at %s %s '%s': %s",
			intent->error ? "had no answer" : "was interrupted",
			strcmp(intent->verb, "run") != 0 ? intent->verb
							 : "start",
			intent->kind, intent->name, found);
}

int session_resume(struct session *session, struct error *err)
{
	struct resumed resumed = { .session = session };
	struct resume_options options = { .context = resumed_context,
					  .say = say_resumed,
					  .arg = &resumed };
	int ret = resume_look(session->env.store, session->plan, &options, err);

	if (ret == 0)
		ret = journal_adopt(session->env.store, session->plan, err);
	if (resumed.count > SESSION_SAY_MAX)
		app_say(session->app, "and at %zu more",
			resumed.count - SESSION_SAY_MAX);
	return ret;
}

struct resource session_resource(const struct run_record *run,
				 const struct provider **provider)
{
	struct resource resource = { .name = run->job_id, .exists = true };

	*provider = provider_find(run->provider);
	if (*provider)
		resource.kind = provider_run_kind(*provider);
	return resource;
}

int session_refresh(struct session *session, struct arena *mem,
		    struct run_record *run, struct error *err)
{
	const struct provider *provider;
	struct resource resource = session_resource(run, &provider);
	struct run_record fresh;
	struct arena *scratch;
	enum wait_state state;
	void *ctx;
	int ret;

	if (run_state_is_final(run->state))
		return 0;
	if (!provider)
		return error_set(err, ERROR_FAILED,
				 "run '%s' is of provider '%s', which this "
				 "jobrun does not have",
				 run->job_id, run->provider);
	ctx = session_context(session, provider, err);
	if (!ctx || resource.kind->wait(ctx, &resource, &state, err) < 0)
		return error_prefix(err, "run '%s'", run->job_id);
	/* Use scratch memory in a long wait, so that `mem` grows only with
	 * changes. */
	scratch = arena_new();
	ret = store_run_get(session->env.store, run->job_id, run->attempt,
			    scratch, &fresh, err);
	if (ret == 0 && (fresh.state != run->state ||
			 strcmp(fresh.error ? fresh.error : "",
				run->error ? run->error : "") != 0))
		ret = store_run_get(session->env.store, run->job_id,
				    run->attempt, mem, run, err);
	arena_free(scratch);
	return ret < 0 ? -1 : 0;
}

/* Refreshes the unfinished runs of one provider together; marks runs in `done`
 * that need no look of their own. */
static void refresh_together(struct session *session,
			     const struct provider *provider,
			     struct run_record *const *runs, size_t count,
			     struct arena *mem, bool *done)
{
	const struct kind *kind = provider_run_kind(provider);
	struct run_record **some = arena_alloc(mem, count * sizeof(*some));
	bool *fresh = arena_alloc(mem, count * sizeof(*fresh));
	struct error ignored;
	size_t n = 0, i;
	void *ctx;

	for (i = 0; i < count; i++)
		if (!done[i] && !strcmp(runs[i]->provider, provider->name))
			some[n++] = runs[i];
	ctx = n > 1 ? session_context(session, provider, &ignored) : NULL;
	if (!ctx)
		return;
	memset(fresh, 0, n * sizeof(*fresh));
	kind->refresh(ctx, some, n, mem, fresh);
	for (i = 0, n = 0; i < count; i++)
		if (!done[i] && !strcmp(runs[i]->provider, provider->name))
			done[i] = fresh[n++];
}

/* Reads the newest attempt, as a look may find that there were later ones. */
static int go_on(struct session *session, struct arena *mem,
		 struct run_record *run, struct error *err)
{
	int ret = 0;

	while (ret == 0 && run_state_is_final(run->state))
		ret = store_run_after(session->env.store, run, mem, run, err);
	return ret < 0 ? -1 : 0;
}

int session_refresh_one(struct session *session, struct arena *mem,
			struct run_record *run, struct error *err)
{
	if (run_state_is_final(run->state))
		return 0;
	return session_refresh(session, mem, run, err) < 0
		       ? -1
		       : go_on(session, mem, run, err);
}

void session_refresh_some(
	struct session *session, struct arena *mem,
	struct run_record *const *runs, const size_t *some, size_t count,
	void (*report)(void *arg, size_t i, const struct error *why), void *arg)
{
	bool *done = arena_alloc(mem, (count + 1) * sizeof(*done));
	struct run_record **all = arena_alloc(mem, (count + 1) * sizeof(*all));
	struct error err = { 0 };
	size_t i;
	int ret = 0;

	for (i = 0; i < count; i++) {
		all[i] = runs[some[i]];
		done[i] = false;
	}
	for (i = 0; providers[i]; i++)
		if (provider_run_kind(providers[i])->refresh)
			refresh_together(session, providers[i], all, count, mem,
					 done);
	for (i = 0; i < count; i++) {
		/* A provider that could not be reached is not asked for the
		 * other runs. */
		if (!done[i] && (ret == 0 || err.code != ERROR_UNREACHABLE))
			ret = session_refresh_one(session, mem, all[i], &err);
		report(arg, some[i], done[i] || ret == 0 ? NULL : &err);
	}
}

int session_known(struct session *session, const char *job_id, int attempt,
		  struct arena *mem, struct run_record *out, struct error *err)
{
	int ret = store_run_get(session->env.store, job_id, attempt, mem, out,
				err);

	if (ret <= 0)
		return ret;
	if (attempt)
		return error_set(err, ERROR_NO_RUN,
				 "job '%s' has no attempt %d", job_id, attempt);
	if (strpbrk(job_id, "./"))
		return error_set(err, ERROR_NO_RUN,
				 "no run with jobId '%s'; 'jobrun status' "
				 "lists the runs",
				 job_id);
	return error_set(err, ERROR_NO_RUN,
			 "no run of '%s' here; 'jobrun status' lists the runs",
			 job_id);
}

int session_run(struct session *session, const char *job_id, int attempt,
		struct arena *mem, struct run_record *out, struct error *err)
{
	if (session_known(session, job_id, attempt, mem, out, err) < 0 ||
	    session_refresh(session, mem, out, err) < 0)
		return -1;
	return attempt ? 0 : go_on(session, mem, out, err);
}
