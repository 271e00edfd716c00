/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a run.  Slurm says whether its job waits, runs or has ended; the
 * run's folder shows what its tasks have done and written, and new parts of it
 * are copied into the local folder, where all readers of logs look.  Once Slurm
 * has forgotten the job, only its folder tells how it ended.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/task/task_files.h"
#include "core/task/task_secrets.h"
#include "providers/slurm/attempts.h"
#include "providers/slurm/slurm_look.h"

/* How long after the grace of its tasks a job may take to end. */
#define HUNG_MS 120000
/* In the run's folder here: when the end of its master was first seen. */
#define MASTER_ENDED_FILE "master-ended.json"
#define MASTER_ENDED_MAX 1024

/* ---- states ------------------------------------------------------------ */

/* Returns the state of a job that Slurm has forgotten. */
static enum run_state state_by_files(const struct slurm_look *look)
{
	const struct task_record *first = look_master(look);

	if (look->status == 0 || (first && first->state == RUN_SUCCEEDED))
		return RUN_SUCCEEDED;
	return RUN_FAILED;
}

/* Stores the state of the run if it is new. */
static int put(struct slurm_look *look, enum run_state state, const char *why,
	       struct error *err)
{
	struct run_record *run = &look->record->run;
	const struct task_record *task =
		state == RUN_FAILED ? look_culprit(look) : NULL;
	bool with_run = state != run->state ||
			strcmp(why, run->error ? run->error : "") != 0;

	if (run_state_is_final(state)) {
		look_settle_tasks(look, task);
		run->end_time_ms = look_end_time(look) ? look_end_time(look)
						       : time_now_ms();
		run->exit_code = state == RUN_SUCCEEDED        ? 0
				 : task && state == RUN_FAILED ? task->exit_code
							       : -1;
	}
	if (state != RUN_QUEUED && !run->start_time_ms)
		run->start_time_ms = look_start_time(look);
	run->state = state;
	run->error = *why ? arena_strdup(look->mem, why) : NULL;
	if (!with_run && !look_is_changed(look))
		return 0;
	return store_progress_put(look->slurm->env.store, run, with_run,
				  look->tasks.items, look->changed,
				  look->tasks.count, err);
}

/* Writes the specification into the next attempt's folder. */
static int prepare_next(void *arg, const char *folder, int attempt,
			struct error *err)
{
	const struct slurm_look *look = arg;
	struct run_spec spec;

	if (spec_read(look->folder, look->mem, &spec, err) < 0)
		return -1;
	spec.attempt = attempt;
	spec_set_folder(&spec, folder, look->mem);
	return spec_write(&spec, err);
}

/*
 * Ends this attempt, which another one follows.  Returns 1 to follow the next
 * one, which this process or another one has recorded.
 */
static int go_on(struct slurm_look *look, const struct slurm_next *decided,
		 struct error *err)
{
	struct run_record *run = &look->record->run;
	bool is_loss = decided->counts.preemptions > run->preemptions;
	struct run_record next = {
		.state = RUN_QUEUED,
		.exit_code = -1,
		.restarts = decided->counts.failures,
		.preemptions = decided->counts.preemptions,
		.not_before_ms = decided->not_before_ms,
	};
	const struct task_record *task;
	struct buf why = { 0 };

	/* The end of a task may have been read after its log, so read both
	 * again. */
	if (look_fetch(look, err) < 0 || look_read_tasks(look, err) < 0)
		return -1;
	if (!look_is_settled(look))
		return put(look, run->state, "", err);
	task = is_loss ? task_files_lost(&look->tasks) : look_culprit(look);
	if (is_loss || !look_explain_files(look, &why))
		look_explain_loss(look, &why);
	look_settle_tasks(look, task);
	run->state = RUN_FAILED;
	run->exit_code = task && !is_loss ? task->exit_code : -1;
	run->error = arena_strdup(look->mem, buf_text(&why));
	run->end_time_ms = look->status_ms ? look->status_ms : time_now_ms();
	buf_done(&why);
	return store_run_next(look->slurm->env.store, run, look->tasks.items,
			      look->tasks.count, &next, prepare_next, look,
			      err) < 0
		       ? -1
		       : 1;
}

/* Whether another attempt follows: it was decided on the cluster, or Slurm has
 * requeued the job. */
static bool is_followed(const struct slurm_look *look, enum run_state state,
			struct slurm_next *out)
{
	const struct run_record *run = &look->record->run;
	struct error ignored;
	int ret = slurm_next_read(look->folder, out, &ignored);

	if (ret == 0)
		return out->again;
	*out = (struct slurm_next){
		.again = true,
		.counts = { run->restarts, run->preemptions + 1 },
	};
	return ret < 0 || (look->known && state == RUN_QUEUED &&
			   run->state == RUN_RUNNING);
}

