/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/load.h"
#include "cmd/saved.h"
#include "cmd/session.h"
#include "core/base/json.h"

#define PENDING 2

struct plan_opts {
	struct load_opts load;
	const char *format;
	const char *out;
	bool detailed_exitcode;
	bool rerun;
	struct opt_list targets;
	const char *prices;
};

static const struct opt options[] = {
	{ 0, "format", OPT_STRING, offsetof(struct plan_opts, format), "FORMAT",
	  "text (default), json or markdown" },
	{ 0, "out", OPT_STRING, offsetof(struct plan_opts, out), "FILE",
	  "save the plan, for 'apply FILE'" },
	{ 0, "detailed-exitcode", OPT_FLAG,
	  offsetof(struct plan_opts, detailed_exitcode), NULL,
	  "exit with 2 if there is something to do" },
	{ 0, "rerun", OPT_FLAG, offsetof(struct plan_opts, rerun), NULL,
	  "as 'apply --rerun' would" },
	{ 0, "target", OPT_LIST, offsetof(struct plan_opts, targets), "ACTION",
	  "only this action (id or KIND/NAME) and what it needs" },
	{ 0, "prices", OPT_STRING, offsetof(struct plan_opts, prices), "FILE",
	  "what machines cost, to estimate what runs will" },
	{ 0 },
};

static void print_plan(struct app *app, const struct plan *plan,
		       const char *format)
{
	struct plan_style style = { .color = app->out_color,
				    .width = app->out_terminal ? app->width
							       : 0 };
	struct buf text = { 0 };

	if (!strcmp(format, "json")) {
		json_t *value = plan_json(plan);

		json_print(value, &text);
		json_decref(value);
	} else if (!strcmp(format, "markdown")) {
		plan_render_markdown(plan, &text);
	} else {
		plan_render_text(plan, &style, &text);
	}
	app_print(app, &text);
	buf_done(&text);
}

static int run(struct app *app, int argc, char **argv)
{
	struct plan_opts opts = { .format = "text" };
	struct schema_options schema;
	const char *targets[OPT_LIST_MAX];
	struct plan_options how;
	struct session session = { 0 };
	struct jobs jobs = { 0 };
	struct error err;
	struct inputs inputs;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_plan, argc, argv, &opts, 1, INT_MAX,
			      &status);
	if (first < 0)
		return status;
	if (strcmp(opts.format, "text") != 0 &&
	    strcmp(opts.format, "json") != 0 &&
	    strcmp(opts.format, "markdown") != 0) {
		error_set(&err, ERROR_USAGE,
			  "--format takes text, json or markdown, not '%s'",
			  opts.format);
		return app_fail(app, &err);
	}
	inputs = (struct inputs){ .load = &opts.load,
				  .rerun = opts.rerun,
				  .targets = &opts.targets,
				  .paths = argv + first,
				  .count = (size_t)(argc - first) };
	if (opts.out && saved_check_out(opts.out, &inputs, &err) < 0)
		return app_fail(app, &err);
	schema = load_options(&opts.load);
	how = inputs_options(&inputs, targets);
	status = load_jobs(app, &schema, inputs.paths, inputs.count, &jobs);
	if (status)
		return status;
	if (session_open(&session, app, SESSION_CATALOGUE, &err) < 0 ||
	    session_prices(&session, opts.prices, &err) < 0 ||
	    session_plan(&session, &jobs, &how, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	print_plan(app, session.plan, opts.format);
	if (opts.out) {
		if (saved_write(opts.out, session.plan, &inputs, &err) < 0) {
			status = app_fail(app, &err);
			goto out;
		}
		app_say(app, "saved: 'jobrun apply %s' does this, and nothing "
			     "else",
			opts.out);
	}
	if (opts.detailed_exitcode && !plan_is_empty(session.plan))
		status = PENDING;
out:
	session_close(&session);
	jobs_done(&jobs);
	return status;
}

const struct command cmd_plan = {
	.name = "plan",
	.args = "[--format FORMAT] [--out FILE] [--target ACTION] [--prices FILE] "
		"PATH...",
	.summary = "show what 'apply' would do, and do nothing",
	.options = options,
	.shared = load_rows,
	.shared_offset = offsetof(struct plan_opts, load),
	.run = run,
};
