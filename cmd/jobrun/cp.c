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
#include "core/spec/spec.h"
#include "core/trial/trial_folder.h"

/*
 * The task's end packs the path $0.  Ours unpacks what comes, whatever it is,
 * in a new folder beside the target $1, where nothing can be in its way: below
 * $3 there, as the other end's user and modes are not ours.  Then it moves what
 * is called $2 to its place, and drops the rest.
 */
#define PACK                                                                   \
	"f=${JOBRUN_RUN_DIR:?}/$0; "                                           \
	"cd \"${f%/*}\" && exec tar -cf - -- \"${f##*/}\""
#define FETCH                                                                  \
	"case $1 in /*) to=$1 ;; *) to=./$1 ;; esac; name=$2; below=$3; "      \
	"shift 3; in=$to; t=$to/$name; "                                       \
	"[ -d \"$to\" ] || { in=$(dirname \"$to\"); t=$to; }; "                \
	"d=$(mktemp -d \"$in/.jobrun-cp.XXXXXX\") || exit 1; "                 \
	"trap 'rm -rf \"$d\"' EXIT; trap 'exit 1' HUP INT TERM; "              \
	"mkdir -p \"$d/$below\" || exit 1; "                                   \
	"exec 4>&1; s=$({ { \"$@\"; echo $? >&3; } | "                         \
	"{ tar -C \"$d/$below\" --no-same-owner --no-same-permissions -xf - "  \
	">&4 || echo 1 >&3; }; } 3>&1); "                                      \
	"chmod -R u+rwX,ug-s \"$d\"; "                                         \
	"find \"$d\" ! -type f ! -type d ! -type l -exec rm -f {} +; "         \
	"for x in $s; do [ $x = 0 ] || exit 1; done; "                         \
	"if [ -e \"$t\" ] || [ -h \"$t\" ]; then "                             \
	"cp -R --remove-destination \"$d/$name\" \"$to\"; "                    \
	"else mv \"$d/$name\" \"$t\"; fi"
#define WORDS_MAX 64

/* What the program finds as JOBRUN_RUN_DIR, in the folder of the run. */
#define OUTPUT "output"

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

/* The path below the output, "." for all of it; NULL: it is not of that. */
static const char *below_output(const struct copy *copy)
{
	const char *rest = copy->path + strlen(OUTPUT);

	if (!text_starts(copy->path, OUTPUT) || (*rest && *rest != '/'))
		return NULL;
	return *rest ? rest + 1 : ".";
}

/* Whether what the tasks write is on hosts. */
static bool is_on_hosts(struct store *store, const struct run_record *run,
			struct arena *mem)
{
	char *folder = store_run_folder(store, run->job_id, run->attempt);
	struct run_spec spec;
	struct error ignored;
	bool is = spec_read(folder, mem, &spec, &ignored) == 0 &&
		  spec_is_elsewhere(&spec);

	free(folder);
	return is;
}

/* The path as a file of this machine; returns new, or NULL without an error if
 * it is not here, or may be an older one than that on the host. */
static char *find_here(struct app *app, const struct copy *copy,
		       const struct beside_opts *opts, bool *is_over,
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
		if (opts->trial && below_output(copy)) {
			char *of_run = folder;

			folder = trial_folder(of_run, (int)opts->trial);
			free(of_run);
		}
		path = path_join(folder, copy->path);
		*is_over = run_state_is_final(run.state);
		if (access(path, F_OK) < 0 ||
		    (!*is_over && below_output(copy) &&
		     is_on_hosts(session.env.store, &run, mem))) {
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
			 (char *)below_output(copy), NULL };
	char *name = (char *)path_base(copy->path);
	char *argv[WORDS_MAX] = { (char *)"sh",
				  (char *)"-c",
				  (char *)FETCH,
				  (char *)"sh",
				  copy->to,
				  name,
				  strcmp(copy->path, OUTPUT) ? (char *)"."
							     : name };
	struct arena *mem = arena_new();
	struct enter_way way = { 0 };
	size_t n = 7, i;
	int ret = beside_find(app, copy->job_id, opts, pack, mem, &way, err);

	if (ret == 0 && way.target)
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
	/* A container has the run's folder from its host, and may lack tar. */
	struct beside_opts opts = { .outside = true };
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
	here = find_here(app, &copy, &opts, &is_over, &err);
	if (here)
		beside_become((char *[]){ cp, flags, end, here, copy.to, NULL },
			      &err);
	else if (!err.text[0] && !is_over && below_output(&copy))
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
		"JOBRUN_RUN_DIR.  While the job runs elsewhere, it comes from "
		"there.\n"
		"  jobrun cp quickstart:output/model.pt .\n",
	.options = beside_rows,
	.remote = true,
	.run = run,
};