/* Whether the script has begun this attempt; for the first attempt Slurm
 * tells. */
static bool has_begun(const struct slurm_look *look)
{
	char *path = path_join(look->folder, "begun");
	bool out = look->attempt == 0 || access(path, F_OK) == 0;

	free(path);
	return out;
}

static int end_or_wait(struct slurm_look *look, enum run_state state,
		       struct error *err)
{
	const char *limit, *why = "";

	/* The end of a task may have been read after its log, and the end of
	 * the job after that of a task, so read all again. */
	if (look_fetch(look, err) < 0 || look_read_tasks(look, err) < 0)
		return -1;
	if (!look_is_settled(look))
		return put(look, look->record->run.state, "", err);
	if (state == RUN_CANCELLED && look->known)
		state = look_cancelled(look, &why);
	limit = state == RUN_FAILED ? look_explain_limit(look) : NULL;
	if (limit)
		return put(look, RUN_CANCELLED, limit, err);
	if (state == RUN_FAILED)
		return put(look, state, look_explain(look), err);
	return put(look, state, why, err);
}

/* Whether the files say that the run has succeeded.  Slurm may say so a minute
 * later, after cleaning up, or never: a controller that was killed forgets what
 * ran. */
static bool has_succeeded(const struct slurm_look *look)
{
	const struct task_record *first = look_master(look);

	return look->status == 0 && first && first->state == RUN_SUCCEEDED;
}

/* Whether the master succeeded before a node and with it the script was lost,
 * since the job ends when its master does. */
static bool has_outlived(const struct slurm_look *look, enum run_state state,
			 bool is_away)
{
	const struct task_record *first = look_master(look);

	if (!first || first->state != RUN_SUCCEEDED || look->status >= 0 ||
	    state == RUN_CANCELLED)
		return false;
	if (!look->known)
		return !is_away;
	return run_state_is_final(state) ||
	       (state == RUN_QUEUED && look->record->run.state == RUN_RUNNING);
}

/* Returns when this machine has first seen that the master had ended well.  The
 * time of that end is by the node's clock, which may differ from ours. */
static int64_t first_seen_ms(const struct slurm_look *look)
{
	char *path = path_join(look->folder, MASTER_ENDED_FILE);
	int64_t now_ms = time_now_ms(), seen_ms;
	struct error ignored;
	json_t *kept = NULL;

	json_file_read(path, MASTER_ENDED_MAX, &kept, &ignored);
	seen_ms = json_get_int(kept, "seenMs", 0);
	json_decref(kept);
	if (!seen_ms) {
		seen_ms = now_ms;
		kept = json_pack("{s:I}", "seenMs", (json_int_t)now_ms);
		json_file_write(path, kept, &ignored);
		json_decref(kept);
	}
	free(path);
	return seen_ms;
}

/* The master has ended well, and the job goes on long after the others' grace:
 * srun waits for ever for a task whose node was away for a moment only. */
static bool has_hung(const struct slurm_look *look, enum run_state state)
{
	const struct task_record *first = look_master(look);
	struct run_spec spec;
	struct error ignored;

	if (!look->known || state != RUN_RUNNING || look->status >= 0 ||
	    !first || first->state != RUN_SUCCEEDED ||
	    spec_read(look->folder, look->mem, &spec, &ignored) < 0)
		return false;
	return time_now_ms() - first_seen_ms(look) >
	       spec.grace_s * INT64_C(1000) + HUNG_MS;
}

/* Ends a run whose job Slurm would keep. */
static int end_for_good(struct slurm_look *look, enum run_state state,
			struct error *err)
{
	slurm_mark_cancel(look->slurm, look->at->cluster, look->record, state,
			  look->mem);
	if (cluster_cancel(look->at->cluster, look->job.id, err) < 0)
		return -1;
	return end_or_wait(look, state, err);
}

/* Whether Slurm has queued the job, be it again: a controller that was away may
 * take the nodes of a run that has ended for lost, or its start for failed. */
static bool is_queued(const struct slurm_look *look)
{
	return look->known && queue_state(look->job.state) == RUN_QUEUED;
}

/* 1: there is another attempt to be looked at. */
static int look_at_attempt(struct slurm_look *look, const struct error *away,
			   struct error *err)
{
	struct run_record *run = &look->record->run;
	enum run_state state =
		look->known ? queue_state(look->job.state) : RUN_FAILED;
	struct slurm_next next;

