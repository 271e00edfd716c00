/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/load.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/ui/undo.h"
#include "core/apply/remains.h"
#include "core/base/text.h"
#include "core/job/check.h"
#include "providers/registry.h"

struct delete_opts {
	struct load_opts load;
};

/* One job, and what exists of it at each provider. */
struct deletion {
	struct session *session;
	const char *job_id;
	const struct job *job; /* from a file, or NULL */
	struct arena *mem;
	struct member_list members; /* of all jobs */
	struct intent_list intents; /* of all jobs */
	struct run_list runs;       /* the newest of each job */
	struct plan *plan;
	struct remains remains[SESSION_PROVIDERS];
	size_t count;
};

/* The file, the store or a set say that something of it may be there; where
 * it costs nothing it is looked for in any case. */
static bool may_be_at(const struct deletion *deletion,
		      const struct provider *provider)
{
	size_t i;

	if (!provider->open)
		return false;
	if (!provider->asks)
		return true;
	if (deletion->job &&
	    !strcmp(deletion->job->jobrun.provider, provider->name))
		return true;
	for (i = 0; i < deletion->members.count; i++)
		if (!strcmp(deletion->members.items[i].job_id,
			    deletion->job_id) &&
		    !strcmp(deletion->members.items[i].provider,
			    provider->name))
			return true;
	for (i = 0; i < deletion->intents.count; i++)
		if (!strcmp(deletion->intents.items[i].job_id,
			    deletion->job_id) &&
		    !strcmp(deletion->intents.items[i].provider,
			    provider->name))
			return true;
	for (i = 0; i < deletion->runs.count; i++)
		if (!strcmp(deletion->runs.items[i].job_id, deletion->job_id) &&
		    !strcmp(deletion->runs.items[i].provider, provider->name))
			return true;
	return false;
}

static int find_at(struct deletion *deletion, const struct provider *provider,
		   struct error *err)
{
	void *ctx = session_context(deletion->session, provider, err);
	struct places places = { 0 };
	struct listing all;
	size_t i;
	int ret = -1;

	if (!ctx)
		return -1;
	for (i = 0; i < deletion->members.count; i++) {
		const struct task_file_path *one = &deletion->members.items[i];

		if (one->place && !strcmp(one->job_id, deletion->job_id) &&
		    !strcmp(one->provider, provider->name))
			places_add(&places, deletion->mem, one->place);
	}
	if (deletion->job)
		places_add_job(&places, deletion->mem, provider, NULL,
			       deletion->job);
	listing_init(&all);
	if (provider_list(provider, ctx, &places, &all, err) == 0)
		ret = remains_read(provider, ctx, &all, deletion->job_id,
				   &deletion->remains[deletion->count++], err);
	listing_done(&all);
	places_done(&places);
	return ret;
}

static int find_all(struct deletion *deletion, struct error *err)
{
	struct store *store = deletion->session->env.store;
	size_t i;

	if (store_member_list(store, NULL, deletion->mem, &deletion->members,
			      err) < 0 ||
	    store_intent_list(store, deletion->mem, &deletion->intents, err) <
		    0 ||
	    store_run_list(store, false, deletion->mem, &deletion->runs, err) <
		    0)
		return -1;
	for (i = 0; providers[i]; i++)
		if (may_be_at(deletion, providers[i]) &&
		    find_at(deletion, providers[i], err) < 0)
			return -1;
	return 0;
}

static int plan_all(struct deletion *deletion, struct error *err)
{
	size_t i;

	for (i = 0; i < deletion->count; i++) {
		const struct remains *one = &deletion->remains[i];
		const struct resource *run = remains_live_run(one);

		if (run)
			return error_set(err, ERROR_TRY_AGAIN,
					 "delete '%s': it is still running: "
					 "'jobrun cancel %s' ends it",
					 deletion->job_id, deletion->job_id);
		if (!remains_are_none(one))
			remains_plan(one, "as asked", deletion->plan);
	}
	return 0;
}

static bool was_looked_at(const struct deletion *deletion, const char *provider)
{
	size_t i;

	for (i = 0; i < deletion->count; i++)
		if (!strcmp(deletion->remains[i].provider->name, provider))
			return true;
	return false;
}

/* Nothing of it is left: it is in no set any more, and what somebody began at
 * it and was killed needs no end. */
static int forget(const struct deletion *deletion, struct error *err)
{
	struct store *store = deletion->session->env.store;
	size_t i;
	int ret = 0;

	for (i = 0; i < deletion->count && ret == 0; i++)
		ret = store_member_drop(store, NULL, deletion->job_id,
					deletion->remains[i].provider->name,
					err);
	for (i = 0; i < deletion->intents.count && ret == 0; i++) {
		const struct intent_record *one = &deletion->intents.items[i];

		if (!strcmp(one->job_id, deletion->job_id) &&
		    was_looked_at(deletion, one->provider))
			ret = store_intent_end(store, one, INTENT_DONE, NULL,
					       err);
	}
	return ret;
}

