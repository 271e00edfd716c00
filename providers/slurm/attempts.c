/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/attempts.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/process/subprocess.h"
#include "core/task/task_files.h"
#include "core/task/task_runner.h"
#include "core/task/task_secrets.h"
#include "providers/slurm/array.h"

#define FILE_MAX 256
#define CALL_MS 60000
#define ANSWER_MAX ((size_t)64 << 10)
/* How late a shared directory may show the end of a task. */
#define SETTLE_MS 5000
#define LOOK_MS 250
/* How often a requeue is tried, as a controller that is away returns. */
#define REQUEUE_TRIES 20
#define REQUEUE_PAUSE_MS 30000
/* How long it takes at most until a requeued job is ended. */
#define END_MS 600000
/* The most bytes of a reason in a job's comment. */
#define NOTE_MAX 200
#define RUN_JSON_MAX ((size_t)16 << 20)

struct turn {
	const struct slurm_turn *at;
	struct arena *mem;
	struct run_spec spec;
	int last;   /* the last attempt begun; -1: none */
	int begun;  /* its number of requeues by then */
	int status; /* its exit status; -1: unknown */
	struct task_list tasks;
};

static const char *folder_of(const struct turn *turn, int attempt)
{
	if (turn->at->trial)
		return arena_printf(turn->mem, "%s/trials/%d/attempts/%d",
				    turn->at->run, turn->at->trial, attempt);
	return arena_printf(turn->mem, "%s/attempts/%d", turn->at->run,
			    attempt);
}

/* Returns the text of a small file in an attempt's folder, in `mem`; NULL if
 * there is none, or it is still empty. */
static const char *file_of(const char *attempt, const char *name,
			   struct arena *mem)
{
	char *path = path_join(attempt, name);
	struct error ignored;
	size_t len;
	char *text = file_read(path, FILE_MAX, &len, &ignored);
	const char *out = text && len ? arena_strdup(mem, text) : NULL;

	free(text);
	free(path);
	return out;
}

static int put_file(const char *attempt, const char *name, const char *text,
		    struct error *err)
{
	char *path = path_join(attempt, name);
	int ret = file_write(path, text, strlen(text), err);

	free(path);
	return ret;
}

int slurm_next_read(const char *attempt, struct slurm_next *out,
		    struct error *err)
{
	struct arena *mem = arena_new();
	const char *text = file_of(attempt, "next", mem);
	int ret = 0;

	*out = (struct slurm_next){ 0 };
	if (!text)
		ret = 1;
	else if (sscanf(text, "again %d %d %" SCNd64, &out->counts.failures,
			&out->counts.preemptions, &out->not_before_ms) == 3)
		out->again = true;
	else if (text_starts(text, "end"))
		sscanf(text, "end %95[^\n]", out->why_not);
	else
		ret = error_set(err, ERROR_FAILED,
				"what follows the attempt in '%s' is not "
				"understood",
				attempt);
	arena_free(mem);
	return ret;
}

static int put_next(const char *attempt, const struct slurm_next *next,
		    struct error *err)
{
	char text[FILE_MAX];

	if (next->again)
		snprintf(text, sizeof(text), "again %d %d %" PRId64 "\n",
			 next->counts.failures, next->counts.preemptions,
			 next->not_before_ms);
	else
		snprintf(text, sizeof(text), "end %s\n", next->why_not);
	return put_file(attempt, "next", text, err);
}

/* ---- what there is ----------------------------------------------------- */

static int read_last(struct turn *turn, struct error *err)
{
	const char *text, *last = NULL;

	turn->last = -1;
	turn->status = -1;
	while ((text = file_of(folder_of(turn, turn->last + 1), "begun",
			       turn->mem))) {
		turn->last++;
		turn->begun = atoi(text);
		last = folder_of(turn, turn->last);
	}
	text = last ? file_of(last, "status", turn->mem) : NULL;
	if (text)
		turn->status = atoi(text);
	return spec_read(turn->at->run, turn->mem, &turn->spec, err);
}