	/* While the job waits for its turn there is nothing else to see. */
	if (is_queued(look) && run->state == RUN_QUEUED &&
	    !queue_is_held(&look->job))
		return put(look, state, queue_explain(&look->job, look->mem),
			   err);
	if (look_fetch(look, err) < 0 || look_read_tasks(look, err) < 0)
		return -1;
	look_read_status(look);
	if (has_succeeded(look) || has_outlived(look, state, away))
		return is_queued(look) ? end_for_good(look, RUN_SUCCEEDED, err)
				       : end_or_wait(look, RUN_SUCCEEDED, err);
	if (has_hung(look, state))
		return end_for_good(look, RUN_SUCCEEDED, err);
	if (is_followed(look, state, &next))
		return go_on(look, &next, err);
	if (is_queued(look) && look->status > 0)
		return end_for_good(look, RUN_FAILED, err);
	/* Without an answer the last known state stays. */
	if (away)
		return put(look, run->state, away->text, err);
	if (!look->known)
		state = state_by_files(look);
	/* A running job may be waiting for the time of its next attempt. */
	if (state == RUN_RUNNING && !has_begun(look))
		state = RUN_QUEUED;
	if (!run_state_is_final(state))
		return put(look, state,
			   state == RUN_QUEUED
				   ? look_explain_wait(look)
				   : queue_explain(&look->job, look->mem),
			   err);
	return end_or_wait(look, state, err);
}

static int look_at_it(struct slurm_look *look, const struct error *away,
		      struct error *err)
{
	return look->record->trials ? look_at_trials(look, away, err)
				    : look_at_attempt(look, away, err);
}

/* Removes secrets that a killed batch script has left. */
static void forget_secrets(const struct slurm_look *look)
{
	const char *args[] = { NULL, NULL };
	struct error ignored;

	args[0] = arena_printf(look->mem, "%s/" TASK_SECRETS_FILE,
			       look_run_folder(look));
	cluster_sh(look->at->cluster, "cannot remove the secrets",
		   "rm -f \"$1\"", args, NULL, NULL, &ignored);
}

/*
 * Looks for the job in the queue; returns 0 if Slurm knows it.  An entry older
 * than this attempt's record belongs to another attempt.  A job counts as
 * requeued only after it was seen running, which another process may have
 * recorded a moment ago.
 */
static int look_into_queue(struct slurm_look *look, struct error *err)
{
	const struct slurm_record *record = look->record;
	const struct run_record *run = &record->run;
	int ret;

	look->job = (struct queue_job){ .state = "", .reason = "", .note = "" };
	ret = slurm_look(look->slurm, look->at, record->comment, record->id,
			 SLURM_QUEUE_AGE_MS, run->create_time_ms, look->mem,
			 &look->job, err);
	if (ret == 1 || (ret == 0 && run->state == RUN_RUNNING &&
			 queue_state(look->job.state) == RUN_QUEUED))
		ret = slurm_look_surely(look->slurm, look->at, record->comment,
					record->id, look->mem, &look->job, err);
	return ret;
}

/* Looks for a job that the controller has forgotten in the accounting.  Only an
 * end counts, as the controller knows every job that goes on. */
static bool look_into_accounts(struct slurm_look *look)
{
	struct queue_job job;
	struct usage usage;

	if (!slurm_account(look->slurm, look->at, look->record, 0, look->mem,
			   &job, &usage) ||
	    !run_state_is_final(queue_state(job.state)))
		return false;
	look->job = job;
	return true;
}

/* Stores the usage of a run that has ended. */
static void keep_usage(struct slurm_look *look)
{
	struct queue_job job;
	struct usage usage;
	struct error ignored;

	if (slurm_account(look->slurm, look->at, look->record,
			  look->record->run.end_time_ms, look->mem, &job,
			  &usage) &&
	    usage_is_known(&usage))
		usage_write(look->folder, &usage, &ignored);
}

int slurm_follow(struct slurm *slurm, struct slurm_record *record,
		 struct arena *mem, struct error *err)
{
	struct slurm_look look = { .slurm = slurm,
				   .record = record,
				   .mem = mem,
				   .attempt = record->run.attempt -
					      record->run.origin };
	struct error away;
	int ret;

	look.at = slurm_at(slurm, record->place, err);
	if (!look.at)
		return -1;
	look.folder = store_run_folder(slurm->env.store, record->run.job_id,
				       record->run.attempt);
	ret = look_into_queue(&look, &away);
	look.known = ret == 0 || (ret == 1 && look_into_accounts(&look));
	if (ret < 0 && cluster_is_away(look.at->cluster)) {
		/* The files would be out of reach, too. */
		ret = put(&look, record->run.state, away.text, err);
	} else {
		ret = look_at_it(&look, ret < 0 ? &away : NULL, err);
		/* A login host out of reach does not mean that the run has
		 * ended. */
		if (ret < 0 && err->code == ERROR_UNREACHABLE)
			ret = put(&look, record->run.state, err->text, err);
	}
	if (ret == 0 && run_state_is_final(record->run.state)) {
		forget_secrets(&look);
		keep_usage(&look);
	}
	free(look.folder);
	return ret;
}
