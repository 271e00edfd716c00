/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/outcome.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/ui/waiting.h"
#include "core/base/units.h"

struct wait_opts {
	long timeout;
};

static const struct opt options[] = {
	{ 0, "timeout", OPT_DURATION, offsetof(struct wait_opts, timeout),
	  "DURATION", "give up after 90s, 10m, 2h ... (exit status 124)" },
	{ 0 },
};

static void on_interrupt(void *arg, uint32_t number)
{
	(void)number;
	loop_stop(arg);
}

static int run(struct app *app, int argc, char **argv)
{
	struct wait_opts opts = { .timeout = -1 };
	struct session session = { 0 };
	struct arena *mem = arena_new();
	struct loop *loop = NULL;
	struct run_record record;
	struct error err;
	char limit[32];
	int status = 0;
	int first;

	first = options_parse(app, &cmd_wait, argc, argv, &opts, 1, 1, &status);
	if (first < 0)
		goto out;
	loop = loop_new(&err);
	if (!loop || session_open(&session, app, 0, &err) < 0 ||
	    session_run(&session, argv[first], 0, mem, &record, &err) < 0)
		goto fail;
	if (waiting_is_needed(&record)) {
		status = waiting_run(&session, loop, mem, &record, opts.timeout,
				     on_interrupt, loop, &err);
		if (status < 0)
			goto fail;
	}
	if (status == ERROR_TIMEOUT) {
		duration_format(opts.timeout, limit, sizeof(limit));
		error_set(&err, ERROR_TIMEOUT, "%s is still %s after %s",
			  record.job_id, run_state_name(record.state), limit);
		goto fail;
	}
	if (status == 0) {
		outcome_say(&session, &record);
		status = outcome_status(&record);
	}
	goto out;
fail:
	status = app_fail(app, &err);
out:
	session_close(&session);
	loop_free(loop);
	arena_free(mem);
	return status;
}

const struct command cmd_wait = {
	.name = "wait",
	.args = "[--timeout DURATION] JOB",
	.summary = "wait for a run to end; exit as it did (0 or 1)",
	.options = options,
	.remote = true,
	.run = run,
};
