/* SPDX-License-Identifier: Apache-2.0 */
/* Called by the batch script of a run on Slurm: decides by jobrun.restart what
 * comes next, even if nobody follows the run; not for users. */
#include "cmd/jobrun/commands.h"
#include "providers/slurm/attempts.h"

struct next_attempt_opts {
	const char *job;
	long queued;
	long trial;
};

static const struct opt options[] = {
	{ 0, "job", OPT_STRING, offsetof(struct next_attempt_opts, job), "ID",
	  "the number of the job" },
	{ 0, "queued", OPT_NUMBER, offsetof(struct next_attempt_opts, queued),
	  "N", "how often Slurm has queued it again" },
	{ 0, "trial", OPT_COUNT, offsetof(struct next_attempt_opts, trial), "N",
	  "the trial of hyperparameters that it is" },
	{ 0 },
};

/* Prints "begin ATTEMPT" or "end STATUS". */
static int run(struct app *app, int argc, char **argv)
{
	struct next_attempt_opts opts = { 0 };
	struct slurm_turn turn = { 0 };
	enum slurm_step step;
	struct buf out = { 0 };
	struct error err;
	int status = 0;
	int first, number;

	first = options_parse(app, &cmd_next_attempt, argc, argv, &opts, 1, 1,
			      &status);
	if (first < 0)
		return status;
	if (!opts.job) {
		error_set(&err, ERROR_USAGE, "--job is missing");
		return app_fail(app, &err);
	}
	turn.run = argv[first];
	turn.job_id = opts.job;
	turn.queued = (int)opts.queued;
	turn.trial = (int)opts.trial;
	if (slurm_turn_take(&turn, &step, &number, &err) < 0)
		return app_fail(app, &err);
	buf_printf(&out, "%s %d\n", step == SLURM_STEP_BEGIN ? "begin" : "end",
		   number);
	app_print(app, &out);
	buf_done(&out);
	return 0;
}

const struct command cmd_next_attempt = {
	.name = "next-attempt",
	.args = "--job ID [--queued N] [--trial N] FOLDER",
	.summary = "go on with a run on Slurm; called by its batch script",
	.options = options,
	.hidden = true,
	.run = run,
};
