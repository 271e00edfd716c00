/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/plan_show.h"

#include <limits.h>
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/page/plan_page.h"
#include "cmd/jobrun/ui/load.h"
#include "cmd/jobrun/ui/pruning.h"
#include "cmd/jobrun/ui/saved_plan.h"
#include "cmd/jobrun/ui/session.h"
#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/process/subprocess.h"

#define PENDING 2

struct plan_opts {
	struct inputs inputs;
	const char *format;
	const char *out;
	bool detailed_exitcode;
	bool offline;
	bool verbose;
};

static const struct opt options[] = {
	{ 0, "format", OPT_CHOICE, offsetof(struct plan_opts, format),
	  "text|json|markdown|html", "the output format; text is the default" },
	{ 0, "out", OPT_STRING, offsetof(struct plan_opts, out), "FILE",
	  "save the plan for 'apply FILE'" },
	{ 0, "detailed-exitcode", OPT_FLAG,
	  offsetof(struct plan_opts, detailed_exitcode), NULL,
	  "exit with 2 if changes are pending" },
	{ 0, "offline", OPT_FLAG, offsetof(struct plan_opts, offline), NULL,
	  "contact nothing: plan as if nothing existed" },
	{ 'v', "verbose", OPT_FLAG, offsetof(struct plan_opts, verbose), NULL,
	  "list shipped and skipped files; cut no values" },
	{ 0 },
};

static void print_plan(struct app *app, const struct plan *plan,
		       const struct plan_opts *opts)
{
	struct plan_style style = { .color = app->out_color,
				    .width = app->out_terminal ? app->width : 0,
				    .verbose = opts->verbose };
	const char *format = opts->format;
	struct buf text = { 0 };

	if (!strcmp(format, "json")) {
		json_t *value = plan_json(plan);

		json_print(value, &text);
		json_decref(value);
	} else if (!strcmp(format, "markdown")) {
		plan_render_markdown(plan, &text);
	} else if (!strcmp(format, "html")) {
		plan_html(plan, &text);
	} else {
		plan_render_text(plan, &style, &text);
	}
	app_print(app, &text);
	buf_done(&text);
}

/* Saves the plan; returns the exit status. */
static int save(struct app *app, const struct session *session, const char *out,
		const struct inputs *inputs)
{
	struct buf quoted = { 0 };
	struct error err;

	if (session->unplanned_count) {
		app_say(app, "not saved: some jobs could not be planned");
		return 0;
	}
	if (session->unknown_count) {
		app_say(app, "not saved: the plan was not compared with what "
			     "exists");
		return 0;
	}
	if (saved_write(out, session->plan, inputs, &err) < 0)
		return app_fail(app, &err);
	command_quote(out, &quoted);
	app_say(app, "saved: 'jobrun apply %s' does exactly this",
		buf_text(&quoted));
	buf_done(&quoted);
	return 0;
}

/* Makes the plan; returns the exit status. */
static int make_plan(struct app *app, struct plan_opts *opts)
{
	const struct inputs *inputs = &opts->inputs;
	struct schema_options schema;
	const char *targets[OPT_LIST_MAX];
	struct plan_options how = inputs_options(inputs, targets);
	struct session session = { 0 };
	struct pruning pruning;
	struct jobs jobs = { 0 };
	struct error err;
	int status, failed;

	if (pruning_open(&pruning, inputs, &err) < 0 ||
	    load_options(&opts->inputs.load, app, &schema, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	status = pruning_load(&pruning, app, &schema, &jobs);
	if (status)
		goto out;
	if (session_open(&session, app, SESSION_CATALOGUE, &err) < 0 ||
	    session_prices(&session, opts->inputs.prices, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	session.env.boundary = &inputs->load.boundary;
	if (pruning_find(&pruning, &session, &jobs, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	session.look = opts->offline ? LOOK_HERE : LOOK_IF_ASKED;
	session_leave_out(&session, opts->out);
	session_plan(&session, &jobs, &how);
	if (session_check_targets(&session, &err) < 0 ||
	    pruning_plan(&pruning, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	failed = session_fail_unplanned(&session);
	if (!failed || plan_job_count(session.plan))
		print_plan(app, session.plan, opts);
	if (!status && opts->out)
		status = save(app, &session, opts->out, inputs);
	if (!status && session.unknown_count && !opts->offline)
		status = ERROR_DENIED;
	if (!status && opts->detailed_exitcode && !plan_is_empty(session.plan))
		status = PENDING;
	status = failed ? failed : status;
out:
	session_close(&session);
	pruning_done(&pruning);
	jobs_done(&jobs);
	load_done(&opts->inputs.load);
	return status;
}

int plan_show(struct app *app, const struct inputs *inputs)
{
	struct plan_opts opts = { .inputs = *inputs, .format = "text" };

	return make_plan(app, &opts);
}

static int run(struct app *app, int argc, char **argv)
{
	struct plan_opts opts = { .format = "text" };
	struct inputs *inputs = &opts.inputs;
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_plan, argc, argv, &opts, 1, INT_MAX,
			      &status);
	if (first < 0)
		return status;
	inputs->paths = argv + first;
	inputs->count = (size_t)(argc - first);
	if (opts.out && opts.offline) {
		error_set(&err, ERROR_USAGE,
			  "--out and --offline exclude each other: a saved "
			  "plan must be compared with what exists");
		return app_fail(app, &err);
	}
	if (opts.out && saved_check_out(opts.out, inputs, &err) < 0)
		return app_fail(app, &err);
	return make_plan(app, &opts);
}

const struct command cmd_plan = {
	.name = "plan",
	.group = GROUP_RUN,
	.args = "[--format FORMAT] [--out FILE] [--offline] [--prune] "
		"[--target ACTION] "
		"[--prices FILE] PATH...",
	.summary = "show what 'apply' would do, and do nothing",
	.help = PATH_HELP ".  Changes nothing, here or anywhere.\n"
			  "  jobrun plan job.yaml\n"
			  "  jobrun plan --out saved.plan jobs/\n",
	.options = options,
	.more = input_rows,
	.more_offset = offsetof(struct plan_opts, inputs),
	.shared = load_rows,
	.shared_offset = offsetof(struct plan_opts, inputs.load),
	.remote = true,
	.run = run,
};
