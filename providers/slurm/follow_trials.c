/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run stands whose trials are the elements of a job array.  Each trial
 * that has begun is looked at as a run would be; what its end means for the
 * others was decided on its node (array.h), and is only told here.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/run/members.h"
#include "core/run/trial_result.h"
#include "core/run/trial_spec.h"
#include "core/run/trial_watch.h"
#include "core/run/tuner.h"
#include "providers/slurm/attempts.h"
#include "providers/slurm/look.h"

/* Which trials have begun: their numbers. */
#define BEGUN                                                                  \
	"cd \"$1/trials\" 2>/dev/null || exit 0\n"                             \
	"for t in *; do\n"                                                     \
	"  [ ! -e \"$t/attempts/0/begun\" ] || echo \"$t\"\n"                  \
	"done\n"
/* Other machines see by it how the run has ended. */
#define PUT_STATUS "[ -e \"$1/status\" ] || echo \"$2\" >\"$1/status\"\n"

struct trials {
	const struct look *run;
	const struct error *away; /* Slurm does not answer; or NULL */
	char *folder;             /* of the run, here */
	struct run_spec spec;
	long count;
	struct trial_record *records; /* by number - 1 */
	bool *recorded;               /* in the store */
	bool *begun;
	struct trial_tally tally;
	long gone;      /* so many ended without having begun */
	bool cancelled; /* some of these were cancelled */
};

/* ---- what is known ----------------------------------------------------- */

static int read_records(struct trials *t, struct error *err)
{
	struct arena *mem = t->run->mem;
	struct trial_list known;
	size_t i;

	if (store_trial_list(t->run->slurm->env.store, &t->run->record->run,
			     mem, &known, err) < 0)
		return -1;
	t->records = arena_alloc(mem, (size_t)t->count * sizeof(*t->records));
	t->recorded = arena_alloc(mem, (size_t)t->count * sizeof(bool));
	t->begun = arena_alloc(mem, (size_t)t->count * sizeof(bool));
	memset(t->recorded, 0, (size_t)t->count * sizeof(bool));
	memset(t->begun, 0, (size_t)t->count * sizeof(bool));
	for (i = 0; i < (size_t)t->count; i++)
		t->records[i] = (struct trial_record){ .number = (int)i + 1,
						       .state = RUN_QUEUED,
						       .value = NAN,
						       .step = -1,
						       .exit_code = -1 };
	for (i = 0; i < known.count; i++) {
		int number = known.items[i].number;

		if (number < 1 || number > t->count)
			continue;
		t->records[number - 1] = known.items[i];
		t->recorded[number - 1] = t->begun[number - 1] = true;
	}
	return 0;
}

static int read_begun(struct trials *t, struct error *err)
{
	const char *args[] = { look_run_folder(t->run), NULL };
	struct command_answer answer;
	char *word, *rest = NULL;
	struct error ignored;
	long number;

	if (cluster_sh(t->run->at->cluster, "cannot look at the trials", BEGUN,
		       args, NULL, &answer, err) < 0)
		return -1;
	if (answer.out.len)
		for (word = strtok_r(answer.out.data, "\n", &rest); word;
		     word = strtok_r(NULL, "\n", &rest))
			if (number_parse(word, 1, t->count, &number,
					 &ignored) == 0)
				t->begun[number - 1] = true;
	command_answer_done(&answer);
	return 0;
}

/* What Slurm says of a trial; NULL: nothing.  An array that was cancelled while
 * it waited may be one job there. */
static const struct queue_job *element_of(const struct trials *t, int number)
{
	const struct queue_job *job = &t->run->job;

	if (!t->run->known)
		return NULL;
	return job->element_count ? queue_element(job, number) : job;
}

/* ---- one trial --------------------------------------------------------- */

/* A trial that is being looked at, in its newest attempt. */
struct trial_look {
	struct trials *all;
	struct look look;
	struct trial_record *record;
	struct trial_record before; /* as it is in the store */
	struct run_spec spec;
};

static int put(struct trial_look *one, struct error *err)
{
	struct store *store = one->look.slurm->env.store;
	const struct run_record *run = &one->look.record->run;
	const struct trial_record *now = one->record, *was = &one->before;

	if (look_is_changed(&one->look) &&
	    store_progress_put(store, run, false, one->look.tasks.items,
			       one->look.changed, one->look.tasks.count,
			       err) < 0)
		return -1;
	if (one->all->recorded[now->number - 1] && now->state == was->state &&
	    now->start_time_ms == was->start_time_ms &&
	    !strcmp(now->error ? now->error : "", was->error ? was->error : ""))
		return 0;
	return store_trial_put(store, run, now, err);
}

