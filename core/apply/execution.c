/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/execution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/apply/fill_outputs.h"
#include "core/apply/succession.h"

#define TRIES 5
#define FOLLOW_PATIENCE 4 /* times as many tries while a run is followed */
#define RETRY_MS 500
#define RETRY_MAX_MS 30000
#define POLL_MS 1000
/* A pause, so that a descriptor which stays readable without news does not
 * cause a busy loop. */
#define WATCH_PAUSE_MS 100

static bool is_over(const struct execution *it)
{
	return it->phase >= PHASE_DONE;
}

void execution_make_ready(struct execution *it)
{
	struct executor *executor = it->executor;

	if (it->ready || is_over(it))
		return;
	it->ready = true;
	it->next = NULL;
	*executor->ready_last = it;
	executor->ready_last = &it->next;
}

static void enter(struct execution *it, enum action_phase phase,
		  const struct run_status *status, const struct error *err)
{
	const struct executor_options *options = it->executor->options;

	if (phase == it->phase && phase != PHASE_RETRYING)
		return;
	it->phase = phase;
	if (options->phase)
		options->phase(options->arg, it->action, phase, status, err);
}

static void keep_error(struct executor *executor, const struct error *err)
{
	if (executor->failed)
		return;
	executor->failed = true;
	executor->err = *err;
}

void execution_stop_watching(struct execution *it)
{
	loop_remove(it->executor->loop, it->watch);
	it->watch = NULL;
	if (it->fd >= 0)
		close(it->fd);
	it->fd = -1;
	it->woken = false;
}

/* Lets the replaced resources that this one needs be deleted now. */
static void let_go(struct execution *it)
{
	const struct action *action = it->action;
	size_t i;

	if (!it->holds)
		return;
	it->holds = false;
	for (i = 0; i < action->need_count; i++) {
		struct execution *need =
			&it->executor->executions[action->needs[i]->index];

		need->holds_left--;
		execution_make_ready(need);
	}
}

/* Whether the outcome is unknown: the error does not say if the call worked, or
 * a deletion failed, which must stay in the journal. */
static bool is_unknown(const struct execution *it, const struct error *err)
{
	return it->action->type == ACTION_DELETE ||
	       err->code == ERROR_UNREACHABLE || err->code == ERROR_TIMEOUT ||
	       err->code == ERROR_INTERRUPTED;
}

/* Records how what was intended ended.  `err` is NULL if it succeeded. */
static void end_intent(struct execution *it, const struct error *err)
{
	const struct journal *journal = it->executor->options->journal;

	if (it->intent)
		journal->end(journal->arg, it->action,
			     !err                  ? INTENT_DONE
			     : is_unknown(it, err) ? INTENT_UNKNOWN
						   : INTENT_FAILED,
			     err);
	it->intent = false;
}

/* Reports that the action makes no more changes, though a run may remain to be
 * followed.  How an action ended is reported before, while nobody else may
 * change its job. */
static void become_settled(struct execution *it)
{
	const struct executor_options *options = it->executor->options;

	if (it->settled)
		return;
	it->settled = true;
	if (--it->job->changing == 0 && options->settled)
		options->settled(options->arg, it->action->job);
}

static void finish_for(struct execution *it, enum action_phase phase,
		       const struct run_status *status, struct execution *later)
{
	bool other = later->action->job != it->action->job;

	if (other ? succession_starts(it, phase, status, later)
		  : phase == PHASE_DONE) {
		later->needs_left--;
	} else {
		later->doomed = true;
		if (other && !later->doomed_by)
			later->doomed_by = it;
	}
	execution_make_ready(later);
}

/* Ends an action in any phase. */
static void finish(struct execution *it, enum action_phase phase,
		   const struct run_status *status, const struct error *err)
{
	size_t i;

	execution_stop_watching(it);
	it->executor->left--;
	it->ended = status        ? status->state
		    : it->dropped ? RUN_CANCELLED
				  : RUN_QUEUED;
	for (i = 0; i < it->after_count; i++)
		finish_for(it, phase, status, it->after[i]);
	end_intent(it, err);
	if (phase == PHASE_DONE && it->lost.text[0])
		err = &it->lost;
	enter(it, phase, status, err);
	become_settled(it);
}

/* Ends an action that never starts; one that waited for another job knows
 * why. */
