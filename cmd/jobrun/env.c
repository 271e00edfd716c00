/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/load.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/view/sources.h"
#include "core/base/json.h"
#include "providers/registry.h"

struct env_opts {
	struct load_opts load;
	const char *task;
	long index;
	const char *format;
	bool all;
};

static const struct opt options[] = {
	{ 0, "task", OPT_STRING, offsetof(struct env_opts, task), "TYPE",
	  "master (default), worker, ps or evaluator" },
	{ 0, "index", OPT_NUMBER, offsetof(struct env_opts, index), "N",
	  "the index of the task; the first is 0" },
	{ 0, "all", OPT_FLAG, offsetof(struct env_opts, all), NULL,
	  "also variables inherited from this environment" },
	{ 0, "format", OPT_CHOICE, offsetof(struct env_opts, format),
	  "text|shell|json", "the output format; text is the default" },
	{ 0 },
};

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Writes export NAME='…' in a form that every shell reads back unchanged. */
static void put_shell(const char *item, struct buf *out)
{
	const char *p = strchr(item, '=') + 1;

	buf_printf(out, "export %.*s'", (int)(p - item), item);
	for (; *p; p++) {
		if (*p == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *p);
	}
	buf_puts(out, "'\n");
}

static void put_json(const struct environment *env, struct buf *out)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < env->count; i++) {
		const char *equals = strchr(env->items[i], '=');
		char *name = mem_printf("%.*s", (int)(equals - env->items[i]),
					env->items[i]);

		json_put_text(object, name, equals + 1);
		free(name);
	}
	json_print(object, out);
	json_decref(object);
}

static void print_env(struct app *app, struct environment *env,
		      const char *format)
{
	struct buf out = { 0 };
	size_t i;

	if (env->count)
		qsort(env->items, env->count, sizeof(*env->items), compare);
	if (!strcmp(format, "json"))
		put_json(env, &out);
	for (i = 0; i < env->count && strcmp(format, "json") != 0; i++) {
		if (!strcmp(format, "shell"))
			put_shell(env->items[i], &out);
		else
			buf_printf(&out, "%s\n", env->items[i]);
	}
	app_print(app, &out);
	buf_done(&out);
}

/* Inherits our environment, without the variables that secrets come from. */
static void inherit(const struct job *job, struct environment *env)
{
	const struct secret *secrets = job->jobrun.secrets.items;
	size_t count = job->jobrun.secrets.count;
	char **item;

	for (item = environ; *item; item++) {
		size_t len = strcspn(*item, "=");
		size_t i = 0;

		while (i < count &&
		       (!secrets[i].env || strlen(secrets[i].env) != len ||
			strncmp(secrets[i].env, *item, len) != 0))
			i++;
		if (i == count)
			environment_inherit(env, (char *[]){ *item, NULL });
	}
}

static int find_env(struct session *session, struct job *job,
		    const struct env_opts *opts, struct environment *env,
		    struct error *err)
{
	const struct provider *provider = provider_find(job->jobrun.provider);
	const struct secret *secrets = job->jobrun.secrets.items;
	enum task_type type = TASK_MASTER;
	void *ctx;
	size_t i;

	if (sources_type(opts->task, &type, err) < 0)
		return -1;
	if (!provider->environment)
		return error_set(err, ERROR_USAGE,
				 "the provider %s sets the tasks' variables at "
				 "run time",
				 provider->name);
	ctx = session_context(session, provider, err);
	if (!ctx || job_digest(job, err) < 0 ||
	    provider->environment(ctx, job, type, (int)opts->index, env, err) <
		    0)
		return -1;
	if (opts->all)
		inherit(job, env);
	for (i = 0; i < job->jobrun.secrets.count; i++)
		app_say(session->app, "also %s, a secret from %s '%s'",
			secrets[i].name,
			secrets[i].env ? "the variable" : "the file",
			secrets[i].env ? secrets[i].env : secrets[i].file);
	return 0;
}

static int run(struct app *app, int argc, char **argv)
{
	struct schema_options schema;
	struct env_opts opts = { .format = "text" };
	struct session session = { 0 };
	struct environment env = { 0 };
	struct jobs jobs = { 0 };
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_env, argc, argv, &opts, 1, 1, &status);
	if (first < 0)
		return status;
	if (load_options(&opts.load, app, &schema, &err) < 0)
		status = app_fail(app, &err);
	else
		status = load_jobs(app, &schema, argv + first, 1, &jobs);
	load_done(&opts.load);
	if (status)
		return status;
	if (jobs.count > 1) {
		error_set(&err, ERROR_USAGE,
			  "'%s' holds %zu jobs; 'env' takes one", argv[first],
			  jobs.count);
		status = app_fail(app, &err);
	} else if (session_open(&session, app, SESSION_CATALOGUE, &err) < 0 ||
		   find_env(&session, jobs.items[0], &opts, &env, &err) < 0) {
		status = app_fail(app, &err);
	} else {
		print_env(app, &env, opts.format);
	}
	environment_done(&env);
	session_close(&session);
	jobs_done(&jobs);
	return status;
}

const struct command cmd_env = {
	.name = "env",
	.group = GROUP_FILES,
	.args = "[--task TYPE] [--index N] PATH",
	.summary = "print every variable that a task of the job will see",
	.help = "If the newest run was started from this very file, shows what "
		"its tasks saw;\n"
		"else what the next run's would see.  Never shows values of "
		"secrets.\n"
		"  jobrun env --task worker --index 0 job.yaml\n",
	.options = options,
	.shared = load_rows,
	.shared_offset = offsetof(struct env_opts, load),
	.run = run,
};