/* Reads how the tasks have ended, and waits a while for those without a
 * record. */
static int read_tasks(struct turn *turn, struct error *err)
{
	const char *folder = folder_of(turn, turn->last);
	int64_t until = time_monotonic_ms() + SETTLE_MS;

	task_files_list(&turn->spec, turn->mem, &turn->tasks);
	for (;;) {
		if (task_files_read(folder, turn->mem, &turn->tasks, NULL,
				    err) < 0)
			return -1;
		if (!task_files_lost(&turn->tasks) ||
		    time_monotonic_ms() >= until)
			return 0;
		time_pause(LOOK_MS);
	}
}

static int counts_before(const struct turn *turn, struct restart_counts *out,
			 struct error *err)
{
	struct slurm_next before = { 0 };

	if (turn->last > 0 &&
	    slurm_next_read(folder_of(turn, turn->last - 1), &before, err) < 0)
		return -1;
	*out = before.counts;
	return 0;
}

/* Whether the attempt was ended by its time limit. */
static bool is_over_time(const struct turn *turn)
{
	return file_of(folder_of(turn, turn->last), TASK_OVER_TIME_FILE,
		       turn->mem);
}

/* ---- deciding ---------------------------------------------------------- */

/* Whether Slurm started the job again, for a lost node or for other jobs: the
 * last attempt is then over.  A controller that has lost its state does not
 * count this. */
static bool was_queued_again(const struct turn *turn)
{
	return turn->at->queued > turn->begun || turn->status < 0;
}

static int decide(struct turn *turn, struct slurm_next *next, struct error *err)
{
	struct attempt_outcome outcome = { .cause = OUTCOME_LOST };
	struct restart_decision decision;
	struct restart_counts counts;

	if (counts_before(turn, &counts, err) < 0)
		return -1;
	if (!was_queued_again(turn)) {
		if (read_tasks(turn, err) < 0)
			return -1;
		task_files_outcome(folder_of(turn, turn->last), &turn->tasks,
				   &outcome);
	}
	if (is_over_time(turn))
		outcome.cause = OUTCOME_CANCEL;
	restart_decide(&turn->spec.restart, &counts, &outcome, &decision);
	*next = (struct slurm_next){ .again = decision.again,
				     .counts = decision.counts };
	snprintf(next->why_not, sizeof(next->why_not), "%s", decision.why_not);
	/* After a loss the time in the queue is delay enough. */
	next->not_before_ms =
		time_now_ms() +
		(outcome.cause == OUTCOME_LOST ? 0 : decision.delay_ms);
	return put_next(folder_of(turn, turn->last), next, err);
}

/* ---- doing ------------------------------------------------------------- */

int slurm_call(const char *const *argv, struct error *err)
{
	const struct command_call call = { .argv = argv,
					   .output_max = ANSWER_MAX,
					   .timeout_ms = CALL_MS };
	struct command_answer answer;
	char words[256];

	if (command_run(&call, &answer, err) < 0)
		return -1;
	if (command_status(&answer) != 0) {
		command_last_words(&answer, words, sizeof(words));
		error_set(err, ERROR_FAILED, "%s: %s", argv[0], words);
	}
	command_answer_done(&answer);
	return command_status(&answer) == 0 ? 0 : -1;
}

/* Requeues the job; does not return on success, as this ends the job and with
 * it this process. */
static int queue_again(const struct turn *turn, struct error *err)
{
	const char *const argv[] = { "scontrol", "requeue", turn->at->job_id,
				     NULL };
	int i;

	for (i = 0; i < REQUEUE_TRIES; i++) {
		if (i)
			time_pause(REQUEUE_PAUSE_MS);
		if (slurm_call(argv, err) == 0) {
			time_pause(END_MS);
			return error_set(err, ERROR_FAILED,
					 "Slurm has queued the job again, and "
					 "has not ended it");
		}
	}
	return -1;
}