/* Its specification, which is what makes its folder one of a trial. */
static int make_folder(struct trial_look *one, struct error *err)
{
	const struct run_spec *run = &one->all->spec;
	struct arena *mem = one->look.mem;
	const char *folder = one->look.folder;
	const char **values;

	if (trial_values_read(one->all->folder, run, one->look.trial, mem,
			      &values, err) < 0)
		return -1;
	trial_spec_make(run, one->look.trial, values, folder,
			arena_printf(mem, "%s/metric", folder), mem,
			&one->spec);
	one->record->parameters = trial_parameters(&run->tuning, values, mem);
	return folder_make(folder, err) < 0 ? -1 : spec_write(&one->spec, err);
}

/* In its newest attempt. */
static int open_trial(struct trial_look *one, struct error *err)
{
	const char *path;

	free(one->look.folder);
	one->look.folder = tuner_trial_logs(one->all->folder, one->look.trial);
	path = arena_printf(one->look.mem, "%s/spec.json", one->look.folder);
	if (!one->record->parameters || access(path, F_OK) < 0)
		return make_folder(one, err);
	if (spec_read(one->look.folder, one->look.mem, &one->spec, err) < 0)
		return -1;
	one->look.attempt = one->spec.restarts + one->spec.preemptions;
	return 0;
}

/* Why the trial has ended so; in `mem`. */
static const char *explain(const struct trial_look *one)
{
	const char *why;

	if (one->record->state == RUN_FAILED)
		return look_explain(&one->look);
	if (one->record->state != RUN_CANCELLED)
		return NULL;
	if (one->record->early)
		return "stopped early: the median of the others was better at "
		       "this step";
	why = queue_explain(&one->look.job, one->look.mem);
	return *why ? why : "the run has ended";
}

/* The record has its state, and what the result says. */
static int end_trial(struct trial_look *one, struct error *err)
{
	const struct task_record *task = one->record->state == RUN_FAILED
						 ? look_culprit(&one->look)
						 : NULL;

	look_settle_tasks(&one->look, task);
	one->record->error = explain(one);
	if (!one->record->start_time_ms)
		one->record->start_time_ms = look_start_time(&one->look);
	if (!one->record->end_time_ms)
		one->record->end_time_ms = look_end_time(&one->look)
						   ? look_end_time(&one->look)
						   : time_now_ms();
	return put(one, err);
}

/* Of a trial that could say nothing of its end: what it has reported here. */
static void read_value(struct trial_look *one)
{
	struct trial_series series = { 0 };
	struct trial_reader *reader;
	struct trial_point last;
	struct run_spec spec = one->spec;
	struct error ignored;

	spec.folder = one->look.folder;
	spec.topology.metric_file =
		arena_printf(one->look.mem, "%s/metric", one->look.folder);
	reader = trial_reader_new(&spec, spec.tuning.metric_tag, &ignored);
	if (reader && trial_reader_read(reader, true, &series, &ignored) == 0 &&
	    trial_series_result(&series, &last)) {
		one->record->value = last.value;
		one->record->step = last.step;
	}
	trial_series_done(&series);
	trial_reader_free(reader);
}

/* Slurm says that it is over, and the trial says nothing. */
static int end_by_slurm(struct trial_look *one, enum run_state state,
			struct error *err)
{
	const struct task_record *task = look_culprit(&one->look);

	one->record->state = state == RUN_SUCCEEDED ? RUN_FAILED : state;
	one->record->exit_code =
		task && one->record->state == RUN_FAILED ? task->exit_code : -1;
	read_value(one);
	return end_trial(one, err);
}

/* Another attempt at it was decided on: returns 1. */
static int go_on(struct trial_look *one, const struct slurm_next *next,
		 struct error *err)
{
	struct look *look = &one->look;
	int attempt = 1 + next->counts.failures + next->counts.preemptions;
	struct run_spec spec = one->spec;
	struct buf why = { 0 };

