/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a run whose trials are the elements of a job array.  The node where a
 * trial ended has decided what happens to the others (array.h); this file only
 * reports that.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/trial/trial_spec.h"
#include "providers/slurm/slurm_trials.h"

/* Lists the numbers of the trials that have begun. */
#define BEGUN                                                                  \
	"cd \"$1/trials\" 2>/dev/null || exit 0\n"                             \
	"for t in *; do\n"                                                     \
	"  [ ! -e \"$t/attempts/0/begun\" ] || echo \"$t\"\n"                  \
	"done\n"
/* Writes the final status, from which other machines see how the run has ended.
 * The nodes do not know why Slurm ended trials. */
#define PUT_STATUS                                                             \
	"[ \"$(cat \"$1/status\" 2>/dev/null)\" = \"$2\" ] || "                \
	"echo \"$2\" >\"$1/status\"\n"

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

/* Counts a trial that has not begun: it waits, or it never will begin.  Returns
 * whether it failed before it could begin. */
static bool count_waiting(struct trials *t, int number)
{
	const struct queue_job *job = trials_element(t, number);
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
		    trials_look_at(t, i + 1, err) < 0)
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

/* Cancels the remaining trials after too many failures if no node could: a
 * killed trial leaves no result. */
static void stop_rest(struct trials *t)
{
	struct error ignored;

	if (t->run->known)
		cluster_cancel(t->run->at->cluster, t->run->job.id, &ignored);
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
	const char *who;
	char why[600] = "";

	if (trial_tally_is_enough(&t->tally, &t->spec.tuning, why,
				  sizeof(why))) {
		state = RUN_FAILED;
		if (!all)
			stop_rest(t);
	} else if (all && (t->cancelled || t->tally.cancelled)) {
		state = look_cancelled(t->run, &who);
		snprintf(why, sizeof(why), "%s", who);
	} else if (all && t->gone) {
		state = RUN_FAILED;
		snprintf(why, sizeof(why),
			 "%ld of %ld trials never started, and Slurm no longer "
			 "knows them: they were cancelled while they waited, "
			 "or Slurm lost them",
			 t->gone, t->count);
	} else if (all) {
		state = trial_tally_verdict(&t->tally, &t->spec.tuning, why,
					    sizeof(why));
	}
	/* Without an answer the last known state stays. */
	if (!all)
		return put_run(
			t, t->away ? t->run->record->run.state : RUN_RUNNING,
			t->away ? t->away->text : "", err);
	put_status(t, state);
	return put_run(t, state, why, err);
}

int look_at_trials(struct slurm_look *look, const struct error *away,
		   struct error *err)
{
	struct trials t = { .run = look, .away = away, .folder = look->folder };
	struct run_record *run = &look->record->run;
	int lock, ret = -1;

	/* While the job waits there is nothing else to see. */
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
