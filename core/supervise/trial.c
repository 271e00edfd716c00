/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One trial: its specification, its attempts (restart.h decides how many), its
 * values, its record.
 *
 *	trials/3/		its folder, with the logs of its first attempt
 *	trials/3/attempt-2/	the logs of its second attempt
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/spec/restart.h"
#include "core/trial/trial_folder.h"
#include "core/trial/trial_spec.h"
#include "core/supervise/tuner_internal.h"
#include "core/trial/trial_result.h"

char *trial_own_folder(const struct trial *trial)
{
	return trial_logs_folder(trial->tuner->deps.spec->folder,
				 trial->record.number);
}

/* ---- its record ---- */

int trial_record_now(struct trial *trial, struct error *err)
{
	struct tuner *t = trial->tuner;

	trial->dirty = store_trial_put(t->deps.context->store, t->deps.run,
				       &trial->record, err) < 0;
	return trial->dirty ? -1 : 0;
}

int trial_look(struct trial *trial, struct trial_series *series,
	       struct error *err)
{
	int ret = trial_reader_step(trial->reader, trial->over, series, err);

	if (ret == 0)
		trial_record_judge(&trial->record, series);
	return ret;
}

static void set_end(struct trial *trial, const char *why_not)
{
	struct attempt_outcome outcome =
		attempt_outcome(trial->context.attempt);
	struct arena *mem = trial->tuner->deps.mem;
	struct trial_record *to = &trial->record;

	to->end_time_ms = time_now_ms();
	to->state = attempt_state(trial->context.attempt);
	to->exit_code = outcome.exit_code;
	to->early = to->early && to->state == RUN_CANCELLED;
	to->error = NULL;
	if (outcome.why && *why_not)
		to->error = arena_printf(mem, "%s (not restarted: %s)",
					 outcome.why, why_not);
	else if (outcome.why)
		to->error = arena_strdup(mem, outcome.why);
}

/* ---- its attempts ---- */

static void on_state_changed(void *arg)
{
	struct trial *trial = arg;

	if (attempt_state(trial->context.attempt) != RUN_RUNNING)
		return;
	trial->ran = true;
	trial->record.state = RUN_RUNNING;
	trial->record.error = NULL;
	if (!trial->record.start_time_ms)
		trial->record.start_time_ms = time_now_ms();
	tuner_trial_runs(trial->tuner);
	trial_record(trial);
}

/* Ends the trial after its last attempt; its record is set. */
static void end_trial(struct trial *trial)
{
	trial->final = true;
	trial_slot_leave(trial);
	trial_record(trial);
	tuner_trial_ended(trial);
}

/* Notes which output could not be used to judge the trial. */
static void note_missed(struct trial *trial)
{
	struct buf text = { 0 };

	if (trial_reader_missed(trial->reader, &text)) {
		fprintf(stderr, "trial %d: %s\n", trial->record.number,
			buf_text(&text));
		if (!trial->record.error)
			trial->record.error = arena_strdup(
				trial->tuner->deps.mem, buf_text(&text));
	}
	buf_done(&text);
}

/* Reads all values step by step from the loop: the patterns of the job may take
 * long, and a cancel must be handled meanwhile. */
static void read_to_end(void *arg, uint32_t events)
{
	struct trial *trial = arg;
	struct tuner *t = trial->tuner;
	struct error err;
	int ret = trial_look(trial, &trial->series, &err);

	(void)events;
	trial->next_timer = NULL;
	/* A run that is ending does not wait for the rest. */
	if (ret > 0 && t->ending == RUN_QUEUED) {
		trial->next_timer = loop_add_timer(t->deps.context->loop, 0,
						   read_to_end, trial);
		return;
	}
	if (ret < 0 && !trial->record.error)
		trial->record.error = arena_strdup(t->deps.mem, err.text);
	note_missed(trial);
	trial_reader_free(trial->reader);
	trial->reader = NULL;
	end_trial(trial);
}

static void on_next(void *arg, uint32_t events)
{
	struct trial *trial = arg;
	struct error err;

	(void)events;
	trial->next_timer = NULL;
	trial->reader = trial_reader_new(&trial->context.spec,
					 trial->tuner->spec->metric_tag, &err);
	if (!trial->reader) {
		trial_give_up(trial, err.text);
		return;
	}
	trial->record.state = RUN_PREPARING;
	trial_record(trial);
	run_context_begin(&trial->context, 0);
}

/* Writes the attempt down for a process that takes over. */
static int write_next(struct trial *trial,
		      const struct restart_decision *decision,
		      struct error *err)
{
	struct run_spec *spec = &trial->context.spec;
	int attempt =
		1 + decision->counts.failures + decision->counts.preemptions;
	char *folder = trial_attempt_folder(trial->tuner->deps.spec->folder,
					    trial->record.number, attempt);

	spec->folder = arena_strdup(trial->tuner->deps.mem, folder);
	spec->restarts = decision->counts.failures;
	spec->preemptions = decision->counts.preemptions;
	free(folder);
	return folder_make(spec->folder, err) < 0 ? -1 : spec_write(spec, err);
}

