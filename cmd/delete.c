/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/commands.h"
#include "cmd/load.h"
#include "cmd/session.h"

struct delete_opts {
	struct load_opts load;
};

/* Everything that one job made, at the provider of its newest run. */
static int delete_job(struct session *session, const char *job_id,
		      struct error *err)
{
	struct arena *mem = arena_new();
	const struct provider *provider;
	struct resource resource;
	struct run_record run;
	void *ctx;
	int ret = -1;

	if (session_run(session, job_id, 0, mem, &run, err) < 0)
		goto out;
	resource = session_resource(&run, &provider);
	ctx = provider ? session_context(session, provider, err) : NULL;
	if (!ctx)
		goto out;
	ret = resource.kind->delete(ctx, &resource, err);
	if (ret < 0)
		error_prefix(err, "delete '%s'", job_id);
	else
		app_say(session->app, "%s: deleted", job_id);
out:
	arena_free(mem);
	return ret;
}

/* Nobody else works on it meanwhile. */
static int delete_locked(struct session *session, const char *job_id,
			 struct error *err)
{
	int ret = session_lock(session, &job_id, 1, 0, err);

	if (ret == 0)
		ret = delete_job(session, job_id, err);
	lock_set_free(session->locks);
	session->locks = NULL;
	return ret;
}

/* A job's name can't hold what makes a path of an argument. */
static bool is_path(const char *argument)
{
	struct stat st;

	return strpbrk(argument, "./") || !strcmp(argument, "-") ||
	       (stat(argument, &st) == 0 && S_ISDIR(st.st_mode));
}

static int delete_argument(struct session *session,
			   const struct schema_options *schema, char *argument)
{
	struct app *app = session->app;
	struct jobs jobs;
	struct error err;
	int status;
	size_t i;

	if (!is_path(argument)) {
		if (delete_locked(session, argument, &err) < 0)
			return app_fail(app, &err);
		return 0;
	}
	status = load_jobs(app, schema, &argument, 1, &jobs);
	if (status)
		return status;
	for (i = 0; i < jobs.count; i++)
		if (delete_locked(session, jobs.items[i]->job_id, &err) < 0)
			status = app_fail(app, &err);
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
	schema = load_options(&opts.load);
	if (session_open(&session, app, SESSION_WRITE, &err) < 0) {
		status = app_fail(app, &err);
	} else {
		for (; i < argc; i++) {
			int one = delete_argument(&session, &schema, argv[i]);

			status = status ? status : one;
		}
	}
	session_close(&session);
	return status;
}

const struct command cmd_delete = {
	.name = "delete",
	.args = "JOB|PATH...",
	.summary = "delete all that a job made: runs, logs, resources",
	.help = "A run that still goes on has to be cancelled first.\n",
	.shared = load_rows,
	.shared_offset = offsetof(struct delete_opts, load),
	.run = run,
};
