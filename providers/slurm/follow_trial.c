/* SPDX-License-Identifier: Apache-2.0 */
/* Follows a trial that is an element of a job array, like a run, with a record
 * and a folder of its own. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/trial/trial_result.h"
#include "core/trial/trial_spec.h"
#include "core/trial/trial_folder.h"
#include "providers/slurm/attempts.h"
#include "providers/slurm/slurm_trials.h"

const struct queue_job *trials_element(const struct trials *t, int number)
{
	const struct queue_job *job = &t->run->job;

	if (!t->run->known)
		return NULL;
	return job->element_count ? queue_element(job, number) : job;
}

/* A trial to look at, in its newest attempt. */
struct trial_look {
	struct trials *all;
	struct slurm_look look;
	struct trial_record *record;
	struct trial_record before; /* as it is stored */
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

/* Writes the specification, which makes the folder one of a trial. */
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

/* Opens a trial in its newest attempt. */
static int open_trial(struct trial_look *one, struct error *err)
{
	const char *path;

	free(one->look.folder);
	one->look.folder = trial_logs_folder(one->all->folder, one->look.trial);
	path = arena_printf(one->look.mem, "%s/spec.json", one->look.folder);
	if (!one->record->parameters || access(path, F_OK) < 0)
		return make_folder(one, err);
	if (spec_read(one->look.folder, one->look.mem, &one->spec, err) < 0)
		return -1;
	one->look.attempt = one->spec.restarts + one->spec.preemptions;
	return 0;
}

/* Returns why the trial ended as it did; in `mem`. */
static const char *explain(const struct trial_look *one)
{
	const char *why;

	if (one->record->state == RUN_FAILED) {
		why = look_explain_limit(&one->look);
		return why ? why : look_explain(&one->look);
	}
	if (one->record->state != RUN_CANCELLED)
		return NULL;
	if (one->record->early)
		return "stopped early: the median of the others was better at "
		       "this step";
	why = queue_explain(&one->look.job, one->look.mem);
	return *why ? why : "the run has ended";
}

/* Ends a trial; the record has the state and the result. */
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

/* Reads the metric from the copied log of a trial that left no result. */
static void read_value(struct trial_look *one)
{
	struct trial_series series = { 0 };
	struct trial_reader *reader;
	struct run_spec spec = one->spec;
	struct error ignored;

	spec.folder = one->look.folder;
	spec.topology.metric_file =
		arena_printf(one->look.mem, "%s/metric", one->look.folder);
	reader = trial_reader_new(&spec, spec.tuning.metric_tag, &ignored);
	if (reader && trial_reader_read(reader, true, &series, &ignored) == 0)
		trial_record_judge(one->record, &series);
	trial_series_done(&series);
	trial_reader_free(reader);
}

/* Ends a trial which Slurm says is over, but which has left no result. */
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

/* Goes on with another attempt that was decided on; returns 1. */
static int go_on(struct trial_look *one, const struct slurm_next *next,
		 struct error *err)
{
	struct slurm_look *look = &one->look;
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
	/* Reset the tasks first: a process that is killed after that finds the
	 * old attempt, and repeats this. */
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
	const struct slurm_look *look = &one->look;
	bool waits = look->known && queue_state(look->job.state) == RUN_QUEUED;

	one->record->state = waits ? RUN_QUEUED : RUN_RUNNING;
	one->record->error =
		waits ? queue_explain(&look->job, look->mem) : NULL;
	if (!one->record->start_time_ms)
		one->record->start_time_ms = look_start_time(look);
	return put(one, err);
}

/* Looks at an attempt; returns 1 if there is another one to look at. */
static int look_at_attempt(struct trial_look *one, struct error *err)
{
	struct trial_result result = { 0 };
	struct slurm_look *look = &one->look;
	enum run_state state =
		look->known ? queue_state(look->job.state) : RUN_FAILED;
	bool over = look->known ? run_state_is_final(state) : !one->all->away;
	struct slurm_next next;
	int ended;

	if (look_fetch(look, err) < 0)
		return -1;
	ended = trial_result_read(look->folder, &result, err);
	/* The end of a task may have been read after its log, so read both
	 * again. */
	if (ended < 0 || ((over || ended == 0) && look_fetch(look, err) < 0) ||
	    look_read_tasks(look, err) < 0)
		return -1;
	look_read_status(look);
	if (ended == 0) {
		trial_result_record(&result, one->record);
		trial_result_done(&result);
		/* The trial was told to end because its time was over. */
		if (look->known && state == RUN_FAILED &&
		    one->record->state == RUN_CANCELLED && !one->record->early)
			one->record->state = RUN_FAILED;
		if (look_is_settled(look))
			return end_trial(one, err);
		*one->record = one->before;
		return put(one, err);
	}
	if (slurm_next_read(look->folder, &next, err) == 0 && next.again)
		return go_on(one, &next, err);
	if (!over)
		return keep_running(one, err);
	/* The last output may come a moment later. */
	if (!look_is_settled(look) ||
	    (state != RUN_CANCELLED &&
	     time_now_ms() - look_end_time(look) < LOOK_SETTLE_MS))
		return put(one, err);
	return end_by_slurm(one, state, err);
}

int trials_look_at(struct trials *t, int number, struct error *err)
{
	const struct queue_job *job = trials_element(t, number);
	struct trial_look one = { .all = t,
				  .look = *t->run,
				  .record = &t->records[number - 1] };
	int ret;

	one.before = *one.record;
	one.look.trial = number;
	one.look.attempt = 0;
	one.look.folder = NULL;
	one.look.known = job;
	one.look.job = job ? *job
			   : (struct queue_job){ .state = "",
						 .reason = "",
						 .note = "" };
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
