/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/doctor_job.h"
#include "cmd/jobrun/ui/doctor_state.h"
#include "cmd/jobrun/ui/load.h"
#include "cmd/jobrun/view/rows.h"
#include "core/base/json.h"
#include "core/base/library.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/read/yaml_read.h"

#define CATALOGUE_OLD_DAYS 365
#define PROVIDERS_MAX 16

struct doctor_opts {
	struct load_opts load;
	const char *format;
	const char *output;
};

static const char *const state_names[] = {
	[CHECK_OK] = "ok",
	[CHECK_MISSING] = "missing",
	[CHECK_BAD] = "bad",
};

static const struct {
	const char *name;
	const char *advice;
} tools[] = {
	{ "ssh", "needed for jobrun.hosts, tpu-vm and tpu-node: install "
		 "OpenSSH's client" },
	{ "git", "needed to know which commit a job is from: install git" },
	{ "python3", "needed for jobs that name a pythonModule: install "
		     "Python 3" },
};

/* Libraries that are opened when first used, so their absence would show
 * late. */
static const struct {
	const char *name;
	const char *file;
	const char *advice;
} libraries[] = {
	{ "libcrypto", "libcrypto.so.3", "install OpenSSL 3" },
	{ "libarchive", "libarchive.so.13", "install libarchive" },
	{ "libcurl", "libcurl.so.4", "install libcurl" },
};

static void look_for_tools(struct checks *all)
{
	size_t i;

	for (i = 0; i < COUNT(tools); i++)
		checks_program(all, tools[i].name, tools[i].advice);
}

static void look_for_libraries(struct checks *all)
{
	static const struct library_symbol none[] = { { NULL, NULL } };
	struct error err;
	size_t i;

	for (i = 0; i < COUNT(libraries); i++) {
		if (library_open(libraries[i].file, none, &err) == 0) {
			checks_add(all, "libraries", libraries[i].name,
				   CHECK_OK, libraries[i].file);
			continue;
		}
		checks_add(all, "libraries", libraries[i].name, CHECK_BAD, NULL)
			->advice = arena_printf(all->mem, "%s: %s", err.text,
						libraries[i].advice);
		if (!all->worst)
			all->worst = ERROR_FAILED;
	}
}

/* Warns if the catalogue is old, since newer hardware gets no more than
 * warnings. */
static void look_at_catalogue(struct checks *all)
{
	const struct catalogue *catalogue;
	struct tm kept = { 0 };
	struct error err;
	long days = 0;

	catalogue = catalogue_get(&err);
	if (!catalogue) {
		checks_fail(all, "catalogue", "rows", &err);
		return;
	}
	if (strptime(catalogue->date, "%Y-%m-%d", &kept))
		days = (long)((time(NULL) - timegm(&kept)) / 86400);
	checks_add(all, "catalogue", "date", CHECK_OK,
		   arena_printf(all->mem, "%s, %ld day%s old", catalogue->date,
				days, days == 1 ? "" : "s"));
	if (days > CATALOGUE_OLD_DAYS)
		checks_add(all, "catalogue", "age", CHECK_MISSING, NULL)
			->advice = arena_printf(
			all->mem,
			"%ld days old: newer hardware gets a warning; update "
			"jobrun or pass --catalogue",
			days);
}

/* The checks of a provider, in a thread of their own. */
struct asked {
	const struct provider *provider;
	const struct provider_env *env;
	pthread_t thread;
	bool is_thread;
	struct checks found;
};

static void *ask(void *arg)
{
	struct asked *asked = arg;

	asked->provider->doctor(asked->env, &asked->found);
	return NULL;
}

/* Adds what was found to the list of all. */
static void take(struct asked *asked, struct checks *all)
{
	if (asked->is_thread)
		pthread_join(asked->thread, NULL);
	checks_copy(&asked->found, NULL, all);
	free(asked->found.items);
	arena_free(asked->found.mem);
}

/* Runs the checks of all providers side by side, so that a place that is away
 * keeps no other waiting; a check that several share runs once. */
static void ask_providers(const struct app *app, struct checks *all)
{
	const struct provider_env env = { .trace_http = app->trace_http,
					  .read_yaml = yaml_read };
	struct asked asked[PROVIDERS_MAX] = { 0 };
	size_t i, j, n = 0;

	for (i = 0; providers[i] && n < PROVIDERS_MAX; i++) {
		struct asked *one = &asked[n];

		if (!providers[i]->doctor)
			continue;
		for (j = 0; providers[j]->doctor != providers[i]->doctor;)
			j++;
		if (j != i)
			continue;
		one->provider = providers[i];
		one->env = &env;
		one->found.mem = arena_new();
		n++;
		one->is_thread =
			pthread_create(&one->thread, NULL, ask, one) == 0;
		if (!one->is_thread)
			ask(one);
	}
	for (i = 0; i < n; i++)
		take(&asked[i], all);
}

