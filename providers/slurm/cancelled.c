/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out who has cancelled a job.  Slurm's CANCELLED does not say: 'jobrun
 * cancel' did, or a look that found the run over while Slurm kept the job, or
 * somebody with scancel.  So before it cancels, jobrun notes the state with
 * which the run ends: for other machines in the run's folder on the cluster,
 * and as the shared disk may be full, in the folder here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "providers/slurm/slurm_look.h"

#define MARK "cancelled"
#define MARK_MAX 64

void slurm_mark_cancel(struct slurm *slurm, struct cluster *cluster,
		       const struct slurm_record *record, enum run_state state,
		       struct arena *mem)
{
	const struct run_record *run = &record->run;
	const char *name = run_state_name(state);
	const char *args[] = { cluster_run_folder(cluster, run->job_id,
						  record->name, mem),
			       name, NULL };
	char *folder =
		store_run_folder(slurm->env.store, run->job_id, run->attempt);
	char *path = path_join(folder, MARK);
	struct error ignored;

	/* Without a mark the job is cancelled all the same. */
	file_write(path, name, strlen(name), &ignored);
	cluster_sh(cluster, "cannot write there",
		   "echo \"$2\" >\"$1/" MARK "\"", args, NULL, NULL, &ignored);
	free(path);
	free(folder);
}

/* Reads the mark as text, "" if there is none; -1: nobody can say. */
static int read_mark(const struct slurm_look *look, char out[MARK_MAX])
{
	const char *args[] = { look_run_folder(look), NULL };
	char *path = path_join(look->folder, MARK);
	struct command_answer answer;
	struct error ignored;
	size_t len;
	char *text = file_read(path, MARK_MAX - 1, &len, &ignored);
	int ret = 0;

	if (text && *text) {
		snprintf(out, MARK_MAX, "%s", text);
	} else if (cluster_sh(look->at->cluster, "cannot look there",
			      "[ -d \"$1\" ] && { cat \"$1/" MARK
			      "\" 2>/dev/null || :; }",
			      args, NULL, &answer, &ignored) == 0) {
		snprintf(out, MARK_MAX, "%s", buf_text(&answer.out));
		command_answer_done(&answer);
	} else {
		ret = -1;
	}
	free(text);
	free(path);
	return ret;
}

enum run_state look_cancelled(const struct slurm_look *look, const char **why)
{
	enum run_state state = RUN_CANCELLED;
	char mark[MARK_MAX];

	*why = "";
	if (read_mark(look, mark) < 0)
		return RUN_CANCELLED;
	mark[strcspn(mark, "\n")] = '\0';
	if (!*mark)
		*why = arena_printf(look->mem,
				    "Slurm's job %s was cancelled, but not by "
				    "jobrun: with scancel, or by an "
				    "administrator",
				    look->job.id);
	else if (run_state_parse(mark, &state) < 0 ||
		 !run_state_is_final(state))
		state = RUN_CANCELLED;
	return state;
}