/* Tells Slurm not to requeue the job when the counts no longer allow that, as
 * it would do so without asking. */
static void forbid_queueing(const struct turn *turn,
			    const struct restart_counts *counts)
{
	const struct attempt_outcome lost = { .cause = OUTCOME_LOST };
	const struct restart_counts none = { 0 };
	const char *const argv[] = { "scontrol", "update",
				     arena_printf(turn->mem, "JobId=%s",
						  turn->at->job_id),
				     "Requeue=0", NULL };
	struct restart_decision first, now;
	struct error ignored;

	restart_decide(&turn->spec.restart, &none, &lost, &first);
	restart_decide(&turn->spec.restart, counts, &lost, &now);
	/* A job that is requeued nevertheless ends as soon as it starts. */
	if (first.again && !now.again)
		slurm_call(argv, &ignored);
}

/* Writes the time limit.  It covers all attempts that follow one another; after
 * a requeue it begins anew, as Slurm's own does. */
static int put_until(struct turn *turn, int attempt, struct error *err)
{
	int64_t limit_ms = turn->spec.max_running_time_s * INT64_C(1000);
	const char *before = NULL;
	char text[32];

	if (!limit_ms)
		return 0;
	if (attempt > 0 && turn->at->queued == turn->begun)
		before = file_of(folder_of(turn, attempt - 1), TASK_UNTIL_FILE,
				 turn->mem);
	if (!before) {
		snprintf(text, sizeof(text), "%" PRId64 "\n",
			 time_now_ms() + limit_ms);
		before = text;
	}
	return put_file(folder_of(turn, attempt), TASK_UNTIL_FILE, before, err);
}

static int begin(struct turn *turn, int attempt,
		 const struct restart_counts *counts, struct error *err)
{
	const char *folder = folder_of(turn, attempt);
	char text[16];

	forbid_queueing(turn, counts);
	snprintf(text, sizeof(text), "%d\n", turn->at->queued);
	if (folder_make(folder, err) < 0 || put_until(turn, attempt, err) < 0)
		return -1;
	return put_file(folder, "begun", text, err);
}

static bool is_stopped(const struct turn *turn)
{
	return turn->at->trial && array_is_stopped(turn->at->run);
}

/* Decides how to go on after the last attempt, which has not succeeded. */
static int go_on(struct turn *turn, enum slurm_step *step, int *number,
		 struct error *err)
{
	const char *folder = folder_of(turn, turn->last);
	struct slurm_next next;
	int ret = slurm_next_read(folder, &next, err);
	bool fresh = ret == 1;
	struct restart_counts before;

	if (ret < 0 || (fresh && decide(turn, &next, err) < 0) ||
	    counts_before(turn, &before, err) < 0)
		return -1;
	if (!next.again || is_stopped(turn)) {
		*step = SLURM_STEP_END;
		*number = turn->status > 0 ? turn->status : 1;
		return 0;
	}
	/* Requeue the job, to get other nodes. */
	if (fresh && next.counts.preemptions > before.preemptions &&
	    !was_queued_again(turn))
		return queue_again(turn, err);
	time_pause(next.not_before_ms - time_now_ms());
	*step = SLURM_STEP_BEGIN;
	*number = turn->last + 1;
	return begin(turn, *number, &next.counts, err);
}

/* Records how a trial has ended, for the other trials. */
static int end_trial(struct turn *turn, struct error *err)
{
	const char *folder = folder_of(turn, turn->last);
	struct attempt_outcome outcome = { .cause = OUTCOME_LOST,
					   .exit_code = -1 };
	struct trial_result result = { .number = turn->at->trial,
				       .state = RUN_SUCCEEDED,
				       .time_ms = time_now_ms() };

	if (turn->last < 0)
		return 0;
	if (turn->status != 0) {
		if (!was_queued_again(turn)) {
			if (read_tasks(turn, err) < 0)
				return -1;
			task_files_outcome(folder, &turn->tasks, &outcome);
		}
		result.state = outcome.cause == OUTCOME_CANCEL ? RUN_CANCELLED
							       : RUN_FAILED;
		result.exit_code = outcome.exit_code;
	}
	return array_end_trial(turn->at, &turn->spec, folder, &result, err);
}