static void skip(struct execution *it)
{
	struct error why;

	if (!it->doomed_by && !it->dropped) {
		it->executor->skipped = true;
		finish(it, PHASE_SKIPPED, NULL, NULL);
		return;
	}
	succession_why(it, &why);
	finish(it, PHASE_SKIPPED, NULL, &why);
}

/* Ends an action as failed, so that no other action of its job starts. */
static void fail(struct execution *it, const struct run_status *status,
		 const struct error *err)
{
	const struct plan_job *job = it->action->job;
	size_t i;

	keep_error(it->executor, err);
	it->job->failed = true;
	finish(it, PHASE_FAILED, status, err);
	for (i = 0; i < job->action_count; i++)
		execution_make_ready(
			&it->executor->executions[job->actions[i]->index]);
}

static void interrupt(struct execution *it)
{
	const struct resource *resource = action_resource(it->action);
	struct error err;

	error_set(&err, ERROR_INTERRUPTED, "%s '%s': interrupted",
		  resource->kind->name, resource->name);
	fail(it, NULL, &err);
}

void execution_stop_resting(struct execution *it)
{
	loop_remove(it->executor->loop, it->timer);
	loop_remove(it->executor->loop, it->watch);
	it->timer = NULL;
	it->watch = NULL;
}

static void on_timer(void *arg, uint32_t events)
{
	struct execution *it = arg;

	(void)events;
	execution_stop_resting(it);
	execution_make_ready(it);
	executor_settle(it->executor);
}

static void set_timer(struct execution *it, int64_t delay_ms)
{
	it->timer = loop_add_timer(it->executor->loop, delay_ms, on_timer, it);
}

/* Half of the delay is random, so that calls that failed together are not
 * repeated together. */
static int64_t retry_delay(struct executor *executor, int tries)
{
	int64_t delay = executor->options->retry_ms > 0
				? executor->options->retry_ms
				: RETRY_MS;

	for (; tries > 1 && delay < RETRY_MAX_MS; tries--)
		delay *= 2;
	delay = delay < RETRY_MAX_MS ? delay : RETRY_MAX_MS;
	executor->random ^= executor->random << 13;
	executor->random ^= executor->random >> 7;
	executor->random ^= executor->random << 17;
	return delay / 2 +
	       (int64_t)(executor->random % (uint64_t)(delay / 2 + 1));
}

static void call_failed(struct execution *it)
{
	struct error *err = &it->call.err;
	struct executor *executor = it->executor;
	enum step step = it->call.step;
	bool follows = action_is_run(it->action) &&
		       (step_follows(*it->step) || step == STEP_CANCEL);
	int tries =
		executor->options->tries > 0 ? executor->options->tries : TRIES;

	error_prefix(err, "%s %s '%s'", step_verb(step, it->call.kind),
		     it->call.kind->name, it->call.subject.name);
	if (follows)
		tries *= FOLLOW_PATIENCE;
	if ((err->code != ERROR_TRY_AGAIN && err->code != ERROR_UNREACHABLE) ||
	    err->final || ++it->tries >= tries) {
		fail(it, NULL, err);
		return;
	}
	if (executor->cancelling && !follows) {
		interrupt(it);
		return;
	}
	set_timer(it, retry_delay(executor, it->tries));
	enter(it, PHASE_RETRYING, NULL, err);
}

static bool makes(enum step step)
{
	return step == STEP_CREATE || step == STEP_UPDATE;
}

static void in_thread(struct work *work)
{
	struct execution *it = (struct execution *)work;
	const struct journal *journal = it->executor->options->journal;

	if (it->intends) {
		if (journal->begin(journal->arg, it->action, it->once,
				   &it->call.err) < 0) {
			it->call.ret = -1;
			return;
		}
		it->intent = true;
	}
	if (it->once[0])
		it->call.subject.once = it->once;
	if (!makes(it->call.step)) {
		call_make(&it->call);
		return;
	}
	if (fill_resource(&it->call.subject, it->call.ctx, it->job->self_made,
			  &it->call.err) < 0) {
		it->call.ret = -1;
		return;
	}
	call_make(&it->call);
	it->lost = (struct error){ 0 };
	if (it->call.ret == 0 && journal && journal->applied &&
	    !action_is_run(it->action))
		journal->applied(journal->arg, it->action, &it->call.subject,
				 &it->lost);
	fill_done(&it->call.subject);
}

