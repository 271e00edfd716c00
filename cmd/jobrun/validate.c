/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/load.h"
#include "schema/catalogue/catalogue_get.h"
#include "cmd/jobrun/validate_fix.h"
#include "core/base/alloc.h"

struct validate_opts {
	struct load_opts load;
	const char *format;
	long max_problems;
	bool strict;
	bool verbose;
	bool fix;
	bool yes;
};

static const struct opt options[] = {
	{ 0, "format", OPT_CHOICE, offsetof(struct validate_opts, format),
	  "text|json|sarif|github", "the output format; text is the default" },
	{ 0, "max-problems", OPT_NUMBER,
	  offsetof(struct validate_opts, max_problems), "N",
	  "how many of each kind to show (1000; 0: all)" },
	{ 0, "strict", OPT_FLAG, offsetof(struct validate_opts, strict), NULL,
	  "treat warnings, and files without a job, as errors" },
	{ 'v', "verbose", OPT_FLAG, offsetof(struct validate_opts, verbose),
	  NULL, "show every note on its own" },
	{ 0, "fix", OPT_FLAG, offsetof(struct validate_opts, fix), NULL,
	  "show fixes as a diff; ask before writing them" },
	{ 0, "yes", OPT_FLAG, offsetof(struct validate_opts, yes), NULL,
	  "with --fix: write without asking" },
	{ 0 },
};

static void put_text(const struct app *app, const struct problems *found,
		     struct buf *out)
{
	problems_text(found, app->out_color ? PROBLEMS_COLOUR : 0, out);
}

static void put_json(const struct app *app, const struct problems *found,
		     struct buf *out)
{
	(void)app;
	problems_json(found, out);
}

static void put_sarif(const struct app *app, const struct problems *found,
		      struct buf *out)
{
	(void)app;
	problems_sarif(found, out);
}

static void put_github(const struct app *app, const struct problems *found,
		       struct buf *out)
{
	(void)app;
	problems_github(found, out);
}

static const struct format {
	const char *name;
	void (*put)(const struct app *app, const struct problems *found,
		    struct buf *out);
} formats[] = {
	{ "text", put_text },
	{ "json", put_json },
	{ "sarif", put_sarif },
	{ "github", put_github },
};

/* Returns the format with a name that the option has checked. */
static const struct format *find_format(const char *name)
{
	size_t i = 0;

	while (strcmp(formats[i].name, name) != 0)
		i++;
	return &formats[i];
}

/* Says how many problems there are, and what to do about them. */
static void say_summary(struct app *app, const struct problems *found, bool fix)
{
	struct buf text = { 0 };
	size_t i, fixable = 0;

	problems_summary(found, &text);
	for (i = 0; i < found->count && !fix; i++)
		fixable += found->items[i].edit_count &&
			   strcmp(found->items[i].at.file, "-") != 0;
	if (!text.len || !found->count)
		goto out;
	buf_printf(&text, "; 'jobrun explain %s' explains it",
		   found->items[0].rule);
	if (fixable)
		buf_printf(&text, ", 'jobrun validate --fix' fixes %zu",
			   fixable);
	app_say(app, "%s", text.data);
out:
	buf_done(&text);
}

static int run(struct app *app, int argc, char **argv)
{
	struct validate_opts opts = { .format = "text",
				      .max_problems = LOAD_PROBLEMS_MAX };
	struct schema_options schema;
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
	if (load_options(&opts.load, app, &schema, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	schema.strict = opts.strict;
	schema.check_only = true;
	schema.each_note = opts.verbose || opts.strict;
	schema.limit = (size_t)opts.max_problems;
	if ((opts.fix || opts.yes) &&
	    (strcmp(opts.format, "text") != 0 || !opts.fix)) {
		error_set(&err, ERROR_USAGE,
			  "--yes needs --fix, and --fix needs --format text");
		status = app_fail(app, &err);
		goto out;
	}
	catalogue_beside(argv[first]);
	if (schema_load(argv + first, (size_t)(argc - first), &schema, &jobs,
			&found, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	if (opts.fix && found.count) {
		int mended = validate_fix(app, &schema, &found, opts.yes, &err);

		if (mended < 0)
			status = app_fail(app, &err);
		/* Show the remaining problems of the files as they are now. */
		else if (mended > 0) {
			problems_done(&found);
			jobs_done(&jobs);
			schema_load(argv + first, (size_t)(argc - first),
				    &schema, &jobs, &found, &err);
		}
	}
	find_format(opts.format)->put(app, &found, &text);
	app_print(app, &text);
	load_say_omitted(app, &found);
	if (!strcmp(opts.format, "text"))
		say_summary(app, &found, opts.fix);
	if (problems_errors(&found))
		status = ERROR_INVALID;
	else if (app->err_terminal)
		app_say(app, "%zu job%s, no errors", jobs.count,
			jobs.count == 1 ? "" : "s");
out:
	load_done(&opts.load);
	buf_done(&text);
	problems_done(&found);
	jobs_done(&jobs);
	return status;
}

const struct command cmd_validate = {
	.name = "validate",
	.group = GROUP_FILES,
	.args = "[--format text|json|sarif|github] PATH...",
	.summary = "check job files: every problem, with its line",
	.help = PATH_HELP ".  Works offline.  Exits 65 if any file has an "
			  "error.\n"
			  "  jobrun validate jobs/\n"
			  "  jobrun validate --fix job.yaml\n",
	.options = options,
	.shared = load_rows,
	.shared_offset = offsetof(struct validate_opts, load),
	.run = run,
};
