/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/load.h"
#include "core/base/file.h"

struct validate_opts {
	const char *format;
	const char *job_id;
	const char *provider;
	bool strict;
};

static const struct opt options[] = {
	{ 0, "format", OPT_STRING, offsetof(struct validate_opts, format),
	  "FORMAT", "text (default) or json" },
	{ 0, "job-id", OPT_STRING, offsetof(struct validate_opts, job_id), "ID",
	  "the jobId of a file that has none" },
	{ 0, "provider", OPT_STRING, offsetof(struct validate_opts, provider),
	  "NAME", "instead of the file's jobrun.provider" },
	{ 0, "strict", OPT_FLAG, offsetof(struct validate_opts, strict), NULL,
	  "warnings are errors" },
	{ 0 },
};

static int run(struct app *app, int argc, char **argv)
{
	struct validate_opts opts = { .format = "text" };
	struct schema_options schema = load_options();
	struct problems found = { 0 };
	struct jobs jobs = { 0 };
	struct buf text = { 0 };
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_validate, argc, argv, &opts, 1, INT_MAX,
			      &status);
	if (first < 0)
		return status;
	if (strcmp(opts.format, "text") != 0 &&
	    strcmp(opts.format, "json") != 0) {
		error_set(&err, ERROR_USAGE,
			  "--format takes text or json, not '%s'", opts.format);
		return app_fail(app, &err);
	}
	schema.job_id = opts.job_id;
	schema.provider = opts.provider;
	schema.strict = opts.strict;
	if (schema_load(argv + first, (size_t)(argc - first), &schema, &jobs,
			&found, &err) < 0)
		return app_fail(app, &err);
	problems_sort(&found);
	if (!strcmp(opts.format, "json"))
		problems_json(&found, &text);
	else
		problems_text(&found, app->out_color ? PROBLEMS_COLOUR : 0,
			      &text);
	app_print(app, &text);
	if (problems_errors(&found))
		status = ERROR_INVALID;
	else if (app->err_terminal)
		app_say(app, "%zu job%s, no errors", jobs.count,
			jobs.count == 1 ? "" : "s");
	buf_done(&text);
	problems_done(&found);
	jobs_done(&jobs);
	return status;
}

const struct command cmd_validate = {
	.name = "validate",
	.args = "[--format text|json] PATH...",
	.summary = "check job files: every problem, with its line",
	.help = "A PATH is a file, a directory (read recursively), or - for "
		"standard input.\n"
		"Works offline.  Exits 65 if any file has an error.\n",
	.options = options,
	.run = run,
};