/* Sets the subject of the call: the desired resource, once it exists. */
static void set_subject(struct execution *it, enum step step)
{
	const struct action *action = it->action;
	struct resource *subject = &it->call.subject;
	bool make = makes(step);

	if (make || it->made || !action->have) {
		*subject = *action->want;
		memset(&subject->run, 0, sizeof(subject->run));
		if (make && action->have)
			subject->run.attempt = action->have->run.attempt;
	} else {
		*subject = *action->have;
		subject->kind = it->call.kind;
		/* The resource may vanish while the executor waits for it. */
		if (action->want)
			subject->request = action->want->request;
	}
}

static void start_call(struct execution *it, enum step step)
{
	struct executor *executor = it->executor;
	struct call *call = &it->call;
	bool urgent = step == STEP_CANCEL;
	struct error err;

	if (step_follows(step))
		enter(it, PHASE_FOLLOWING, NULL, NULL);
	else if (!action_is_run(it->action) || step == *it->step)
		enter(it, PHASE_CALLING, NULL, NULL);
	set_subject(it, step);
	json_decref(call->found.properties);
	json_decref(call->found.outputs);
	memset(&call->found, 0, sizeof(call->found));
	call->found.kind = call->kind;
	call->found.name = call->subject.name;
	call->found.job = call->subject.job;
	call->step = step;
	call->fd = -1;
	call->state = WAIT_PENDING;
	call->now = executor->cancelling == CANCEL_NOW;
	call->err = (struct error){ 0 };
	it->started = true;
	it->calling = true;
	it->intends = executor->options->journal && !it->settled &&
		      !it->intent && step_changes(step);
	it->work.call = in_thread;
	if (step == STEP_CANCEL)
		it->asked = executor->cancelling;
	if (pool_add(executor->pool, &it->work, urgent, &err) < 0) {
		it->calling = false;
		fail(it, NULL, &err);
	}
}

/* Whether the action is a run that only has to be followed, which nobody asks
 * for. */
static bool is_left(const struct execution *it)
{
	const struct executor *executor = it->executor;

	return executor->leaves && it->asked == CANCEL_NOT &&
	       action_is_run(it->action) && step_only_follows(it->step) &&
	       executor->leaves(executor->leaves_arg, it->action);
}

/* Makes the call of the next step, unless everything is to end. */
static void next_call(struct execution *it)
{
	enum cancelling level = it->executor->cancelling;
	enum step step = *it->step;
	bool follows = action_is_run(it->action) && step_follows(step);

	if (follows && step != STEP_READ && is_left(it))
		finish(it, PHASE_DONE, NULL, NULL);
	else if (follows && step != STEP_READ && it->asked < level)
		start_call(it, STEP_CANCEL);
	else if (level && !follows && step != STEP_CANCEL)
		interrupt(it);
	else
		start_call(it, step);
}

/* Returns false if the execution has to wait for others. */
static bool pass_gate(struct execution *it)
{
	bool at_free = *it->step == STEP_FREE;
	bool stopped = it->executor->cancelling || it->job->failed;

	if (it->doomed || it->dropped || (stopped && !it->started)) {
		skip(it);
		return false;
	}
	if (it->executor->cancelling) {
		interrupt(it);
		return false;
	}
	if (at_free ? it->holds_left || (!it->over_replaced && it->needs_left)
		    : it->needs_left)
		return false;
	if (it->started || succession_may_start(it))
		return true;
	it->dropped = true;
	skip(it);
	return false;
}

void execution_advance(struct execution *it)
{
	const struct kind *kind = it->call.kind;

	for (;; it->step++) {
		if (action_is_run(it->action) && step_only_follows(it->step)) {
			end_intent(it, NULL);
			become_settled(it);
		}
		switch (*it->step) {
		case STEP_END:
			finish(it, PHASE_DONE,
			       action_is_run(it->action) && it->action->have &&
					       !it->made
				       ? &it->action->have->run
				       : NULL,
			       NULL);
			return;
		case STEP_FREE:
		case STEP_NEEDS:
			if (!pass_gate(it))
				return;
			continue;
		case STEP_GONE:
			execution_stop_watching(it);
			let_go(it);
			continue;
		case STEP_WATCH:
			if (!kind->watch)
				continue;
			break;
		case STEP_WAIT:
			if (!kind->wait)
				continue;
			break;
		default:
			break;
		}
		next_call(it);
		return;
	}
}