/* Everything that one job made, wherever.  Returns the exit status. */
static int delete_job(struct session *session, const char *job_id,
		      const struct job *job)
{
	struct deletion deletion = { .session = session,
				     .job_id = job_id,
				     .job = job,
				     .mem = arena_new(),
				     .plan = plan_new() };
	struct error err;
	int status = 0;
	size_t i;

	if (find_all(&deletion, &err) < 0 || plan_all(&deletion, &err) < 0) {
		status = app_fail(session->app, &err);
	} else if (undo_execute(session, deletion.plan, NULL, NULL, &err) < 0) {
		status = (int)err.code; /* it was said */
	} else if (forget(&deletion, &err) < 0) {
		status = app_fail(session->app, &err);
	} else if (!plan_count(deletion.plan)) {
		error_set(&err, ERROR_FAILED,
			  "no run of '%s' is known here, nor anything else of "
			  "it: 'jobrun status' lists what is",
			  job_id);
		status = app_fail(session->app, &err);
	} else {
		app_say(session->app, "%s: deleted", job_id);
	}
	plan_free(deletion.plan);
	for (i = 0; i < deletion.count; i++)
		remains_done(&deletion.remains[i]);
	arena_free(deletion.mem);
	return status;
}

/* Nobody else works on it meanwhile. */
static int delete_locked(struct session *session, const char *job_id,
			 const struct job *job)
{
	struct error err;
	int status;

	if (session_lock(session, &job_id, 1, 0, &err) < 0)
		return app_fail(session->app, &err);
	status = delete_job(session, job_id, job);
	lock_set_free(session->locks);
	session->locks = NULL;
	return status;
}

/* The store has a run of it, or knows it as one of a set. */
static bool is_known(struct session *session, const char *job_id)
{
	struct store *store = session->env.store;
	struct arena *mem = arena_new();
	struct member_list members = { 0 };
	struct run_record run;
	struct error ignored;
	/* A state that cannot be known is left alone. */
	bool known = store_run_get(store, job_id, 0, mem, &run, &ignored) != 1;
	size_t i;

	if (!known)
		store_member_list(store, NULL, mem, &members, &ignored);
	for (i = 0; i < members.count && !known; i++)
		known = !strcmp(members.items[i].job_id, job_id);
	arena_free(mem);
	return known;
}

/* A job's name can't hold what makes a path of an argument.  Where a directory
 * is called like a job, the job is meant, as with all commands: other jobs,
 * whose files happen to lie there, are not to be deleted for it. */
static bool is_path(struct session *session, const char *argument)
{
	struct stat st;

	return strpbrk(argument, "./") || !strcmp(argument, "-") ||
	       (stat(argument, &st) == 0 && S_ISDIR(st.st_mode) &&
		!is_known(session, argument));
}

static int delete_argument(struct session *session,
			   const struct schema_options *schema, char *argument)
{
	struct error err, ignored;
	struct jobs jobs;
	int status, one;
	size_t i;

	if (!is_path(session, argument)) {
		if (check_job_id(argument, &ignored) == 0)
			return delete_locked(session, argument, NULL);
		error_set(&err, ERROR_FAILED,
			  "'%.200s' is not the jobId of a run: 'jobrun status' "
			  "lists them",
			  argument);
		text_make_printable(err.text);
		return app_fail(session->app, &err);
	}
	status = load_jobs(session->app, schema, &argument, 1, &jobs);
	if (status)
		return status;
	for (i = 0; i < jobs.count; i++) {
		one = delete_locked(session, jobs.items[i]->job_id,
				    jobs.items[i]);
		status = status ? status : one;
	}
	jobs_done(&jobs);
	return status;
}

static int run(struct app *app, int argc, char **argv)
{
	struct schema_options schema;
	struct session session = { 0 };
	struct delete_opts opts = { 0 };
	struct error err;
	int status = 0;
	int i;

	i = options_parse(app, &cmd_delete, argc, argv, &opts, 1, INT_MAX,
			  &status);
	if (i < 0)
		return status;
	if (load_options(&opts.load, app, &schema, &err) < 0 ||
	    session_open(&session, app, SESSION_WRITE, &err) < 0) {
		status = app_fail(app, &err);
	} else {
		for (; i < argc; i++) {
			int one = delete_argument(&session, &schema, argv[i]);

			status = status ? status : one;
		}
	}
	session_close(&session);
	load_done(&opts.load);
	return status;
}

const struct command cmd_delete = {
	.name = "delete",
	.args = "JOB|PATH...",
	.summary = "delete all that a job made: runs, logs, resources",
	.help = "A run that still goes on has to be cancelled first.\n",
	.shared = load_rows,
	.shared_offset = offsetof(struct delete_opts, load),
	.remote = true,
	.run = run,
};