	if (!look_is_settled(look))
		return put(one, err);
	if (!look_explain_files(look, &why))
		look_explain_loss(look, &why);
	one->record->state = RUN_QUEUED;
	one->record->error = arena_printf(look->mem, "%s; attempt %d starts",
					  buf_text(&why), attempt);
	buf_done(&why);
	/* Tasks that begin anew first: who is killed after that finds the old
	 * attempt, and goes on from it once more. */
	if (look_make_tasks(look, err) < 0 || put(one, err) < 0)
		return -1;
	spec.restarts = next->counts.failures;
	spec.preemptions = next->counts.preemptions;
	spec.folder = arena_printf(look->mem, "%s/trials/%d/attempt-%d",
				   one->all->folder, look->trial, attempt);
	if (folder_make(spec.folder, err) < 0 || spec_write(&spec, err) < 0)
		return -1;
	one->before = *one->record;
	one->all->recorded[look->trial - 1] = true;
	return 1;
}

static int keep_running(struct trial_look *one, struct error *err)
{
	const struct look *look = &one->look;
	bool waits = look->known && queue_state(look->job.state) == RUN_QUEUED;

	one->record->state = waits ? RUN_QUEUED : RUN_RUNNING;
	one->record->error =
		waits ? queue_explain(&look->job, look->mem) : NULL;
	if (!one->record->start_time_ms)
		one->record->start_time_ms = look_start_time(look);
	return put(one, err);
}

/* 1: there is another attempt to be looked at. */
static int look_at_attempt(struct trial_look *one, struct error *err)
{
	struct trial_result result = { 0 };
	struct look *look = &one->look;
	enum run_state state =
		look->known ? queue_state(look->job.state) : RUN_FAILED;
	bool over = look->known ? run_state_is_final(state) : !one->all->away;
	struct slurm_next next;
	int ended;

	if (look_fetch(look, err) < 0)
		return -1;
	ended = trial_result_read(look->folder, &result, err);
	/* The end of a task may have been read after its log was. */
	if (ended < 0 || ((over || ended == 0) && look_fetch(look, err) < 0) ||
	    look_read_tasks(look, err) < 0)
		return -1;
	look_read_status(look);
	if (ended == 0) {
		trial_result_record(&result, one->record);
		trial_result_done(&result);
		if (look_is_settled(look))
			return end_trial(one, err);
		*one->record = one->before;
		return put(one, err);
	}
	if (slurm_next_read(look->folder, &next, err) == 0 && next.again)
		return go_on(one, &next, err);
	if (!over)
		return keep_running(one, err);
	/* Its last words may come a moment later. */
	if (!look_is_settled(look) ||
	    (state != RUN_CANCELLED &&
	     time_now_ms() - look_end_time(look) < LOOK_SETTLE_MS))
		return put(one, err);
	return end_by_slurm(one, state, err);
}

static int look_at_trial(struct trials *t, int number, struct error *err)
{
	const struct queue_job *job = element_of(t, number);
	struct trial_look one = { .all = t,
				  .look = *t->run,
				  .record = &t->records[number - 1] };
	int ret;

	one.before = *one.record;
	one.look.trial = number;
	one.look.attempt = 0;
	one.look.folder = NULL;
	one.look.known = job;
	one.look.job =
		job ? *job : (struct queue_job){ .state = "", .reason = "" };
	do {
		one.look.status = -1;
		one.look.status_ms = 0;
		ret = open_trial(&one, err);
		if (ret == 0)
			ret = look_at_attempt(&one, err);
	} while (ret == 1);
	free(one.look.folder);
	return ret;
}

/* One that has not begun: does it wait, or will it never do?  Returns whether it
 * has failed before it could. */
static bool count_waiting(struct trials *t, int number)
{
	const struct queue_job *job = element_of(t, number);
	enum run_state state = job ? queue_state(job->state) : RUN_FAILED;

	if (job ? !run_state_is_final(state) : t->away != NULL)
		return false;
	if (job && state == RUN_FAILED)
		return true;
	t->gone++;
	t->cancelled = t->cancelled || state == RUN_CANCELLED;
	return false;
}

static int look_at_each(struct trials *t, struct error *err)
{
	int i;

	for (i = 0; i < t->count; i++) {
		struct trial_record *record = &t->records[i];

		if (!t->begun[i] && !count_waiting(t, i + 1))
			continue;
		if (!run_state_is_final(record->state) &&
		    look_at_trial(t, i + 1, err) < 0)
			return -1;
		if (run_state_is_final(record->state))
			trial_tally_add(&t->tally, record);
	}
	return 0;
}

