/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a file or a folder of a run: from the run's folder here, or while it
 * runs elsewhere, from where its task writes.  This process becomes cp or
 * tar. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/view/beside.h"
#include "core/base/file.h"
#include "core/base/text.h"

/* The task's end packs the path $0; our end unpacks below $1. */
#define PACK "cd \"${JOBRUN_RUN_DIR:?}\" && exec tar -cf - -- \"$0\""
#define FETCH                                                                  \
	"to=$1; shift; exec 4>&1; s=$({ { \"$@\"; echo $? >&3; } | "           \
	"{ tar -C \"$to\" -xf - >&4 || echo 1 >&3; }; } 3>&1); "               \
	"for x in $s; do [ $x = 0 ] || exit 1; done"
#define WORDS_MAX 64

/* What the program finds as JOBRUN_RUN_DIR, in the folder of the run. */
#define OUTPUT "output/"

struct copy {
	char *job_id;
	char path[PATH_MAX]; /* below the folder of the run */
	char *to;
};

/* Takes "JOB:PATH". */
static int parse(char *word, struct copy *out, struct error *err)
{
	char *colon = strchr(word, ':');
	const char *why;

	if (!colon || colon == word || !colon[1])
		return error_set(err, ERROR_USAGE,
				 "'%.200s' is not JOB:PATH, for instance "
				 "quickstart:output/model.pt",
				 word);
	*colon = '\0';
	out->job_id = word;
	why = path_clean(colon + 1, out->path);
	if (why)
		return error_set(err, ERROR_USAGE, "'%.200s' is %s", colon + 1,
				 why);
	return 0;
}

/* The path as a file of this machine; returns new, or NULL without an error if
 * it is not here. */
static char *find_here(struct app *app, const struct copy *copy, bool *is_over,
		       struct error *err)
{
	struct session session = { 0 };
	struct arena *mem = arena_new();
	struct run_record run;
	char *folder, *path = NULL;

	err->text[0] = '\0';
	if (session_open(&session, app, 0, err) == 0 &&
	    session_run(&session, copy->job_id, 0, mem, &run, err) == 0) {
		folder = store_run_folder(session.env.store, run.job_id,
					  run.origin);
		path = path_join(folder, copy->path);
		*is_over = run_state_is_final(run.state);
		if (access(path, F_OK) < 0) {
			free(path);
			path = NULL;
		}
		free(folder);
	}
	session_close(&session);
	arena_free(mem);
	return path;
}

/* Unpacks what tar packs beside the task. */
static int fetch(struct app *app, struct copy *copy,
		 const struct beside_opts *opts, struct error *err)
{
	char *pack[] = { (char *)"sh", (char *)"-c", (char *)PACK,
			 copy->path + strlen(OUTPUT), NULL };
	char *argv[WORDS_MAX] = { (char *)"sh", (char *)"-c", (char *)FETCH,
				  (char *)"sh", copy->to };
	struct arena *mem = arena_new();
	struct enter_way way = { 0 };
	size_t n = 5, i;
	int ret = beside_find(app, copy->job_id, opts, pack, mem, &way, err);

	if (ret == 0 && way.pid)
		ret = error_set(err, ERROR_FAILED, "the run has no '%s'",
				copy->path);
	for (i = 0; ret == 0 && way.argv[i] && n + 1 < WORDS_MAX; i++)
		argv[n++] = way.argv[i];
	if (ret == 0)
		ret = beside_become(argv, err);
	arena_free(mem);
	return ret;
}

static int run(struct app *app, int argc, char **argv)
{
	char cp[] = "cp", flags[] = "-R", end[] = "--";
	struct beside_opts opts = { 0 };
	struct copy copy = { 0 };
	bool is_over = false;
	struct error err;
	int status, first;
	char *here;

	first = options_parse(app, &cmd_cp, argc, argv, &opts, 2, 2, &status);
	if (first < 0)
		return status;
	if (parse(argv[first], &copy, &err) < 0)
		return app_fail(app, &err);
	copy.to = argv[first + 1];
	here = find_here(app, &copy, &is_over, &err);
	if (here)
		beside_become((char *[]){ cp, flags, end, here, copy.to, NULL },
			      &err);
	else if (!err.text[0] && !is_over && text_starts(copy.path, OUTPUT))
		fetch(app, &copy, &opts, &err);
	else if (!err.text[0])
		error_set(&err, ERROR_FAILED,
			  "the run of '%s' has no '%s'; 'jobrun status %s' "
			  "names its folder",
			  copy.job_id, copy.path, copy.job_id);
	free(here);
	return app_fail(app, &err);
}

const struct command cmd_cp = {
	.name = "cp",
	.group = GROUP_WATCH,
	.args = "[--task TYPE] [--index N] [--trial N] JOB:PATH TARGET",
	.summary = "copy a file or a directory of a run",
	.help = "PATH is below the folder of the run: output/ is what the "
		"program finds as\n"
		"JOBRUN_RUN_DIR.  While the job runs on hosts, it comes from "
		"the task's host.\n"
		"  jobrun cp quickstart:output/model.pt .\n",
	.options = beside_rows,
	.remote = true,
	.run = run,
};
