/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run stands.  Slurm says whether its job waits, runs or has ended, and
 * the run's folder what its tasks have done and written; what is new there is
 * brought into the run's folder here, where all readers of logs look.  Once
 * Slurm has forgotten the job, its folder alone tells how it ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/run/member.h"
#include "core/run/members.h"
#include "core/run/mirror.h"
#include "providers/slurm/attempts.h"
#include "providers/slurm/look.h"

/* How late a shared directory can show what a task wrote last: that it has
 * ended, and where it has, all of its log. */
#define SETTLE_MS 5000
#define WHOLE_MS 60000
#define STATUS_MAX 64

/* ---- files ------------------------------------------------------------- */

/* Number N of Slurm's attempts at the run. */
static int restart_of(const struct look *look)
{
	return look->record->run.attempt - look->record->run.origin;
}

static const char *there(const struct look *look, int restart)
{
	return arena_printf(look->mem, "%s/runs/%s/%s/attempts/%d",
			    cluster_folder(look->at->cluster),
			    look->record->run.job_id, look->record->name,
			    restart);
}

static int fetch_once(struct look *look, const char *folder, size_t *got,
		      struct error *err)
{
	const char *argv[] = { look->record->program, "mirror", folder, NULL };
	struct cluster *cluster = look->at->cluster;
	struct command_answer answer = { 0 };
	struct buf have = { 0 };
	char *path;
	int ret = mirror_have(look->folder, &have, err);

	if (ret == 0 && cluster_is_remote(cluster)) {
		const struct cluster_input input = { .data = buf_text(&have),
						     .len = have.len };

		ret = cluster_call(cluster, argv, &input, &answer, err);
		if (ret == 0 && command_status(&answer) != 0) {
			char words[256];

			command_last_words(&answer, words, sizeof(words));
			ret = error_set(err, ERROR_FAILED,
					"cannot read the run's files: %s",
					words);
		}
	} else if (ret == 0) {
		path = cluster_path(cluster, folder);
		ret = mirror_send(path, buf_text(&have), &answer.out, err);
		free(path);
	}
	if (ret == 0)
		ret = mirror_take(look->folder, &answer.out, err);
	*got = answer.out.len;
	command_answer_done(&answer);
	buf_done(&have);
	return ret;
}

/* All that is new of the attempt.  One process at a time: what another brings
 * need not be brought twice. */
static int fetch(struct look *look, struct error *err)
{
	const char *folder = there(look, restart_of(look));
	char *path = path_join(look->folder, ".mirror");
	int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int ret = 0;
	size_t got;

	free(path);
	if (lock < 0)
		return error_errno(err, "cannot write in '%s'", look->folder);
	if (flock(lock, LOCK_EX) == 0) {
		do {
			ret = fetch_once(look, folder, &got, err);
		} while (ret == 0 && got >= MIRROR_MAX);
	}
	close(lock);
	return ret;
}

/* What the batch script has said of its end, if it has. */
static void read_status(struct look *look)
{
	char *path = path_join(look->folder, "status");
	struct error ignored;
	size_t len;
	char *text = file_read(path, STATUS_MAX, &len, &ignored);
	struct stat st;

	look->status = text && len ? atoi(text) : -1;
	if (look->status >= 0 && stat(path, &st) == 0)
		look->status_ms = (int64_t)st.st_mtim.tv_sec * 1000 +
				  st.st_mtim.tv_nsec / 1000000;
	free(text);
	free(path);
}

/* ---- tasks ------------------------------------------------------------- */

/* Those of an attempt that is looked at for the first time. */
static int make_tasks(struct look *look, struct error *err)
{
	struct run_spec spec;
	size_t i;

	if (spec_read(look->folder, look->mem, &spec, err) < 0)
		return -1;
	members_list(&spec, look->mem, &look->tasks);
	look->changed = arena_alloc(look->mem, look->tasks.count + 1);
	for (i = 0; i < look->tasks.count; i++)
		look->changed[i] = true;
	return 0;
}

static int read_tasks(struct look *look, struct error *err)
{
	if (store_task_list(look->slurm->env.store, &look->record->run,
			    look->mem, &look->tasks, err) < 0)
		return -1;
	look->changed =
		arena_alloc(look->mem, look->tasks.count * sizeof(bool) + 1);
	if (!look->tasks.count && make_tasks(look, err) < 0)
		return -1;
	return members_read(look->folder, look->mem, &look->tasks,
			    look->changed, err);
}

static const struct task_record *master(const struct look *look)
{
	return look->tasks.count ? &look->tasks.items[0] : NULL;
}

/* In a run that is over no task goes on.  One that was ended with the rest has
 * not failed. */