static void put_text(const struct checks *all, struct buf *out)
{
	const char *group = "";
	size_t i;

	for (i = 0; i < all->count; i++) {
		const struct doctor_check *check = &all->items[i];

		if (strcmp(group, check->group) != 0)
			buf_printf(out, "%s%s\n", i ? "\n" : "", check->group);
		group = check->group;
		buf_printf(out, "  %-7s  %-24s  %s", state_names[check->state],
			   check->name,
			   check->value    ? check->value
			   : check->advice ? check->advice
					   : "");
		if (check->source)
			buf_printf(out, "  (%s)", check->source);
		buf_putc(out, '\n');
	}
}

static int put_rows(const struct checks *all, const char *format,
		    struct buf *out, struct error *err)
{
	int ret;
	json_t *list = json_array(), *document = json_object();
	size_t i;

	for (i = 0; i < all->count; i++) {
		const struct doctor_check *check = &all->items[i];
		json_t *one = json_object();

		json_put_text(one, "group", check->group);
		json_put_text(one, "name", check->name);
		json_put_text(one, "state", state_names[check->state]);
		json_put_text(one, "value", check->value);
		json_put_text(one, "source", check->source);
		json_put_text(one, "advice", check->advice);
		json_array_append_new(list, one);
	}
	json_put_int(document, "formatVersion", 1);
	json_put(document, "checks", list);
	ret = rows_put(document, "checks", "name", format, out, err);
	json_decref(document);
	return ret;
}

static const struct opt options[] = {
	{ 0, "format", OPT_CHOICE, offsetof(struct doctor_opts, format),
	  "text|json", "the output format; text is the default" },
	{ 'o', "output", OPT_STRING, offsetof(struct doctor_opts, output),
	  "FORM", ROWS_FORMATS },
	{ 0, "allow-connect", OPT_FLAG,
	  offsetof(struct doctor_opts, load.connect), NULL,
	  "contact hosts in files; default on a terminal" },
	{ 0 },
};

/* What any job may need here. */
static void check_machine(struct app *app, struct checks *all)
{
	look_for_tools(all);
	look_for_libraries(all);
	look_at_catalogue(all);
	doctor_state(all);
	ask_providers(app, all);
}

/* What the jobs of these files need.  Returns the exit status of what kept it
 * from being checked. */
static int check_jobs(struct app *app, struct doctor_opts *opts,
		      char *const *paths, size_t count, struct checks *all)
{
	struct session session = { 0 };
	struct schema_options schema;
	struct jobs jobs = { 0 };
	struct error err;
	int status;

	if (load_options(&opts->load, app, &schema, &err) < 0)
		return app_fail(app, &err);
	status = load_jobs(app, &schema, paths, count, &jobs);
	if (status)
		return status;
	if (session_open(&session, app, SESSION_CATALOGUE, &err) < 0) {
		status = app_fail(app, &err);
	} else {
		session.env.boundary = &opts->load.boundary;
		doctor_jobs(&session, &jobs, all);
	}
	session_close(&session);
	jobs_done(&jobs);
	return status;
}

/* Returns the exit status. */
static int show(struct app *app, const struct checks *all, const char *format)
{
	int status = (int)all->worst;
	struct buf text = { 0 };
	struct error err;

	if (rows_is_text(format))
		put_text(all, &text);
	else if (put_rows(all, format, &text, &err) < 0)
		status = app_fail(app, &err);
	app_print(app, &text);
	buf_done(&text);
	return status;
}

static int run(struct app *app, int argc, char **argv)
{
	struct doctor_opts opts = { .format = "text" };
	struct checks all = { 0 };
	int status = 0, first;
	struct error err;

	first = options_parse(app, &cmd_doctor, argc, argv, &opts, 0, INT_MAX,
			      &status);
	if (first < 0)
		return status;
	if (opts.output)
		opts.format = opts.output;
	if (rows_check(opts.format, &err) < 0)
		return app_fail(app, &err);
	all.mem = arena_new();
	if (first < argc)
		status = check_jobs(app, &opts, argv + first,
				    (size_t)(argc - first), &all);
	else
		check_machine(app, &all);
	if (!status)
		status = show(app, &all, opts.format);
	load_done(&opts.load);
	free(all.items);
	arena_free(all.mem);
	return status;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.group = GROUP_MACHINE,
	.args = "[-o FORM] [PATH...]",
	.summary = "check what is installed, reachable and authorised",
	.help = "Without a PATH, checks whatever a job may need.  Given job "
		"files, checks only\n"
		"what these jobs need: programs, modules, secrets, buckets, "
		"their hosts, cluster\n"
		"or project, and your rights there.\n"
		"Something missing is not a failure: only some jobs need it.  "
		"Exits 77 if\n"
		"credentials are refused, 69 if a service can't be reached, 65 "
		"if a job lacks a\n"
		"setting.\n"
		"  jobrun doctor --format json\n"
		"  jobrun doctor job.yaml\n",
	.options = options,
	.shared = load_rows,
	.shared_offset = offsetof(struct doctor_opts, load),
	.remote = true,
	.run = run,
};
