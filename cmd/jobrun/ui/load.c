/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/load.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/jobrun/ui/app.h"
#include "cmd/jobrun/ui/known.h"
#include "core/base/alloc.h"
#include "core/base/opt.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"

#define PROVIDER_MAX 16

const struct opt load_rows[] = {
	{ 0, "job-id", OPT_STRING, offsetof(struct load_opts, job_id), "ID",
	  "the jobId for a file that has none" },
	{ 0, "provider", OPT_STRING, offsetof(struct load_opts, provider),
	  "NAME", "override jobrun.provider of the file" },
	{ 0, "set", OPT_LIST, offsetof(struct load_opts, sets), "PATH=VALUE",
	  "override a value: trainingInput.args[0]=--fast" },
	{ 0, "set-json", OPT_LIST, offsetof(struct load_opts, sets),
	  "PATH=JSON", "the same for a list, a map or any other JSON" },
	{ 0, "untrusted", OPT_FLAG, offsetof(struct load_opts, untrusted), NULL,
	  "keep paths inside the repository; default with CI" },
	{ 0, "allow-outside", OPT_LIST, offsetof(struct load_opts, outside),
	  "DIR", "allow paths below DIR, too" },
	{ 0, "catalogue", OPT_STRING, offsetof(struct load_opts, catalogue),
	  "FILE", "hardware and prices that override jobrun's own" },
	{ 0 },
};

struct schema_options load_plain_options(void)
{
	static struct schema_provider known[PROVIDER_MAX];
	struct schema_options options = { 0 };
	size_t i;

	for (i = 0; i < COUNT(known) && providers[i]; i++) {
		known[i].name = providers[i]->name;
		known[i].block = providers[i]->block;
		known[i].traits = providers[i]->traits;
	}
	options.providers = known;
	options.provider_count = i;
	options.limit = LOAD_PROBLEMS_MAX;
	return options;
}

static int make_boundary(struct load_opts *opts, const struct app *app,
			 struct error *err)
{
	struct boundary *boundary = &opts->boundary;
	size_t i;

	if (boundary_init(boundary, err) < 0)
		return -1;
	if (opts->connect || (!boundary->untrusted && !opts->untrusted &&
			      (app->err_terminal || app->out_terminal)))
		boundary->connect = true;
	if (opts->untrusted)
		boundary->untrusted = true;
	for (i = 0; i < opts->outside.count; i++)
		if (boundary_allow(boundary, opts->outside.items[i].value,
				   err) < 0)
			return error_prefix(err, "--allow-outside");
	return 0;
}

void load_catalogue(const char *path)
{
	/* Processes that we start use the same catalogue. */
	if (path)
		setenv("JOBRUN_CATALOGUE", path, 1);
}

int load_options(struct load_opts *opts, const struct app *app,
		 struct schema_options *out, struct error *err)
{
	size_t i;

	*out = load_plain_options();
	for (i = 0; i < opts->sets.count; i++) {
		opts->parsed[i].text = opts->sets.items[i].value;
		opts->parsed[i].json =
			!strcmp(opts->sets.items[i].opt->name, "set-json");
	}
	out->job_id = opts->job_id;
	out->provider = opts->provider;
	out->sets = opts->parsed;
	out->set_count = opts->sets.count;
	out->boundary = &opts->boundary;
	load_catalogue(opts->catalogue);
	return make_boundary(opts, app, err);
}

void load_done(struct load_opts *opts)
{
	boundary_done(&opts->boundary);
}

void load_say_omitted(const struct app *app, const struct problems *found)
{
	size_t n = problems_omitted(found);

	if (n)
		app_say(app, "%zu more problem%s not shown", n,
			n == 1 ? " is" : "s are");
}

static int load(const struct app *app, const struct schema_options *options,
		char *const *paths, size_t count, struct jobs *out)
{
	struct schema_options how = *options;
	struct problems found = { 0 };
	struct buf text = { 0 };
	struct known known;
	struct error err;
	int status = 0;

	*out = (struct jobs){ 0 };
	known_init(&known);
	if (count)
		catalogue_beside(paths[0]);
	how.is_known = known_is;
	how.arg = &known;
	if (schema_load(paths, count, &how, out, &found, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	problems_text(&found, app->err_color ? PROBLEMS_COLOUR : 0, &text);
	app_put_messages(app, &text);
	load_say_omitted(app, &found);
	if (problems_errors(&found))
		status = ERROR_INVALID;
out:
	if (status)
		jobs_done(out);
	buf_done(&text);
	problems_done(&found);
	known_done(&known);
	return status;
}

int load_jobs_or_none(const struct app *app,
		      const struct schema_options *options, char *const *paths,
		      size_t count, struct jobs *out)
{
	struct schema_options how = *options;

	how.may_be_empty = true;
	return load(app, &how, paths, count, out);
}

int load_jobs(const struct app *app, const struct schema_options *options,
	      char *const *paths, size_t count, struct jobs *out)
{
	int status = load(app, options, paths, count, out);

	if (status || out->count)
		return status;
	app_say(app, "no job found there");
	jobs_done(out);
	return ERROR_INVALID;
}
