/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/choose.h"
#include "cmd/jobrun/ui/deletion.h"
#include "cmd/jobrun/ui/load.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/ui/undo.h"
#include "core/base/text.h"
#include "core/job/check.h"

struct delete_opts {
	struct load_opts load;
	struct choose_opts choose;
	bool yes;
	bool dry_run;
	bool force;
	bool take_over;
};

static const struct opt options[] = {
	{ 'y', "yes", OPT_FLAG, offsetof(struct delete_opts, yes), NULL,
	  "do not ask" },
	{ 0, "dry-run", OPT_FLAG, offsetof(struct delete_opts, dry_run), NULL,
	  "show what would be deleted, and delete nothing" },
	{ 0, "force", OPT_FLAG, offsetof(struct delete_opts, force), NULL,
	  "forget the job even if its place is unreachable" },
	{ 0, "take-over", OPT_FLAG, offsetof(struct delete_opts, take_over),
	  NULL, "also what another project's job of this id created" },
	{ 0 },
};

static void render(const struct app *app, const struct plan *plan,
		   struct buf *out)
{
	struct plan_style style = { .color = app->err_color,
				    .width = app->err_terminal ? app->width
							       : 0 };

	plan_render_text(plan, &style, out);
}

/* Shows what will be deleted and asks, on a terminal.  Returns 0 to go on. */
static int ask(const struct deletion *deletion, const struct delete_opts *opts)
{
	struct app *app = deletion->session->app;
	struct buf text = { 0 };
	struct error err;

	if (opts->yes || !isatty(STDIN_FILENO) || !app->err_terminal)
		return 0;
	render(app, deletion->plan, &text);
	app_put_messages(app, &text);
	buf_done(&text);
	if (app_confirm(app, "Delete this, with its logs and output?"))
		return 0;
	error_set(&err, ERROR_FAILED, "nothing deleted: not confirmed");
	return app_fail(app, &err);
}

static int fail_unknown(const struct app *app, const char *job_id)
{
	struct error err;

	error_set(&err, ERROR_NO_RUN,
		  "no run of '%s' here, nor resources; 'jobrun status' lists "
		  "the runs",
		  job_id);
	return app_fail(app, &err);
}

/* The same for a name that no job can have. */
static int fail_misnamed(const struct app *app, const char *name)
{
	struct error err;

	error_set(&err, ERROR_NO_RUN,
		  "no run with jobId '%.200s'; 'jobrun status' lists the runs",
		  name);
	text_make_printable(err.text);
	return app_fail(app, &err);
}

