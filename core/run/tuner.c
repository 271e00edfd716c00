/* SPDX-License-Identifier: Apache-2.0 */
#include "core/run/tuner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/run/trial_space.h"
#include "core/run/trial_value.h"

#define LOOK_MS 1000 /* from one look at the running trials to the next */
#define RETRY_MS 1000
#define END_TRIES 120 /* a second apart, on a disk that is full */

struct trial {
	struct tuner *tuner;
	struct lane lane;
	struct trial_record record;
	struct trial_reader *reader;
	struct trial_series series; /* of one that has succeeded */
	bool begun;
	bool final;
	bool closed; /* `lane` is done with */
	bool dirty;  /* the record could not be stored yet */
};

struct tuner {
	struct tuner_place place;
	const struct tuner_hooks *hooks;
	void *arg;
	const struct hyperparameter_spec *spec;
	struct trial_space space;
	struct trial **trials; /* those that were started */
	long count;
	long alive;
	long failed;
	long succeeded;
	long reported; /* so many of the ended ones have a value */
	bool prepared; /* what all need is there */
	enum run_state state;
	enum run_state ending; /* RUN_QUEUED: not yet */
	char why[400];
	struct loop_event *next_timer;
	struct loop_event *look_timer;
	struct loop_event *limit_timer;
	struct loop_event *retry_timer;
};

char *tuner_trial_folder(const char *run_folder, int number)
{
	return mem_printf("%s/trials/%d", run_folder, number);
}

static void changed(struct tuner *t)
{
	t->hooks->changed(t->arg);
}

static int put_record(struct trial *trial, struct error *err)
{
	struct tuner *t = trial->tuner;

	trial->dirty = store_trial_put(t->place.lane->store, t->place.run,
				       &trial->record, err) < 0;
	return trial->dirty ? -1 : 0;
}

static void retry(void *arg, uint32_t events)
{
	struct tuner *t = arg;
	struct error ignored;

	(void)events;
	t->retry_timer = NULL;
	for (long i = 0; i < t->count; i++) {
		if (!t->trials[i]->dirty ||
		    put_record(t->trials[i], &ignored) == 0)
			continue;
		t->retry_timer =
			loop_add_timer(t->place.lane->loop, RETRY_MS, retry, t);
		break;
	}
	changed(t);
}

static void record(struct trial *trial)
{
	struct tuner *t = trial->tuner;
	struct error err;

	if (put_record(trial, &err) < 0) {
		fprintf(stderr, "cannot record trial %d: %s\n",
			trial->record.number, err.text);
		if (!t->retry_timer)
			t->retry_timer = loop_add_timer(t->place.lane->loop,
							RETRY_MS, retry, t);
	}
	changed(t);
}

/* The program's arguments, then its hyperparameters, then --job-dir with a
 * folder for each trial: as the service did. */
static void set_command(struct run_spec *spec, const char **values,
			const struct hyperparameter_spec *tuning,
			struct arena *mem)
{
	const struct parameter_spec *params = tuning->params.items;
	const struct strings *old = &spec->command;
	size_t count = old->count + tuning->params.count, n = 0;
	const char **items = arena_alloc(mem, count * sizeof(*items));

	for (size_t i = 0; i < spec->args_end; i++)
		items[n++] = old->items[i];
	for (size_t i = 0; i < tuning->params.count; i++)
		items[n++] = arena_printf(mem, "--%s=%s",
					  params[i].parameter_name, values[i]);
	for (size_t i = spec->args_end; i < old->count; i++)
		items[n++] = old->items[i];
	if (spec->args_end < old->count)
		items[n - 1] = arena_printf(mem, "%s/%s", items[n - 1],
					    spec->topology.trial_id);
	spec->command = (struct strings){ .count = n, .items = items };
}

static void make_spec(struct trial *trial, const char **values)
{
	struct tuner *t = trial->tuner;
	struct arena *mem = t->place.mem;
	struct run_spec *spec = &trial->lane.spec;
	char *folder =
		tuner_trial_folder(t->place.spec->folder, trial->record.number);
	size_t size =
		t->place.spec->topology.count * sizeof(*spec->topology.tasks);

	*spec = *t->place.spec;
	spec->folder = arena_strdup(mem, folder);
	spec->output = arena_printf(mem, "%s/output", folder);
	spec->prepared = t->prepared;
	spec->topology.tasks = arena_alloc(mem, size);
	memcpy(spec->topology.tasks, t->place.spec->topology.tasks, size);
	spec->topology.trial_id = arena_printf(mem, "%d", trial->record.number);
	spec->topology.metric_file = arena_printf(mem, "%s/metric", folder);
	set_command(spec, values, t->spec, mem);
	free(folder);
}

