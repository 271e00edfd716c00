/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/doctor_job.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/data/object_store.h"
#include "core/job/boundary.h"
#include "core/job/traits.h"
#include "providers/registry.h"
#include "providers/stores.h"

/* How many jobs are checked at a time. */
#define AT_ONCE 8

/* A job, and what was found so far. */
struct examined {
	const struct job *job;
	const struct provider *provider;
	const struct provider_env *env;
	const char *unseen; /* what may not be contacted, or NULL */
	pthread_t thread;
	bool is_thread;
	struct checks found;
};

static struct doctor_check *add(struct examined *it, const char *name,
				enum check_state state, const char *value)
{
	return checks_add(&it->found, it->job->job_id, name, state, value);
}

static void fail(struct examined *it, const char *name, const struct error *why)
{
	checks_fail(&it->found, it->job->job_id, name, why);
}

/* ---- files of this machine ---- */

static void check_file(struct examined *it, const char *name, const char *file)
{
	const char *path = job_path(it->job, file);
	struct error err;

	if (access(path, R_OK) == 0) {
		add(it, name, CHECK_OK, arena_strdup(it->found.mem, path));
		return;
	}
	error_errno(&err, "cannot read '%s'", path);
	fail(it, name, &err);
}

static void check_secret(struct examined *it, const struct secret *secret)
{
	struct arena *mem = it->found.mem;
	const char *name = arena_printf(mem, "secret %s", secret->name);

	if (!secret->env)
		check_file(it, name, secret->file);
	else if (getenv(secret->env))
		add(it, name, CHECK_OK,
		    arena_printf(mem, "from the variable %s", secret->env));
	else
		checks_bad(&it->found, it->job->job_id, name, ERROR_DENIED,
			   arena_printf(mem, "set the environment variable %s",
					secret->env));
}

static void check_secrets(struct examined *it)
{
	const struct secret *all = it->job->jobrun.secrets.items;
	size_t i;

	for (i = 0; i < it->job->jobrun.secrets.count; i++)
		check_secret(it, &all[i]);
}

/* ---- buckets and folders ---- */

/* Whether the job's tasks run on this machine. */
static bool is_here(const struct examined *it)
{
	return traits_have(it->provider->traits, TRAIT_THIS_MACHINE) &&
	       !it->job->jobrun.hosts.count;
}

/* What fails from here matters less where others do the reading. */
static void fail_store(struct examined *it, const char *name,
		       const struct error *why)
{
	if (is_here(it) ||
	    traits_have(it->provider->traits, TRAIT_GOOGLE_CLOUD))
		fail(it, name, why);
	else
		add(it, name, CHECK_MISSING, NULL)->advice =
			arena_printf(it->found.mem,
				     "from this machine: %s; its tasks may see "
				     "more",
				     why->text);
}

static int see_first(void *arg, const struct object *object, struct error *err)
{
	bool *is_seen = arg;

	(void)object;
	*is_seen = true;
	return error_set(err, ERROR_INTERRUPTED, "one is enough");
}

/* Checks that a folder of objects can be listed; an empty one can. */
static void check_bucket(struct examined *it, struct object_store *store,
			 const char *name, const char *url)
{
	bool is_seen = false;
	struct error err;

	if (object_check(store, url, &err) == 0 &&
	    (object_list(store, url, see_first, &is_seen, &err) == 0 ||
	     is_seen))
		add(it, name, CHECK_OK,
		    arena_printf(it->found.mem, "%s can be read", url));
	else
		fail_store(it, name, &err);
}

/* Checks that files can be made there, or in the folder that is to hold it. */
static void check_folder(struct examined *it, const char *name,
			 const char *folder)
{
	char *path = mem_strdup(folder);
	struct error err;

	while (access(path, F_OK) < 0 && strcmp(path, "/") != 0) {
		char *up = path_folder(path);

		free(path);
		path = up;
	}
	if (access(path, W_OK) == 0) {
		add(it, name, CHECK_OK,
		    arena_printf(it->found.mem, "%s can be written", folder));
	} else {
		error_errno(&err, "cannot write to '%s'", path);
		fail(it, name, &err);
	}
	free(path);
}

/* Whether it is on a web server, which only the file names. */
static bool is_web(const char *where)
{
	return text_starts(where, "http://") || text_starts(where, "https://");
}

/* Where a job reads from or writes to: a bucket or a folder. */
static void check_where(struct examined *it, struct object_store *store,
			const char *name, const char *where)
{
	if (!where || is_web(where))
		return;
	if (strstr(where, "://"))
		check_bucket(it, store, name, where);
	else if (is_here(it))
		check_folder(it, name, job_path(it->job, where));
}

static void check_package(struct examined *it, struct object_store *store,
			  const char *url)
{
	struct object object;
	char size[32];
	struct error err;

	if (!strstr(url, "://")) {
		check_file(it, "package", url);
		return;
	}
	if (is_web(url))
		return;
	if (object_check(store, url, &err) < 0 ||
	    object_stat(store, url, it->found.mem, &object, &err) < 0) {
		fail_store(it, "package", &err);
	} else if (!object.exists) {
		error_set(&err, ERROR_FAILED, "there is no '%s': upload it",
			  url);
		fail(it, "package", &err);
	} else {
		size_format(object.size_bytes, size, sizeof(size));
		add(it, "package", CHECK_OK,
		    arena_printf(it->found.mem, "%s, %s", url, size));
	}
}