static int restart(struct trial *trial, const struct restart_decision *decision,
		   struct error *err)
{
	struct attempt_outcome outcome =
		attempt_outcome(trial->context.attempt);
	const struct run_spec *spec = &trial->context.spec;
	char delay[32];

	if (write_next(trial, decision, err) < 0)
		return -1;
	duration_format((long)(decision->delay_ms / 1000), delay,
			sizeof(delay));
	snprintf(trial->why, sizeof(trial->why), "%s; attempt %d starts in %s",
		 outcome.why, 1 + spec->restarts + spec->preemptions, delay);
	trial->record.state = RUN_QUEUED;
	trial->record.error = trial->why;
	trial->ran = false;
	trial_reader_free(trial->reader);
	trial->reader = NULL;
	trial_record(trial);
	trial->next_timer = loop_add_timer(trial->tuner->deps.context->loop,
					   decision->delay_ms, on_next, trial);
	return 0;
}

static void on_ended(void *arg)
{
	struct trial *trial = arg;
	struct tuner *t = trial->tuner;
	struct run_spec *spec = &trial->context.spec;
	struct attempt_outcome outcome =
		attempt_outcome(trial->context.attempt);
	const struct restart_counts counts = { spec->restarts,
					       spec->preemptions };
	struct restart_decision decision;
	struct error err;

	restart_decide(&spec->restart, &counts, &outcome, &decision);
	run_context_end(&trial->context);
	if (decision.again && t->ending == RUN_QUEUED) {
		if (restart(trial, &decision, &err) == 0)
			return;
		fprintf(stderr, "%s\n", err.text);
	}
	trial->over = true;
	set_end(trial, decision.why_not);
	read_to_end(trial, 0);
}

void trial_give_up(struct trial *trial, const char *why)
{
	trial->record.state = RUN_FAILED;
	trial->record.end_time_ms = time_now_ms();
	trial->record.error = arena_strdup(trial->tuner->deps.mem, why);
	end_trial(trial);
}

void trial_cancel(struct trial *trial, const char *why, bool now)
{
	if (!trial->begun || trial->final || trial->over)
		return;
	if (!trial->next_timer) {
		attempt_cancel(trial->context.attempt, why, now);
		return;
	}
	loop_remove(trial->tuner->deps.context->loop, trial->next_timer);
	trial->next_timer = NULL;
	trial->record.state = RUN_CANCELLED;
	trial->record.end_time_ms = time_now_ms();
	trial->record.error = arena_strdup(trial->tuner->deps.mem, why);
	end_trial(trial);
}

/* ---- its beginning ---- */

static void make_spec(struct trial *trial, const char **values)
{
	struct tuner *t = trial->tuner;
	const struct run_spec *run = t->deps.spec;
	int number = trial->record.number;
	char *folder = trial_folder(run->folder, number);
	/* The metric file of hosts is collected with their other output. */
	char *metric = mem_printf("%s%s/metric", folder,
				  run->hosts.names.count ? "/output" : "");

	trial_spec_make(run, number, values, folder, metric, t->deps.mem,
			&trial->context.spec);
	trial->context.spec.prepared = t->prepared;
	free(metric);
	free(folder);
}

struct trial *trial_add(struct tuner *t)
{
	struct trial *trial = mem_alloc(sizeof(*trial));
	const char **values = trial_space_next(&t->space, t->deps.mem);

	if ((t->count & (t->count - 1)) == 0)
		t->trials =
			mem_grow(t->trials, t->count ? 2 * (size_t)t->count : 1,
				 sizeof(struct trial *));
	t->trials[t->count++] = trial;
	trial->tuner = t;
	trial->record = (struct trial_record){
		.number = (int)t->count,
		.state = RUN_PREPARING,
		.parameters = trial_parameters(t->spec, values, t->deps.mem),
		.value = NAN,
		.step = -1,
		.exit_code = -1,
	};
	trial->context.deps = t->deps.context;
	trial->context.run = t->deps.run;
	trial->context.trial = trial->record.number;
	trial->context.state_changed = on_state_changed;
	trial->context.ended = on_ended;
	trial->context.arg = trial;
	make_spec(trial, values);
	return trial;
}

int trial_open(struct trial *trial, struct error *err)
{
	struct tuner *t = trial->tuner;

	if (folder_make(trial->context.spec.folder, err) < 0 ||
	    run_context_open(&trial->context, t->deps.mem, err) < 0 ||
	    spec_write(&trial->context.spec, err) < 0)
		return -1;
	trial->reader = trial_reader_new(&trial->context.spec,
					 t->spec->metric_tag, err);
	return trial->reader ? 0 : -1;
}

int trial_start(struct trial *trial, size_t slot, struct error *err)
{
	/* The record comes last, so that a reader who finds it finds the rest,
	 * too. */
	if (trial_slot_enter(trial, slot, err) < 0 ||
	    trial_open(trial, err) < 0)
		return -1;
	trial_record(trial);
	trial->begun = true;
	trial->tuner->alive++;
	run_context_begin(&trial->context, 0);
	return 0;
}

void trial_free(struct trial *trial)
{
	loop_remove(trial->tuner->deps.context->loop, trial->next_timer);
	if (!trial->closed)
		run_context_done(&trial->context);
	trial_reader_free(trial->reader);
	trial_series_done(&trial->series);
	free(trial);
}