static const char *parameters_text(struct tuner *t, const char **values)
{
	const struct parameter_spec *params = t->spec->params.items;
	json_t *map = json_object();
	const char *out;
	char *text;

	for (size_t i = 0; i < t->spec->params.count; i++)
		json_put_text(map, params[i].parameter_name, values[i]);
	text = json_dumps(map, JSON_COMPACT);
	out = arena_strdup(t->place.mem, text);
	free(text);
	json_decref(map);
	return out;
}

static void on_next(void *arg, uint32_t events);

/* Soon, from the loop: not while a trial is at its end, or its beginning. */
static void schedule(struct tuner *t)
{
	if (!t->next_timer)
		t->next_timer =
			loop_add_timer(t->place.lane->loop, 0, on_next, t);
}

/* The first reason counts. */
static void end(struct tuner *t, enum run_state ending, const char *why,
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
		if (t->trials[i]->begun && !t->trials[i]->final)
			attempt_cancel(t->trials[i]->lane.attempt,
				       "the run has ended", now);
	schedule(t);
}

static void on_state_changed(void *arg)
{
	struct trial *trial = arg;
	struct tuner *t = trial->tuner;

	if (attempt_state(trial->lane.attempt) != RUN_RUNNING)
		return;
	trial->record.state = RUN_RUNNING;
	trial->record.start_time_ms = time_now_ms();
	t->prepared = true;
	if (t->state == RUN_PREPARING)
		t->state = RUN_RUNNING;
	record(trial);
	schedule(t);
}

/* What it has reported by now. */
static int read_value(struct trial *trial, struct trial_series *series,
		      struct error *err)
{
	struct trial_point last;

	if (trial_reader_read(trial->reader, trial->final, series, err) < 0)
		return -1;
	if (trial_series_result(series, &last)) {
		trial->record.value = last.value;
		trial->record.step = last.step;
	}
	return 0;
}

static void set_end(struct trial *trial)
{
	struct attempt_outcome outcome = attempt_outcome(trial->lane.attempt);
	struct trial_record *to = &trial->record;
	struct error err;

	to->end_time_ms = time_now_ms();
	to->state = attempt_state(trial->lane.attempt);
	to->exit_code = outcome.exit_code;
	to->early = to->early && to->state == RUN_CANCELLED;
	if (outcome.why)
		to->error = arena_strdup(trial->tuner->place.mem, outcome.why);
	if (read_value(trial, &trial->series, &err) < 0 && !to->error)
		to->error = arena_strdup(trial->tuner->place.mem, err.text);
	trial_reader_free(trial->reader);
	trial->reader = NULL;
}

/* Whether so many have failed that there is no point in going on. */
static void check_failures(struct tuner *t, const struct trial *last)
{
	long most = t->spec->max_failed_trials;
	char why[400];

	if (!t->prepared) {
		/* What failed is what all need. */
		end(t, RUN_FAILED, last->record.error, false);
	} else if (most ? t->failed >= most
			: !t->succeeded && t->failed >= TUNER_FAILED_MAX) {
		snprintf(why, sizeof(why), "%ld trial%s failed%s; trial %d: %s",
			 t->failed, t->failed > 1 ? "s" : "",
			 most ? " (maxFailedTrials)" : ", and none succeeded",
			 last->record.number, last->record.error);
		end(t, RUN_FAILED, why, false);
	}
}

static void on_ended(void *arg)
{
	struct trial *trial = arg;
	struct tuner *t = trial->tuner;

	t->alive--;
	trial->final = true;
	lane_end(&trial->lane);
	set_end(trial);
	t->reported += !isnan(trial->record.value);
	t->succeeded += trial->record.state == RUN_SUCCEEDED;
	t->failed += trial->record.state == RUN_FAILED;
	record(trial);
	if (trial->record.state == RUN_FAILED)
		check_failures(t, trial);
	schedule(t);
}