/* ---- all of them ------------------------------------------------------- */

static int put_run(struct trials *t, enum run_state state, const char *why,
		   struct error *err)
{
	struct run_record *run = &t->run->record->run;
	bool same = state == run->state &&
		    !strcmp(why, run->error ? run->error : "");
	int i;

	for (i = 0; i < t->count && !run->start_time_ms; i++)
		if (t->begun[i])
			run->start_time_ms = t->records[i].start_time_ms;
	if (run_state_is_final(state)) {
		for (i = 0; i < t->count; i++)
			if (t->records[i].end_time_ms > run->end_time_ms)
				run->end_time_ms = t->records[i].end_time_ms;
		if (!run->end_time_ms)
			run->end_time_ms =
				t->run->known && t->run->job.end_time_ms
					? t->run->job.end_time_ms
					: time_now_ms();
		run->exit_code = state == RUN_SUCCEEDED ? 0 : -1;
	}
	run->state = state;
	run->error = *why ? arena_strdup(t->run->mem, why) : NULL;
	return same ? 0 : store_run_put(t->run->slurm->env.store, run, err);
}

/* What is still there after so many have failed, and whose nodes could not say
 * so: those that were killed leave no result. */
static void stop_rest(struct trials *t)
{
	const char *const argv[] = { "scancel", t->run->job.id, NULL };
	struct command_answer answer;
	struct error ignored;

	if (t->run->known &&
	    cluster_slurm(t->run->at->cluster, argv, &answer, &ignored) == 0)
		command_answer_done(&answer);
}

static void put_status(struct trials *t, enum run_state state)
{
	const char *args[] = { look_run_folder(t->run),
			       state == RUN_SUCCEEDED ? "0" : "1", NULL };
	struct error ignored;

	cluster_sh(t->run->at->cluster, "cannot write there", PUT_STATUS, args,
		   NULL, NULL, &ignored);
}

static int conclude(struct trials *t, struct error *err)
{
	bool all = t->tally.ended + t->gone == t->count;
	enum run_state state = RUN_RUNNING;
	char why[600] = "";

	if (trial_tally_is_enough(&t->tally, &t->spec.tuning, why,
				  sizeof(why))) {
		state = RUN_FAILED;
		if (!all)
			stop_rest(t);
	} else if (all && (t->cancelled || t->tally.cancelled)) {
		state = RUN_CANCELLED;
	} else if (all && t->gone) {
		state = RUN_FAILED;
		snprintf(why, sizeof(why),
			 "%ld of %ld trials never began, and Slurm knows "
			 "nothing of them any more: they were cancelled while "
			 "they waited, or Slurm has lost them",
			 t->gone, t->count);
	} else if (all) {
		state = trial_tally_verdict(&t->tally, &t->spec.tuning, why,
					    sizeof(why));
	}
	/* Where nobody knows, what was known last holds. */
	if (!all)
		return put_run(
			t, t->away ? t->run->record->run.state : RUN_RUNNING,
			t->away ? t->away->text : "", err);
	put_status(t, state);
	return put_run(t, state, why, err);
}

int look_at_trials(struct look *look, const struct error *away,
		   struct error *err)
{
	struct trials t = { .run = look, .away = away, .folder = look->folder };
	struct run_record *run = &look->record->run;
	int lock, ret = -1;

	/* As long as it waits there is nothing else to be seen. */
	if (look->known && run->state == RUN_QUEUED &&
	    queue_state(look->job.state) == RUN_QUEUED) {
		const char *why = queue_explain(&look->job, look->mem);
		bool same = !strcmp(why, run->error ? run->error : "");

		run->error = *why ? why : NULL;
		return same ? 0
			    : store_run_put(look->slurm->env.store, run, err);
	}
	if (spec_read(look->folder, look->mem, &t.spec, err) < 0)
		return -1;
	t.count = trial_count(&t.spec);
	lock = look_lock(look, err);
	if (lock < 0)
		return -1;
	if (read_records(&t, err) == 0 && read_begun(&t, err) == 0 &&
	    look_at_each(&t, err) == 0)
		ret = conclude(&t, err);
	close(lock);
	return ret;
}