static void say_deleted(const struct deletion *deletion)
{
	const struct app *app = deletion->session->app;
	char *line, *rest = NULL;

	if (plan_count(deletion->plan))
		app_say(app, "%s: deleted", deletion->job_id);
	if (deletion->blind_count)
		app_say(app, "%s: forgotten", deletion->job_id);
	if (!deletion->left.len)
		return;
	for (line = strtok_r(deletion->left.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		app_say(app, "%s", line);
}

/* Deletes everything that one job made, anywhere.  Returns the exit status. */
static int delete_job(struct session *session, const char *job_id,
		      const struct job *job, const struct delete_opts *opts)
{
	struct deletion deletion = { .session = session,
				     .job_id = job_id,
				     .job = job,
				     .force = opts->force,
				     .take_over = opts->take_over };
	struct buf text = { 0 };
	struct error err;
	int status = 0;

	if (deletion_find(&deletion, &err) < 0) {
		status = app_fail(session->app, &err);
	} else if (deletion_is_empty(&deletion)) {
		status = fail_unknown(session->app, job_id);
	} else if (opts->dry_run &&
		   deletion_end_left(&deletion, false, &err) < 0) {
		status = app_fail(session->app, &err);
	} else if (opts->dry_run) {
		render(session->app, deletion.plan, &text);
		buf_puts(&text, buf_text(&deletion.left));
		app_print(session->app, &text);
	} else if ((status = ask(&deletion, opts)) != 0) {
		;
	} else if (deletion_end_left(&deletion, true, &err) < 0) {
		status = app_fail(session->app, &err);
	} else if (undo_execute(session, deletion.plan, NULL, NULL, &err) < 0) {
		status = error_status(&err); /* it was reported */
	} else if (deletion_forget(&deletion, &err) < 0) {
		status = app_fail(session->app, &err);
	} else {
		say_deleted(&deletion);
	}
	buf_done(&text);
	deletion_done(&deletion);
	return status;
}

/* Deletes with the job locked, so that nobody else works on it. */
static int delete_locked(struct session *session, const char *job_id,
			 const struct job *job, const struct delete_opts *opts)
{
	struct error err;
	int status;

	if (opts->dry_run)
		return delete_job(session, job_id, job, opts);
	if (session_lock(session, &job_id, 1, 0, &err) < 0)
		return app_fail(session->app, &err);
	status = delete_job(session, job_id, job, opts);
	lock_set_free(session->locks);
	session->locks = NULL;
	return status;
}

/* Whether the store has a run of the job, or knows it as a member of a set. */
static bool is_known(struct session *session, const char *job_id)
{
	struct store *store = session->env.store;
	struct arena *mem = arena_new();
	struct member_list members = { 0 };
	struct run_record run;
	struct error ignored;
	/* If the store can't be read, the job counts as known. */
	bool known = store_run_get(store, job_id, 0, mem, &run, &ignored) != 1;
	size_t i;

	if (!known)
		store_member_list(store, NULL, mem, &members, &ignored);
	for (i = 0; i < members.count && !known; i++)
		known = !strcmp(members.items[i].job_id, job_id);
	arena_free(mem);
	return known;
}

/* Whether an argument is a path, by characters that no job's name has.  If a
 * directory is called like a job, the job is meant, as with all commands: other
 * jobs, whose files happen to be there, must not be deleted for it. */
static bool is_path(struct session *session, const char *argument)
{
	struct stat st;

	return strpbrk(argument, "./") || !strcmp(argument, "-") ||
	       (stat(argument, &st) == 0 && S_ISDIR(st.st_mode) &&
		!is_known(session, argument));
}

static int delete_argument(struct session *session,
			   const struct schema_options *schema, char *argument,
			   const struct delete_opts *opts)
{
	struct error ignored;
	struct jobs jobs;
	int status, one;
	size_t i;

	if (!is_path(session, argument)) {
		if (check_job_id(argument, &ignored) == 0)
			return delete_locked(session, argument, NULL, opts);
		return fail_misnamed(session->app, argument);
	}
	status = load_jobs(session->app, schema, &argument, 1, &jobs);
	if (status)
		return status;
	for (i = 0; i < jobs.count; i++) {
		job_find_origin(jobs.items[i]);
		one = delete_locked(session, jobs.items[i]->job_id,
				    jobs.items[i], opts);
		status = status ? status : one;
	}
	jobs_done(&jobs);
	return status;
}

/* Lists, asks about and deletes jobs that are chosen by more than their
 * names. */
static int delete_chosen(struct session *session, const struct choice *choice,
			 struct delete_opts *opts)
{
	struct arena *mem = arena_new();
	struct run_list runs;
	struct error err;
	int status = 0;
	size_t i;

	if (choose_runs(session, choice, mem, &runs, &err) < 0)
		status = app_fail(session->app, &err);
	else if (!opts->dry_run && !choose_confirm(session->app, choice, &runs,
						   "delete", opts->yes))
		status = ERROR_FAILED;
	else if (!runs.count)
		app_say(session->app, "nothing to delete");
	opts->yes = true;
	for (i = 0; i < runs.count && !status; i++)
		status = delete_locked(session, runs.items[i].job_id, NULL,
				       opts);
	arena_free(mem);
	return status;
}

/* Finds a name of several that nothing has: the words may be those of another
 * tool ("delete pod hello"), and then nothing is deleted. */
static int check_names(struct session *session, int count, char *const *names,
		       const struct delete_opts *opts)
{
	struct error err;
	int status = 0;
	int i;

	for (i = 0; i < count && count > 1 && !status; i++) {
		struct deletion deletion = { .session = session,
					     .job_id = names[i],
					     .force = opts->force,
					     .take_over = opts->take_over };

		if (is_path(session, names[i]) || is_known(session, names[i]))
			continue;
		if (check_job_id(names[i], &err) < 0)
			status = fail_misnamed(session->app, names[i]);
		else if (deletion_find(&deletion, &err) < 0)
			status = app_fail(session->app, &err);
		else if (deletion_is_empty(&deletion))
			status = fail_unknown(session->app, names[i]);
		deletion_done(&deletion);
	}
	if (status)
		app_say(session->app, "nothing deleted");
	return status;
}

static int run(struct app *app, int argc, char **argv)
{
	struct schema_options schema;
	struct session session = { 0 };
	struct delete_opts opts = { 0 };
	struct choice choice = { .opts = &opts.choose };
	struct error err;
	int status = 0;
	int i;

	i = options_parse(app, &cmd_delete, argc, argv, &opts, 0, INT_MAX,
			  &status);
	if (i < 0)
		return status;
	choice_take(&choice, argc - i, argv + i);
	if (!choice_is_made(&choice))
		return command_misused(app, &cmd_delete,
				       "missing argument JOB...");
	if (load_options(&opts.load, app, &schema, &err) < 0 ||
	    session_open(&session, app, opts.dry_run ? 0 : SESSION_WRITE,
			 &err) < 0) {
		status = app_fail(app, &err);
	} else if (choice_is_wide(&choice)) {
		status = delete_chosen(&session, &choice, &opts);
	} else {
		status = check_names(&session, argc - i, argv + i, &opts);
		if (status)
			i = argc;
		for (; i < argc; i++) {
			int one = delete_argument(&session, &schema, argv[i],
						  &opts);

			status = status ? status : one;
		}
	}
	session_close(&session);
	load_done(&opts.load);
	return status;
}

const struct command cmd_delete = {
	.name = "delete",
	.group = GROUP_CLEAN_UP,
	.args = "[--yes] [--dry-run] [-l LABEL=VALUE] [--state LIST] [--force] "
		"[--take-over] JOB|PATH...",
	.summary = "delete everything a job created: runs, logs, resources",
	.help = "A JOB is a jobId or a pattern in quotes ('train-*').  Asks "
		"first, on a terminal.\n"
		"Cancel a run that is still going first.\n"
		"  jobrun delete --dry-run quickstart\n",
	.options = options,
	.more = choose_rows_plain,
	.more_offset = offsetof(struct delete_opts, choose),
	.shared = load_rows,
	.shared_offset = offsetof(struct delete_opts, load),
	.remote = true,
	.run = run,
};