/* Returns -1 if it could not even be prepared to be tried. */
static int start_trial(struct tuner *t, struct error *err)
{
	struct trial *trial = mem_alloc(sizeof(*trial));
	const char **values = trial_space_next(&t->space, t->place.mem);

	if ((t->count & (t->count - 1)) == 0)
		t->trials =
			mem_grow(t->trials, t->count ? 2 * (size_t)t->count : 1,
				 sizeof(struct trial *));
	t->trials[t->count++] = trial;
	trial->tuner = t;
	trial->record = (struct trial_record){
		.number = (int)t->count,
		.state = RUN_PREPARING,
		.parameters = parameters_text(t, values),
		.value = NAN,
		.step = -1,
		.exit_code = -1,
	};
	trial->lane.place = t->place.lane;
	trial->lane.run = t->place.run;
	trial->lane.trial = trial->record.number;
	trial->lane.state_changed = on_state_changed;
	trial->lane.ended = on_ended;
	trial->lane.arg = trial;
	make_spec(trial, values);
	record(trial);
	if (folder_make(trial->lane.spec.folder, err) < 0 ||
	    lane_open(&trial->lane, t->place.mem, err) < 0)
		return -1;
	trial->reader =
		trial_reader_new(&trial->lane.spec, t->spec->metric_tag, err);
	if (!trial->reader)
		return -1;
	trial->begun = true;
	t->alive++;
	lane_begin(&trial->lane, 0);
	return 0;
}

/* Those that have ended need nothing any more, once that is stored. */
static void close_trials(struct tuner *t)
{
	struct error ignored;

	for (long i = 0; i < t->count; i++) {
		struct trial *trial = t->trials[i];

		if (!trial->final || trial->closed ||
		    recorder_flush(&trial->lane.recorder, &ignored) < 0)
			continue;
		lane_done(&trial->lane);
		trial->closed = true;
	}
}

/* What is not stored now never will be. */
static void store_all(struct tuner *t)
{
	struct timespec pause = { .tv_sec = 1 };
	struct error err;
	int tries = 0;

	for (long i = 0; i < t->count; i++) {
		struct trial *trial = t->trials[i];

		if (trial->final && !trial->closed)
			recorder_end(&trial->lane.recorder, &err);
		while (trial->dirty && put_record(trial, &err) < 0 &&
		       ++tries < END_TRIES)
			nanosleep(&pause, NULL);
	}
}

static void finish(struct tuner *t)
{
	loop_remove(t->place.lane->loop, t->look_timer);
	loop_remove(t->place.lane->loop, t->limit_timer);
	loop_remove(t->place.lane->loop, t->retry_timer);
	t->look_timer = t->limit_timer = t->retry_timer = NULL;
	store_all(t);
	t->state = t->ending != RUN_QUEUED ? t->ending : RUN_SUCCEEDED;
	if (t->ending == RUN_QUEUED && !t->reported) {
		t->state = RUN_FAILED;
		if (t->failed == t->count)
			snprintf(t->why, sizeof(t->why),
				 "all %ld trials failed; the last: %s",
				 t->count,
				 t->trials[t->count - 1]->record.error);
		else
			snprintf(t->why, sizeof(t->why),
				 "no trial reported the metric '%s': neither "
				 "in the file that CLOUD_ML_HP_METRIC_FILE "
				 "names nor as %s=VALUE in its output",
				 t->spec->metric_tag, t->spec->metric_tag);
	}
	t->hooks->ended(t->arg);
}

/* What this trial lacks (a folder, ports) the next would lack as well. */
static void give_up(struct tuner *t, const struct error *why)
{
	struct trial *trial = t->trials[t->count - 1];

	trial->record.state = RUN_FAILED;
	trial->record.end_time_ms = time_now_ms();
	trial->record.error = arena_strdup(t->place.mem, why->text);
	trial->final = true;
	record(trial);
	end(t, RUN_FAILED, why->text, false);
}

