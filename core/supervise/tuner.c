/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/tuner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/supervise/tuner_internal.h"

#define LOOK_MS 1000 /* time between looks at the running trials */
#define MORE_MS 10   /* the same if one was not read completely */
#define RETRY_MS 1000
#define END_TRIES 120 /* a second apart, on a disk that is full */

static void changed(struct tuner *t)
{
	t->hooks->changed(t->arg);
}

static void retry(void *arg, uint32_t events)
{
	struct tuner *t = arg;
	struct error ignored;

	(void)events;
	t->retry_timer = NULL;
	for (long i = 0; i < t->count; i++) {
		if (!t->trials[i]->dirty ||
		    trial_record_now(t->trials[i], &ignored) == 0)
			continue;
		t->retry_timer = loop_add_timer(t->deps.context->loop, RETRY_MS,
						retry, t);
		break;
	}
	changed(t);
}

void trial_record(struct trial *trial)
{
	struct tuner *t = trial->tuner;
	struct error err;

	if (trial_record_now(trial, &err) < 0) {
		fprintf(stderr, "cannot record trial %d: %s\n",
			trial->record.number, err.text);
		if (!t->retry_timer)
			t->retry_timer = loop_add_timer(t->deps.context->loop,
							RETRY_MS, retry, t);
	}
	changed(t);
}

static void on_next(void *arg, uint32_t events);

/* Schedules the next step from the loop, as a trial may be just ending or
 * starting. */
static void tuner_schedule(struct tuner *t)
{
	if (!t->next_timer)
		t->next_timer =
			loop_add_timer(t->deps.context->loop, 0, on_next, t);
}

/* Ends the run; the first reason counts. */
static void tuner_end(struct tuner *t, enum run_state ending, const char *why,
		      bool now)
{
	if (t->ending == RUN_QUEUED) {
		t->ending = ending;
		snprintf(t->why, sizeof(t->why), "%s", why);
		if (ending == RUN_CANCELLED) {
			t->state = RUN_CANCELLING;
			changed(t);
		}
	} else if (!now) {
		return;
	}
	for (long i = 0; i < t->count; i++)
		trial_cancel(t->trials[i], "the run has ended", now);
	tuner_schedule(t);
}

void tuner_trial_runs(struct tuner *t)
{
	t->prepared = true;
	if (t->state == RUN_PREPARING)
		t->state = RUN_RUNNING;
	tuner_schedule(t);
}

/* Ends the run if so many trials have failed that going on is pointless. */
static void check_failures(struct tuner *t, const struct trial *last)
{
	char why[sizeof(t->why)];

	if (!t->prepared || !trial_slot_any(t)) {
		/* All trials need what failed here. */
		t->held = !t->prepared &&
			  last->record.exit_code == ERROR_TRY_AGAIN;
		tuner_end(t, RUN_FAILED, last->record.error, false);
	} else if (trial_tally_is_enough(&t->tally, t->spec, why,
					 sizeof(why))) {
		tuner_end(t, RUN_FAILED, why, false);
	}
}

void tuner_trial_ended(struct trial *trial)
{
	struct tuner *t = trial->tuner;

	t->alive--;
	trial_tally_add(&t->tally, &trial->record);
	if (trial->record.state == RUN_FAILED)
		check_failures(t, trial);
	tuner_schedule(t);
}

/* Frees ended trials once their records are stored. */
static void close_trials(struct tuner *t)
{
	struct error ignored;

	for (long i = 0; i < t->count; i++) {
		struct trial *trial = t->trials[i];

		if (!trial->final || trial->closed ||
		    recorder_flush(&trial->context.recorder, &ignored) < 0)
			continue;
		run_context_done(&trial->context);
		trial->closed = true;
	}
}

/* Stores the records; this is the last chance. */
static void store_all(struct tuner *t)
{
	struct timespec pause = { .tv_sec = 1 };
	struct error err;
	int tries = 0;

	for (long i = 0; i < t->count; i++) {
		struct trial *trial = t->trials[i];

		if (trial->final && !trial->closed)
			recorder_end(&trial->context.recorder, &err);
		while (trial->dirty && trial_record_now(trial, &err) < 0 &&
		       ++tries < END_TRIES)
			nanosleep(&pause, NULL);
	}
}

static void finish(struct tuner *t)
{
	loop_remove(t->deps.context->loop, t->look_timer);
	loop_remove(t->deps.context->loop, t->limit_timer);
	loop_remove(t->deps.context->loop, t->retry_timer);
	t->look_timer = t->limit_timer = t->retry_timer = NULL;
	store_all(t);
	t->state = t->ending != RUN_QUEUED
			   ? t->ending
			   : trial_tally_verdict(&t->tally, t->spec, t->why,
						 sizeof(t->why));
	t->hooks->ended(t->arg);
}

/* Gives up: the next trial would lack the same folder or ports. */
static void give_up(struct tuner *t, const struct error *why)
{
	tuner_end(t, RUN_FAILED, why->text, false);
	t->alive++; /* undone by trial_give_up() */
	trial_give_up(t->trials[t->count - 1], why->text);
}

