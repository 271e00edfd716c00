/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/left.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/ui/waiting.h"
#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/job/traits.h"
#include "core/supervise/supervisor.h"

struct cancel_opts {
	bool now;
};

static const struct opt options[] = {
	{ 0, "now", OPT_FLAG, offsetof(struct cancel_opts, now), NULL,
	  "without the grace between SIGTERM and SIGKILL" },
	{ 0 },
};

static void on_interrupt(void *arg, uint32_t number)
{
	(void)number;
	loop_stop(arg);
}

/* Asks it to end and waits for that. */
static int cancel(struct session *session, struct loop *loop, struct arena *mem,
		  struct run_record *record, bool now, struct error *err)
{
	const struct provider *provider;
	struct resource resource = session_resource(record, &provider);
	void *ctx = provider ? session_context(session, provider, err) : NULL;
	int ret = ctx ? resource.kind->cancel(ctx, &resource, now, err) : -1;

	if (ret < 0)
		return -1;
	if (ret > 0)
		app_say(session->app, "%s: %s", record->job_id, err->text);
	return waiting_run(session, loop, mem, record, -1, on_interrupt, loop,
			   err);
}

/* Before it ends: what a slip would cost. */
static void say_what_ends(const struct app *app, const struct run_record *run)
{
	char age[32];

	if (!run->start_time_ms) {
		app_say(app, "%s: cancelling attempt %d (%s), %s", run->job_id,
			run->attempt, run->provider,
			run_state_name(run->state));
		return;
	}
	duration_format((long)((time_now_ms() - run->start_time_ms) / 1000),
			age, sizeof(age));
	app_say(app, "%s: cancelling attempt %d (%s), %s for %s", run->job_id,
		run->attempt, run->provider, run_state_name(run->state), age);
}

/* The run, as it stands; where its provider can end it without a look, as it
 * is known here. */
static int find(struct session *session, const char *job_id, struct arena *mem,
		struct run_record *out, struct error *err)
{
	const struct provider *provider;
	struct resource resource;

	if (session_known(session, job_id, 0, mem, out, err) < 0)
		return -1;
	resource = session_resource(out, &provider);
	if (provider && resource.kind->flags & KIND_CANCEL_FIRST)
		return 0;
	return session_run(session, job_id, 0, mem, out, err);
}

/* A service that makes the names itself may have another of this job. */
static int end_twins(struct session *session, const struct run_record *record,
		     struct error *err)
{
	const struct provider *provider;
	struct resource resource = session_resource(record, &provider);
	void *ctx;

	if (!provider || !(provider->traits & TRAIT_MANAGED))
		return 0;
	ctx = session_context(session, provider, err);
	return ctx ? resource.kind->cancel(ctx, &resource, false, err) : -1;
}

static int run(struct app *app, int argc, char **argv)
{
	struct cancel_opts opts = { 0 };
	struct session session = { 0 };
	struct arena *mem = arena_new();
	struct loop *loop = NULL;
	struct run_record record;
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_cancel, argc, argv, &opts, 1, 1,
			      &status);
	if (first < 0)
		goto out;
	loop = loop_new(&err);
	if (!loop || session_open(&session, app, 0, &err) < 0 ||
	    find(&session, argv[first], mem, &record, &err) < 0)
		goto fail;
	if (run_state_is_final(record.state)) {
		if (supervisor_end_left(session.env.store, &record, false,
					LEFT_MS, &err) < 0 ||
		    end_twins(&session, &record, &err) < 0)
			goto fail;
		app_say(app, "%s: already %s", record.job_id,
			run_state_name(record.state));
		goto out;
	}
	say_what_ends(app, &record);
	status = cancel(&session, loop, mem, &record, opts.now, &err);
	if (status < 0)
		goto fail;
	if (status == 0)
		app_say(app, "%s: %s", record.job_id,
			run_state_name(record.state));
	goto out;
fail:
	status = app_fail(app, &err);
out:
	session_close(&session);
	loop_free(loop);
	arena_free(mem);
	return status;
}

const struct command cmd_cancel = {
	.name = "cancel",
	.args = "[--now] JOB",
	.summary = "end a run: SIGTERM, the job's grace, SIGKILL",
	.help = "Waits until it has ended.  A run that has ended already is "
		"left as it is, but for\nwhat may still run on hosts that "
		"were cut off from it: that is ended, if they answer.\n",
	.options = options,
	.remote = true,
	.run = run,
};
