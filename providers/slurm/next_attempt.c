/* SPDX-License-Identifier: Apache-2.0 */
/* Called by the batch script of a run on Slurm: decides by jobrun.restart what
 * comes next, even if nobody follows the run; not for users. */
#include <stdio.h>

#include "core/provider/extension.h"
#include "providers/slurm/attempts.h"
#include "providers/slurm/slurm_internal.h"

struct next_attempt_opts {
	const char *job;
	long queued;
	long trial;
	const char *ended;
};

static const struct opt options[] = {
	{ 0, "job", OPT_STRING, offsetof(struct next_attempt_opts, job), "ID",
	  "the number of the job" },
	{ 0, "queued", OPT_NUMBER, offsetof(struct next_attempt_opts, queued),
	  "N", "how often Slurm has queued it again" },
	{ 0, "trial", OPT_COUNT, offsetof(struct next_attempt_opts, trial), "N",
	  "the trial of hyperparameters that it is" },
	{ 0, "ended", OPT_STRING, offsetof(struct next_attempt_opts, ended),
	  "N:STATUS", "the attempt that has ended just now, and how" },
	{ 0 },
};

/* The exit status of a script that can't read or write the state of its run:
 * EX_IOERR of sysexits.h. */
#define STATE_LOST 74

/* Prints "begin ATTEMPT" or "end STATUS".  It never fails, so that the script
 * can always end with a reason. */
static int run(const void *given, char *const *args,
	       const struct provider_env *env, struct buf *out,
	       struct error *err)
{
	const struct next_attempt_opts *opts = given;
	struct slurm_turn turn = { .run = args[0],
				   .job_id = opts->job,
				   .queued = (int)opts->queued,
				   .trial = (int)opts->trial,
				   .ended = -1 };
	enum slurm_step step;
	int number;

	(void)env;
	if (!opts->job)
		return error_set(err, ERROR_USAGE, "--job is missing");
	if (opts->ended &&
	    sscanf(opts->ended, "%d:%d", &turn.ended, &turn.status) != 2)
		return error_set(err, ERROR_USAGE,
				 "--ended: N:STATUS was expected");
	if (slurm_turn_take(&turn, &step, &number, err) < 0) {
		slurm_turn_give_up(&turn, err);
		step = SLURM_STEP_END;
		number = STATE_LOST;
	}
	buf_printf(out, "%s %d\n", step == SLURM_STEP_BEGIN ? "begin" : "end",
		   number);
	return 0;
}

static const struct provider_command next_attempt_command = {
	.name = "next-attempt",
	.args = "--job ID [--queued N] [--trial N] FOLDER",
	.summary = "go on with a run on Slurm; called by its batch script",
	.options = options,
	.opts_size = sizeof(struct next_attempt_opts),
	.arg_count = 1,
	.run = run,
};

const struct provider_command *const slurm_commands[] = {
	&next_attempt_command,
	&slurm_enter_step,
	&slurm_enter_task,
	NULL,
};