static void on_next(void *arg, uint32_t events)
{
	struct tuner *t = arg;
	struct error err;
	long slot;

	(void)events;
	t->next_timer = NULL;
	close_trials(t);
	while (t->ending == RUN_QUEUED && (t->prepared || !t->alive) &&
	       t->count < t->space.trials && (slot = trial_slot_find(t)) >= 0) {
		if (trial_start(trial_add(t), (size_t)slot, &err) < 0)
			give_up(t, &err);
	}
	if (!t->alive &&
	    (t->ending != RUN_QUEUED || t->count == t->space.trials)) {
		loop_remove(t->deps.context->loop, t->next_timer);
		t->next_timer = NULL;
		finish(t);
	}
}

/* Ends a trial early if others were better at the same step.  Returns false if
 * its values were not read completely. */
static bool look_at(struct trial *trial, const struct trial_series *completed,
		    size_t count)
{
	double before = trial->record.value;
	struct trial_series series;
	struct error ignored;
	int ret = trial_look(trial, &series, &ignored);

	if (ret)
		return ret < 0;
	if (trial_is_hopeless((enum goal_type)trial->tuner->spec->goal, &series,
			      completed, count)) {
		trial->record.early = true;
		trial_cancel(trial,
			     "stopped early: the median of the others was "
			     "better at this step",
			     false);
	}
	trial_series_done(&series);
	if (trial->record.value != before && !isnan(trial->record.value))
		trial_record(trial);
	return true;
}

static void on_look(void *arg, uint32_t events)
{
	struct tuner *t = arg;
	struct trial_series *completed =
		mem_alloc(((size_t)t->count + 1) * sizeof(*completed));
	bool all = true;
	size_t n = 0;

	(void)events;
	for (long i = 0; i < t->count; i++)
		if (t->trials[i]->record.state == RUN_SUCCEEDED &&
		    t->trials[i]->series.count)
			completed[n++] = t->trials[i]->series;
	for (long i = 0; i < t->count; i++)
		if (t->trials[i]->record.state == RUN_RUNNING &&
		    !t->trials[i]->record.early && !t->trials[i]->final)
			all = look_at(t->trials[i], completed, n) && all;
	t->look_timer = loop_add_timer(t->deps.context->loop,
				       all ? LOOK_MS : MORE_MS, on_look, t);
	free(completed);
}

static void on_limit(void *arg, uint32_t events)
{
	struct tuner *t = arg;
	char why[160];

	(void)events;
	t->limit_timer = NULL;
	spec_limit_text(t->deps.spec, why, sizeof(why));
	tuner_end(t, RUN_CANCELLED, why, false);
}

struct tuner *tuner_new(const struct tuner_deps *deps,
			const struct tuner_hooks *hooks, void *arg)
{
	struct tuner *t = mem_alloc(sizeof(*t));

	t->deps = *deps;
	t->hooks = hooks;
	t->arg = arg;
	t->spec = &deps->spec->tuning;
	t->state = RUN_QUEUED;
	t->ending = RUN_QUEUED;
	t->slots = mem_alloc(trial_slot_count(t) * sizeof(*t->slots));
	trial_space_init(&t->space, t->spec, deps->spec->job_id);
	return t;
}

void tuner_free(struct tuner *t)
{
	if (!t)
		return;
	loop_remove(t->deps.context->loop, t->next_timer);
	trial_slots_done(t);
	for (long i = 0; i < t->count; i++)
		trial_free(t->trials[i]);
	free(t->trials);
	trial_space_done(&t->space);
	free(t);
}

/* Gives up when the records cannot be read: trials that were not taken over end
 * with the lease of their hosts. */
static void give_up_all(struct tuner *t, const struct error *why)
{
	tuner_end(t, RUN_FAILED, why->text, false);
	for (long i = 0; i < t->count; i++) {
		if (t->trials[i]->begun || t->trials[i]->final)
			continue;
		t->alive++; /* undone by trial_give_up() */
		trial_give_up(t->trials[i], why->text);
	}
}

/* Returns the time left: the limit is for all trials together, in whatever
 * process. */
static int64_t time_left_ms(const struct tuner *t)
{
	int64_t since_ms = t->deps.run->start_time_ms;
	int64_t left_ms = t->deps.spec->max_running_time_s * INT64_C(1000);

	if (since_ms)
		left_ms -= time_now_ms() - since_ms;
	return left_ms > 0 ? left_ms : 1;
}

void tuner_begin(struct tuner *t)
{
	struct loop *loop = t->deps.context->loop;
	struct error err;

	t->state = RUN_PREPARING;
	if (tuner_resume(t, &err) < 0)
		give_up_all(t, &err);
	if (t->prepared && t->state == RUN_PREPARING)
		t->state = RUN_RUNNING;
	changed(t);
	if (t->spec->enable_trial_early_stopping)
		t->look_timer = loop_add_timer(loop, LOOK_MS, on_look, t);
	if (t->deps.spec->max_running_time_s)
		t->limit_timer =
			loop_add_timer(loop, time_left_ms(t), on_limit, t);
	tuner_schedule(t);
}

void tuner_cancel(struct tuner *t, const char *why, bool now)
{
	tuner_end(t, RUN_CANCELLED, why, now);
}

void tuner_fail(struct tuner *t, const char *why)
{
	tuner_end(t, RUN_FAILED, why, false);
}

enum run_state tuner_state(const struct tuner *tuner)
{
	return tuner->state;
}

const char *tuner_why(const struct tuner *tuner)
{
	return tuner->why[0] ? tuner->why : NULL;
}

int tuner_exit_code(const struct tuner *tuner)
{
	if (tuner->held)
		return ERROR_TRY_AGAIN;
	return tuner->state == RUN_SUCCEEDED ? 0 : -1;
}
