/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: no program runs, only the clock decides how far they are. */
#include "core/base/clock.h"
#include "providers/fake/call.h"

#include <stdio.h>
#include <string.h>

#include "core/base/json.h"

static enum run_state state_of(const json_t *run)
{
	int64_t now = time_now_ms();
	int64_t cancelled = json_get_int(run, "cancelEndTimeMs", 0);

	if (cancelled)
		return now < cancelled ? RUN_CANCELLING : RUN_CANCELLED;
	if (now < json_get_int(run, "endTimeMs", 0))
		return RUN_RUNNING;
	return json_get_int(run, "exitCode", 0) ? RUN_FAILED : RUN_SUCCEEDED;
}

static void status_of(const json_t *run, struct run_status *out)
{
	memset(out, 0, sizeof(*out));
	out->state = state_of(run);
	out->attempt = (int)json_get_int(run, "attempt", 1);
	run_status_set_digests(out, json_get_text(run, "digest", NULL),
			       json_get_text(run, "digest2", NULL));
	run_status_set_origin(out, json_get_text(run, "origin", NULL));
	out->exit_code = -1;
	if (out->state == RUN_SUCCEEDED || out->state == RUN_FAILED)
		out->exit_code = (int)json_get_int(run, "exitCode", 0);
	if (out->state == RUN_FAILED)
		snprintf(out->error, sizeof(out->error), "%s",
			 json_get_text(run, "error", ""));
}

static int run_read_effect(struct fake_task *task, const struct resource *it,
			   struct error *err)
{
	json_t *run;

	if (fake_read_effect(task, it, err) < 0 ||
	    fake_get(task, it, &run, err) < 0)
		return -1;
	if (run)
		status_of(run, &task->found->run);
	json_decref(run);
	return 0;
}

static int run_put(struct fake_task *task, const struct resource *it,
		   int attempt, struct error *err)
{
	const struct fake_block *block = task->block;
	int64_t now = time_now_ms();
	json_t *run = json_object();
	char error[64];
	int ret;

	snprintf(error, sizeof(error), "exited with %ld", block->exit_code);
	fake_label(run, it);
	json_put_int(run, "attempt", attempt);
	json_put_int(run, "startTimeMs", now);
	json_put_int(run, "endTimeMs", now + block->run_time);
	json_put_int(run, "exitCode", block->exit_code);
	json_put_text(run, "error", block->error ? block->error : error);
	json_put(run, "properties",
		 json_deep_copy(json_object_get(it->request, "body")));
	ret = fake_log_request(task, it, err);
	if (ret == 0)
		ret = world_put(task->world, it->kind->name, it->name, run,
				err);
	json_decref(run);
	task->result = "made";
	return ret;
}

static int run_create_effect(struct fake_task *task, const struct resource *it,
			     struct error *err)
{
	struct run_status last;
	json_t *run;
	bool same;

	if (fake_get(task, it, &run, err) < 0)
		return -1;
	if (!run)
		return run_put(task, it, 1, err);
	status_of(run, &last);
	json_decref(run);
	same = job_was_run(it->job, last.digest.hex, last.digest2.hex);
	/* A run newer than the plan was left by an earlier try. */
	if (same && (last.attempt > it->run.attempt ||
		     !run_state_is_final(last.state))) {
		task->result = "adopted";
		return 0;
	}
	if (!run_state_is_final(last.state))
		return error_set(err, ERROR_FAILED,
				 "attempt %d is still running", last.attempt);
	return run_put(task, it, last.attempt + 1, err);
}

static int run_delete_effect(struct fake_task *task, const struct resource *it,
			     struct error *err)
{
	bool over = true;
	json_t *run;

	if (fake_get(task, it, &run, err) < 0)
		return -1;
	if (run)
		over = run_state_is_final(state_of(run));
	json_decref(run);
	if (!over)
		return error_set(err, ERROR_FAILED, "it is still running");
	return fake_delete_effect(task, it, err);
}

static int run_wait_effect(struct fake_task *task, const struct resource *it,
			   struct error *err)
{
	json_t *run;

	if (fake_get(task, it, &run, err) < 0)
		return -1;
	/* A run that is gone is over, too; reading it reports that. */
	*task->state = !run || run_state_is_final(state_of(run)) ? WAIT_DONE
								 : WAIT_PENDING;
	task->result = *task->state == WAIT_DONE ? "ended" : "pending";
	json_decref(run);
	return 0;
}

static int run_cancel_effect(struct fake_task *task, const struct resource *it,
			     struct error *err)
{
	int64_t end =
		time_now_ms() + (task->now ? 0 : task->block->cancel_time);
	int64_t before;
	json_t *run;
	int ret = 0;

	if (fake_get(task, it, &run, err) < 0)
		return -1;
	task->result = "ended";
	if (run && !run_state_is_final(state_of(run))) {
		before = json_get_int(run, "cancelEndTimeMs", end);
		json_put_int(run, "cancelEndTimeMs",
			     before < end ? before : end);
		ret = world_put(task->world, it->kind->name, it->name, run,
				err);
		task->result = task->now ? "killed" : "cancelled";
	}
	json_decref(run);
	return ret;
}

static int run_read(void *ctx, const struct resource *want,
		    struct resource *found, struct error *err)
{
	struct fake_task task = { .found = found };

	return fake_perform(ctx, FAKE_READ, want, run_read_effect, &task, err);
}

static int run_create(void *ctx, const struct resource *want, struct error *err)
{
	struct fake_task task = { 0 };

	return fake_perform(ctx, FAKE_CREATE, want, run_create_effect, &task,
			    err);
}

static int run_delete(void *ctx, const struct resource *have, struct error *err)
{
	struct fake_task task = { 0 };

	return fake_perform(ctx, FAKE_DELETE, have, run_delete_effect, &task,
			    err);
}

static int run_wait(void *ctx, const struct resource *have,
		    enum wait_state *state, struct error *err)
{
	struct fake_task task = { .state = state };

	return fake_perform(ctx, FAKE_WAIT, have, run_wait_effect, &task, err);
}

static int run_cancel(void *ctx, const struct resource *have, bool now,
		      struct error *err)
{
	struct fake_task task = { .now = now };

	return fake_perform(ctx, FAKE_CANCEL, have, run_cancel_effect, &task,
			    err);
}

static void look(const json_t *run, struct listed *one)
{
	enum run_state state = state_of(run);

	one->live = !run_state_is_final(state);
	one->succeeded = state == RUN_SUCCEEDED;
	one->create_time_ms = json_get_int(run, "startTimeMs", 0);
}

static int run_list(void *ctx, const char *place, struct listing *out,
		    struct error *err)
{
	return fake_list(ctx, &fake_kind_run, place, look, out, err);
}

const struct kind fake_kind_run = {
	.name = "run",
	.flags = KIND_RUN,
	.poll_ms = FAKE_POLL_MS,
	.read = run_read,
	.create = run_create,
	.delete = run_delete,
	.wait = run_wait,
	.cancel = run_cancel,
	.list = run_list,
};