static void on_watch(void *arg, uint32_t events)
{
	struct execution *it = arg;
	char drop[4096];

	(void)events;
	execution_stop_resting(it);
	/* Read and drop the text, or the descriptor stays readable.  rest()
	 * slows down a descriptor that cannot be read. */
	if (read(it->fd, drop, sizeof(drop)) < 0)
		drop[0] = '\0';
	it->woken = true;
	execution_make_ready(it);
	executor_settle(it->executor);
}

/* Waits before the state is read again: for the watch or a time. */
static void rest(struct execution *it)
{
	const struct kind *kind = it->call.kind;
	struct error ignored;

	if (it->woken) {
		it->woken = false;
		set_timer(it, WATCH_PAUSE_MS);
		return;
	}
	if (it->fd >= 0) {
		it->watch = loop_add_fd(it->executor->loop, it->fd, EPOLLIN,
					on_watch, it, &ignored);
		if (!it->watch)
			execution_stop_watching(
				it); /* the descriptor can't be polled */
	}
	/* The timer is set also with a watch, which may not report a sudden
	 * death. */
	set_timer(it, kind->poll_ms > 0 ? kind->poll_ms : POLL_MS);
}

static void run_ended(struct execution *it)
{
	const struct run_status *run = &it->call.found.run;
	const char *name = it->call.subject.name;
	struct error err;

	if (!it->call.found.exists) {
		error_set(&err, ERROR_FAILED,
			  "run '%s' is gone: somebody deleted it", name);
		fail(it, NULL, &err);
	} else if (!run_state_is_final(run->state)) {
		while (*it->step != STEP_WAIT)
			it->step--;
		rest(it);
	} else if (run->state == RUN_SUCCEEDED) {
		finish(it, PHASE_DONE, run, NULL);
	} else if (run->state == RUN_CANCELLED) {
		error_set(&err,
			  it->executor->cancelling ? ERROR_INTERRUPTED
						   : ERROR_FAILED,
			  "run '%s' was cancelled", name);
		fail(it, run, &err);
	} else {
		if (run->error[0])
			error_set(&err,
				  run->refusal ? (enum error_code)run->refusal
					       : ERROR_FAILED,
				  "run '%s': FAILED: %s", name, run->error);
		else
			error_set(&err, ERROR_FAILED,
				  "run '%s': FAILED (exit %d)", name,
				  run->exit_code);
		fail(it, run, &err);
	}
}

static void tell_wait(struct execution *it)
{
	const struct executor_options *options = it->executor->options;
	char text[sizeof(it->waits_for)];

	snprintf(text, sizeof(text), "%.159s", it->call.err.text);
	if (!*text || !options->waits || !strcmp(text, it->waits_for))
		return;
	memcpy(it->waits_for, text, sizeof(text));
	options->waits(options->arg, it->action, text);
}

bool execution_is_idle(const struct execution *it)
{
	return !it->calling && !it->timer && !it->watch && !is_over(it);
}

void execution_call_done(struct execution *it)
{
	const struct call *call = &it->call;
	enum step step = call->step;

	it->calling = false;
	if (call->ret < 0 && step == STEP_CANCEL)
		it->asked = CANCEL_NOT;
	if (call->ret < 0 && step != STEP_WATCH) {
		call_failed(it);
		return;
	}
	it->tries = 0;
	if (call->ret > 0 && it->executor->options->lacks)
		it->executor->options->lacks(it->executor->options->arg,
					     it->action, call->err.text);
	if (step == STEP_WATCH)
		it->fd = call->ret < 0 ? -1 : call->fd; /* -1: it is polled */
	if (makes(step)) {
		it->made = true;
		it->asked = CANCEL_NOT;
	}
	if (step == STEP_READ) {
		run_ended(it);
		return;
	}
	if (step == STEP_WAIT && call->state == WAIT_PENDING) {
		tell_wait(it);
		/* A cancel that was not sent yet goes first. */
		if (!it->executor->cancelling ||
		    (action_is_run(it->action) &&
		     it->asked == it->executor->cancelling))
			rest(it);
		else
			execution_advance(it);
		return;
	}
	if (step == *it->step)
		it->step++;
	execution_advance(it);
}