static void on_next(void *arg, uint32_t events)
{
	struct tuner *t = arg;
	struct error err;
	long most = t->prepared ? t->spec->max_parallel_trials : 1;

	(void)events;
	t->next_timer = NULL;
	close_trials(t);
	while (t->ending == RUN_QUEUED && t->alive < most &&
	       t->count < t->space.trials) {
		if (start_trial(t, &err) < 0)
			give_up(t, &err);
	}
	if (!t->alive &&
	    (t->ending != RUN_QUEUED || t->count == t->space.trials)) {
		loop_remove(t->place.lane->loop, t->next_timer);
		t->next_timer = NULL;
		finish(t);
	}
}

/* Those that others were better than at the same step are ended. */
static void look_at(struct trial *trial, const struct trial_series *completed,
		    size_t count)
{
	double before = trial->record.value;
	struct trial_series series;
	struct error ignored;

	if (read_value(trial, &series, &ignored) < 0)
		return;
	if (trial_is_hopeless((enum goal_type)trial->tuner->spec->goal, &series,
			      completed, count)) {
		trial->record.early = true;
		attempt_cancel(trial->lane.attempt,
			       "stopped early: the median of the others was "
			       "better at this step",
			       false);
	}
	trial_series_done(&series);
	if (trial->record.value != before && !isnan(trial->record.value))
		record(trial);
}

static void on_look(void *arg, uint32_t events)
{
	struct tuner *t = arg;
	struct trial_series *completed =
		mem_alloc(((size_t)t->count + 1) * sizeof(*completed));
	size_t n = 0;

	(void)events;
	t->look_timer =
		loop_add_timer(t->place.lane->loop, LOOK_MS, on_look, t);
	for (long i = 0; i < t->count; i++)
		if (t->trials[i]->record.state == RUN_SUCCEEDED &&
		    t->trials[i]->series.count)
			completed[n++] = t->trials[i]->series;
	for (long i = 0; i < t->count; i++)
		if (t->trials[i]->record.state == RUN_RUNNING &&
		    !t->trials[i]->record.early && !t->trials[i]->final)
			look_at(t->trials[i], completed, n);
	free(completed);
}

static void on_limit(void *arg, uint32_t events)
{
	struct tuner *t = arg;
	char limit[32], why[160];

	(void)events;
	t->limit_timer = NULL;
	duration_format(t->place.spec->max_running_time_s, limit,
			sizeof(limit));
	snprintf(why, sizeof(why),
		 "cancelled for exceeding the maximum running time of %s "
		 "(scheduling.maxRunningTime)",
		 limit);
	end(t, RUN_CANCELLED, why, false);
}

struct tuner *tuner_new(const struct tuner_place *place,
			const struct tuner_hooks *hooks, void *arg)
{
	struct tuner *t = mem_alloc(sizeof(*t));

	t->place = *place;
	t->hooks = hooks;
	t->arg = arg;
	t->spec = &place->spec->tuning;
	t->state = RUN_QUEUED;
	t->ending = RUN_QUEUED;
	trial_space_init(&t->space, t->spec, place->spec->job_id);
	return t;
}

void tuner_free(struct tuner *t)
{
	if (!t)
		return;
	loop_remove(t->place.lane->loop, t->next_timer);
	for (long i = 0; i < t->count; i++) {
		struct trial *trial = t->trials[i];

		if (!trial->closed)
			lane_done(&trial->lane);
		trial_reader_free(trial->reader);
		trial_series_done(&trial->series);
		free(trial);
	}
	free(t->trials);
	trial_space_done(&t->space);
	free(t);
}

void tuner_begin(struct tuner *t)
{
	struct loop *loop = t->place.lane->loop;

	t->state = RUN_PREPARING;
	changed(t);
	if (t->spec->enable_trial_early_stopping)
		t->look_timer = loop_add_timer(loop, LOOK_MS, on_look, t);
	if (t->place.spec->max_running_time_s)
		t->limit_timer = loop_add_timer(
			loop, t->place.spec->max_running_time_s * 1000,
			on_limit, t);
	schedule(t);
}

void tuner_cancel(struct tuner *t, const char *why, bool now)
{
	end(t, RUN_CANCELLED, why, now);
}

void tuner_fail(struct tuner *t, const char *why)
{
	end(t, RUN_FAILED, why, false);
}

enum run_state tuner_state(const struct tuner *tuner)
{
	return tuner->state;
}

const char *tuner_why(const struct tuner *tuner)
{
	return tuner->why[0] ? tuner->why : NULL;
}