static void settle_tasks(struct look *look, const struct task_record *first)
{
	size_t i;

	for (i = 0; i < look->tasks.count; i++) {
		struct task_record *task = &look->tasks.items[i];

		if (task->state == RUN_SUCCEEDED ||
		    (task->state == RUN_FAILED && !task->signal && first))
			continue;
		task->state = task == first ? RUN_FAILED : RUN_CANCELLED;
		look->changed[i] = true;
	}
}

/* ---- states ------------------------------------------------------------ */

/* Of a job that Slurm has forgotten. */
static enum run_state state_by_files(const struct look *look)
{
	const struct task_record *first = master(look);

	if (look->status == 0 || (first && first->state == RUN_SUCCEEDED))
		return RUN_SUCCEEDED;
	return RUN_FAILED;
}

static bool is_whole(const struct look *look)
{
	size_t i;

	for (i = 0; i < look->tasks.count; i++)
		if (!member_is_whole(look->folder, &look->tasks.items[i]))
			return false;
	return true;
}

/* When the run ended, by Slurm or by the script; 0: neither says. */
static int64_t end_time(const struct look *look)
{
	if (look->known && run_state_is_final(queue_state(look->job.state)))
		return look->job.end_time_ms;
	return look->status_ms;
}

/* The job's, or of a later attempt within it that of its tasks; 0: not known. */
static int64_t start_time(const struct look *look)
{
	int64_t first_ms = 0;
	size_t i;

	if (restart_of(look) == 0)
		return look->known ? look->job.start_time_ms : 0;
	for (i = 0; i < look->tasks.count; i++) {
		int64_t ms = look->tasks.items[i].start_time_ms;

		if (ms && (!first_ms || ms < first_ms))
			first_ms = ms;
	}
	return first_ms;
}

/* A shared directory shows what a node wrote last a moment later. */
static bool is_settled(const struct look *look)
{
	int64_t past_ms = time_now_ms() - end_time(look);

	return (!members_lost(&look->tasks) || past_ms > SETTLE_MS) &&
	       (past_ms > WHOLE_MS || is_whole(look));
}

static bool is_changed(const struct look *look)
{
	size_t i;

	for (i = 0; i < look->tasks.count; i++)
		if (look->changed[i])
			return true;
	return false;
}

/* Writes how it stands, if that is new. */
static int put(struct look *look, enum run_state state, const char *why,
	       struct error *err)
{
	struct run_record *run = &look->record->run;
	const struct task_record *task =
		state == RUN_FAILED ? look_culprit(look) : NULL;
	bool with_run = state != run->state ||
			strcmp(why, run->error ? run->error : "") != 0;

	if (run_state_is_final(state)) {
		settle_tasks(look, task);
		run->end_time_ms =
			end_time(look) ? end_time(look) : time_now_ms();
		run->exit_code = state == RUN_SUCCEEDED        ? 0
				 : task && state == RUN_FAILED ? task->exit_code
							       : -1;
	}
	if (state != RUN_QUEUED && !run->start_time_ms)
		run->start_time_ms = start_time(look);
	run->state = state;
	run->error = *why ? arena_strdup(look->mem, why) : NULL;
	if (!with_run && !is_changed(look))
		return 0;
	return store_progress_put(look->slurm->env.store, run, with_run,
				  look->tasks.items, look->changed,
				  look->tasks.count, err);
}

/* Puts the specification into the next attempt's folder. */
static int prepare_next(void *arg, const char *folder, int attempt,
			struct error *err)
{
	const struct look *look = arg;
	struct run_spec spec;

	if (spec_read(look->folder, look->mem, &spec, err) < 0)
		return -1;
	spec.attempt = attempt;
	spec_set_folder(&spec, folder, look->mem);
	return spec_write(&spec, err);
}

/*
 * What there was of this attempt has ended, and another one follows.  Returns
 * 1: there is one to be looked at, which this process or another one has made.
 */