void slurm_turn_give_up(const struct slurm_turn *turn, const struct error *why)
{
	struct arena *mem = arena_new();
	char *path = path_join(turn->run, "run.json");
	struct error ignored;
	json_t *run = NULL;
	const char *comment;
	char *note = arena_strdup(mem, why->text);
	const char *argv[] = { "scontrol", "update", NULL, NULL, NULL };
	char *at;

	fprintf(stderr, "error: %s\n", why->text);
	if (json_file_read(path, RUN_JSON_MAX, &run, &ignored) != 0)
		goto out;
	comment = json_get_text(run, "comment", "");
	for (at = note; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' ';
	argv[2] = arena_printf(mem, "JobId=%s", turn->job_id);
	argv[3] = arena_printf(mem, "Comment=%s %.*s", comment, NOTE_MAX, note);
	slurm_call(argv, &ignored);
out:
	json_decref(run);
	free(path);
	arena_free(mem);
}

/* Stores how the last attempt has ended, unless that is stored already. */
static int keep_status(struct turn *turn, struct error *err)
{
	char text[16];

	if (turn->at->ended < 0 || turn->at->ended != turn->last ||
	    turn->status >= 0)
		return 0;
	turn->status = turn->at->status;
	/* The tasks' exit status does not show the time limit. */
	if (!turn->status && is_over_time(turn))
		turn->status = 128 + SIGTERM;
	snprintf(text, sizeof(text), "%d\n", turn->status);
	return put_file(folder_of(turn, turn->last), "status", text, err);
}

/* Stores the success of the master, which ends the job: a node that is lost
 * afterwards does not change that. */
static int keep_success(struct turn *turn, struct error *err)
{
	const struct task_record *master;

	if (turn->last < 0 || turn->status == 0 || is_over_time(turn))
		return 0;
	if (read_tasks(turn, err) < 0)
		return -1;
	master = turn->tasks.count ? &turn->tasks.items[0] : NULL;
	if (!master || master->state != RUN_SUCCEEDED ||
	    (turn->status > 0 && !task_files_lost(&turn->tasks)))
		return 0;
	turn->status = 0;
	return put_file(folder_of(turn, turn->last), "status", "0\n", err);
}

int slurm_turn_take(const struct slurm_turn *at, enum slurm_step *step,
		    int *number, struct error *err)
{
	const struct restart_counts none = { 0 };
	struct turn turn = { .at = at, .mem = arena_new() };
	int ret = read_last(&turn, err);

	if (ret == 0)
		ret = keep_status(&turn, err);
	if (ret == 0)
		ret = keep_success(&turn, err);
	*step = SLURM_STEP_BEGIN;
	*number = 0;
	if (ret == 0 && turn.last < 0 && is_stopped(&turn)) {
		*step = SLURM_STEP_END;
	} else if (ret == 0 && turn.last < 0) {
		ret = begin(&turn, 0, &none, err);
	} else if (ret == 0 && turn.status == 0) {
		*step = SLURM_STEP_END;
	} else if (ret == 0) {
		ret = go_on(&turn, step, number, err);
	}
	if (ret == 0 && *step == SLURM_STEP_END && at->trial)
		ret = end_trial(&turn, err);
	/* The last trial removes the secrets for all. */
	if (ret == 0 && *step == SLURM_STEP_END && !at->trial)
		task_secrets_remove(at->run);
	arena_free(turn.mem);
	return ret;
}