static void check_stores(struct examined *it)
{
	static const struct retry_policy once = { 0 };
	const struct object_env env = { .trace_http = it->env->trace_http,
					.retry = &once };
	struct object_store *store = object_store_new(object_schemes, &env);
	const struct training_input *input = &it->job->training_input;
	const struct jobrun_block *block = &it->job->jobrun;
	size_t i;

	for (i = 0; i < input->package_uris.count; i++)
		check_package(it, store, input->package_uris.items[i]);
	check_where(it, store, "jobDir", input->job_dir);
	check_where(it, store, "staging", block->staging);
	check_where(it, store, "checkpoints",
		    job_has(it->job, "checkpoints") ? block->checkpoints.to
						    : NULL);
	check_where(it, store, "logs", block->logs.to);
	object_store_free(store);
}

/* ---- a job ---- */

static void *examine(void *arg)
{
	struct examined *it = arg;

	check_secrets(it);
	check_stores(it);
	if (it->unseen)
		add(it, "place", CHECK_MISSING, NULL)->advice =
			arena_printf(it->found.mem,
				     "%s is not contacted, as only the job "
				     "file names it: pass --allow-connect",
				     it->unseen);
	else if (it->provider->doctor_job)
		it->provider->doctor_job(it->job, it->env, &it->found);
	return NULL;
}

/* Starts the checks of as many as may go on together, and waits for them. */
static void examine_some(struct examined *all, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		all[i].is_thread = pthread_create(&all[i].thread, NULL, examine,
						  &all[i]) == 0;
		if (!all[i].is_thread)
			examine(&all[i]);
	}
	for (i = 0; i < count; i++)
		if (all[i].is_thread)
			pthread_join(all[i].thread, NULL);
}

/* ---- its plan ---- */

static const struct resources *desired_of(const struct session *session,
					  const struct job *job)
{
	size_t i;

	for (i = 0; i < session->job_count; i++) {
		const struct resources *one = session->desired[i];

		if (one && one->count && one->items[0]->job == job)
			return one;
	}
	return NULL;
}

static const struct unplanned *unplanned_of(const struct session *session,
					    const struct job *job)
{
	size_t i;

	for (i = 0; i < session->unplanned_count; i++)
		if (!strcmp(session->unplanned[i].job_id, job->job_id))
			return &session->unplanned[i];
	return NULL;
}

/* Leaves out the job's name, which its group has. */
static const char *after_name(const char *text, const char *job_id)
{
	char *name = mem_printf("job '%s': ", job_id);
	size_t len = strlen(name);
	bool has = !strncmp(text, name, len);

	free(name);
	return has ? text + len : text;
}

/* Adds what the file lacks, which rights the user lacks, and whether what
 * exists was looked at. */
static void add_plan(const struct session *session, const struct job *job,
		     struct checks *all)
{
	const struct resources *want = desired_of(session, job);
	const struct unplanned *failed = unplanned_of(session, job);
	const char *id = arena_strdup(all->mem, job->job_id);
	size_t i, first_denied;

	if (failed)
		checks_bad(all, id, "plan", failed->why.code,
			   arena_strdup(all->mem,
					after_name(failed->why.text, id)));
	if (failed || !want)
		return;
	first_denied = want->missing_count - want->denied_count;
	for (i = 0; i < want->missing_count; i++)
		checks_bad(all, id, i < first_denied ? "settings" : "right",
			   i < first_denied ? ERROR_INVALID : ERROR_DENIED,
			   arena_strdup(all->mem, want->missing[i]));
	if (want->unknown)
		checks_add(all, id, "plan", CHECK_MISSING, NULL)->advice =
			arena_strdup(all->mem, want->unknown);
	else if (!want->missing_count)
		checks_add(all, id, "plan", CHECK_OK,
			   "'jobrun apply' can start it");
}

/* Plans the jobs that have nothing bad, as the others would only fail again. */
static void plan_good(struct session *session, const struct jobs *jobs,
		      struct examined *all)
{
	const struct plan_options options = { 0 };
	struct jobs good = { 0 };
	size_t i;

	good.items = mem_alloc((jobs->count + 1) * sizeof(*good.items));
	for (i = 0; i < jobs->count; i++)
		if (!all[i].found.worst)
			good.items[good.count++] = jobs->items[i];
	if (good.count)
		session_plan(session, &good, &options);
	free(good.items);
}

void doctor_jobs(struct session *session, const struct jobs *jobs,
		 struct checks *all)
{
	struct examined *each = mem_alloc((jobs->count + 1) * sizeof(*each));
	size_t i, n;

	for (i = 0; i < jobs->count; i++) {
		struct examined *it = &each[i];

		*it = (struct examined){
			.job = jobs->items[i],
			.env = &session->env,
			.provider =
				provider_find(jobs->items[i]->jobrun.provider),
		};
		it->found.mem = arena_new();
		it->unseen =
			provider_unseen(it->provider, it->job,
					session->env.boundary, it->found.mem);
		add(it, "provider", CHECK_OK,
		    arena_printf(it->found.mem, "%s, %s", it->provider->name,
				 it->provider->summary));
	}
	for (i = 0; i < jobs->count; i += n) {
		n = jobs->count - i < AT_ONCE ? jobs->count - i : AT_ONCE;
		examine_some(each + i, n);
	}
	plan_good(session, jobs, each);
	for (i = 0; i < jobs->count; i++) {
		checks_copy(&each[i].found, jobs->items[i]->job_id, all);
		if (!each[i].found.worst)
			add_plan(session, jobs->items[i], all);
		free(each[i].found.items);
		arena_free(each[i].found.mem);
	}
	free(each);
}