static int go_on(struct look *look, const struct slurm_next *decided,
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

	/* The end of a task may have been read after its log was. */
	if (fetch(look, err) < 0 || read_tasks(look, err) < 0)
		return -1;
	if (!is_settled(look))
		return put(look, run->state, "", err);
	task = is_loss ? members_lost(&look->tasks) : look_culprit(look);
	if (is_loss || !look_explain_files(look, &why))
		look_explain_loss(look, &why);
	settle_tasks(look, task);
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

/* Whether another attempt follows this one, as was decided where it ran; or
 * will be, as Slurm has queued the job again. */
static bool is_followed(const struct look *look, enum run_state state,
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

/* The script has begun this attempt.  Of the first Slurm says so. */
static bool has_begun(const struct look *look)
{
	char *path = path_join(look->folder, "begun");
	bool out = restart_of(look) == 0 || access(path, F_OK) == 0;

	free(path);
	return out;
}

static int end_or_wait(struct look *look, enum run_state state,
		       struct error *err)
{
	/* The end of a task may have been read after its log was, and the end
	 * of the job after that of a task. */
	if (fetch(look, err) < 0 || read_tasks(look, err) < 0)
		return -1;
	if (!is_settled(look))
		return put(look, look->record->run.state, "", err);
	if (state == RUN_FAILED)
		return put(look, state, look_explain(look), err);
	return put(look, state, "", err);
}

/* Its files say so.  Slurm may not do so for a minute, while it cleans up after
 * the job, or at all: a controller that was killed forgets what ran. */
static bool has_succeeded(const struct look *look)
{
	const struct task_record *first = master(look);

	return look->status == 0 && first && first->state == RUN_SUCCEEDED;
}

/* 1: there is another attempt to be looked at. */
static int look_at_attempt(struct look *look, const struct error *away,
			   struct error *err)
{
	struct run_record *run = &look->record->run;
	enum run_state state =
		look->known ? queue_state(look->job.state) : RUN_FAILED;
	struct slurm_next next;

	/* As long as it waits there is nothing else to be seen. */
	if (look->known && state == RUN_QUEUED && run->state == RUN_QUEUED)
		return put(look, state, queue_explain(&look->job, look->mem),
			   err);
	if (fetch(look, err) < 0 || read_tasks(look, err) < 0)
		return -1;
	read_status(look);
	if (has_succeeded(look))
		return end_or_wait(look, RUN_SUCCEEDED, err);
	if (is_followed(look, state, &next))
		return go_on(look, &next, err);
	/* Nobody knows: what was known last holds. */
	if (away)
		return put(look, run->state, away->text, err);
	if (!look->known)
		state = state_by_files(look);
	/* The job may run, and wait for the time of its next attempt. */
	if (state == RUN_RUNNING && !has_begun(look))
		state = RUN_QUEUED;
	if (!run_state_is_final(state))
		return put(look, state, queue_explain(&look->job, look->mem),
			   err);
	return end_or_wait(look, state, err);
}

/* Values of secrets stay no longer than they are needed. */
static void forget_secrets(const struct look *look)
{
	const char *args[] = { NULL, NULL };
	struct error ignored;

	args[0] = arena_printf(look->mem, "%s/runs/%s/%s/secrets.json",
			       cluster_folder(look->at->cluster),
			       look->record->run.job_id, look->record->name);
	cluster_sh(look->at->cluster, "cannot remove the secrets",
		   "rm -f \"$1\"", args, NULL, NULL, &ignored);
}

/*
 * 0: Slurm knows it.  What is older than the record of this attempt is of
 * another one.  And to be queued again it must be after it was seen to run,
 * which another process may have written down a moment ago.
 */
static int look_into_queue(struct look *look, struct error *err)
{
	const struct slurm_record *record = look->record;
	const struct run_record *run = &record->run;
	int ret;

	look->job = (struct queue_job){ .state = "", .reason = "" };
	ret = slurm_look(look->slurm, look->at, record->comment, record->id,
			 SLURM_QUEUE_AGE_MS, run->create_time_ms, look->mem,
			 &look->job, err);
	if (ret == 0 && run->state == RUN_RUNNING &&
	    queue_state(look->job.state) == RUN_QUEUED)
		ret = slurm_look(look->slurm, look->at, record->comment,
				 record->id, SLURM_NOW, 0, look->mem,
				 &look->job, err);
	return ret;
}

int slurm_follow(struct slurm *slurm, struct slurm_record *record,
		 struct arena *mem, struct error *err)
{
	struct look look = { .slurm = slurm, .record = record, .mem = mem };
	struct error away;
	int ret;

	look.at = slurm_at(slurm, record->place, err);
	if (!look.at)
		return -1;
	look.folder = store_run_folder(slurm->env.store, record->run.job_id,
				       record->run.attempt);
	ret = look_into_queue(&look, &away);
	look.known = ret == 0;
	if (ret < 0 && away.code != ERROR_UNREACHABLE) {
		*err = away;
	} else if (ret < 0 && cluster_is_away(look.at->cluster)) {
		/* It would not be reached for its files either. */
		ret = put(&look, record->run.state, away.text, err);
	} else {
		ret = look_at_attempt(&look, ret < 0 ? &away : NULL, err);
		/* A login host that is away now is no end of the run. */
		if (ret < 0 && err->code == ERROR_UNREACHABLE)
			ret = put(&look, record->run.state, err->text, err);
	}
	if (ret == 0 && run_state_is_final(record->run.state))
		forget_secrets(&look);
	free(look.folder);
	return ret;
}
