/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the way to a task: a step of its own within the task's job, started
 * where Slurm's commands are by `jobrun enter-step` (enter_step.c). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/enter/enter.h"
#include "core/process/process.h"
#include "core/trial/trial_folder.h"
#include "providers/slurm/slurm_internal.h"

/* The words of `jobrun enter-step` before those of the command. */
#define STEP_WORDS 9

/* The run's specification, as it is for the task. */
static int read_spec(struct slurm *slurm, const struct enter_wish *wish,
		     struct arena *mem, struct run_spec *out, struct error *err)
{
	char *run = store_run_folder(slurm->env.store, wish->run->job_id,
				     wish->run->attempt);
	char *folder = wish->task->trial
			       ? trial_logs_folder(run, wish->task->trial)
			       : mem_strdup(run);
	int ret = spec_read(folder, mem, out, err);

	free(folder);
	free(run);
	return ret;
}

/* Describes the process of the task on its node. */
static int find_target(const struct run_spec *spec,
		       const struct slurm_record *record,
		       const struct enter_wish *wish, struct arena *mem,
		       const char **out, struct error *err)
{
	const struct task_record *task = wish->task;
	struct enter_target target = {
		.pid = (pid_t)task->pid,
		.contained = !wish->outside && spec_has_containers(spec),
		.port = wish->port,
	};
	struct buf text = { 0 };
	size_t ordinal = 0;

	if (spec_find_task(spec, task->type, task->index, &ordinal, err) < 0)
		return -1;
	target.rank = spec_rank(spec, ordinal, mem);
	target.run = arena_printf(mem, "runs/%s/%s", record->run.job_id,
				  record->name);
	if (task->trial)
		target.run = arena_printf(mem, "%s/trials/%d", target.run,
					  task->trial);
	enter_target_format(&target, &text);
	*out = arena_strdup(mem, buf_text(&text));
	buf_done(&text);
	return 0;
}

/* The number of the job, or of the trial's element. */
static int find_id(struct slurm *slurm, struct slurm_cluster *at,
		   const struct slurm_record *record, int trial,
		   struct arena *mem, const char **out, struct error *err)
{
	struct queue_job job;
	int ret = 0;

	*out = record->id;
	if (!*record->id) {
		ret = slurm_look(slurm, at, record->comment, NULL,
				 SLURM_QUEUE_AGE_MS, 0, mem, &job, err);
		if (ret == 0)
			*out = arena_strndup(mem, job.id,
					     strcspn(job.id, "_+["));
	}
	if (ret == 0 && trial)
		*out = arena_printf(mem, "%s_%d", *out, trial);
	return ret <= 0 ? ret
			: error_set(err, ERROR_FAILED,
				    "Slurm does not know the job any more");
}

int slurm_enter(void *ctx, const struct enter_wish *wish, struct arena *mem,
		struct enter_way *out, struct error *err)
{
	const char *id, *target, *program, **argv;
	struct slurm *slurm = ctx;
	struct slurm_cluster *at;
	struct slurm_record record;
	struct run_spec spec;
	size_t count = 0, n = 0;
	char self[PATH_MAX];

	if (slurm_record_read(wish->run, mem, &record) != 0)
		return error_set(err, ERROR_FAILED,
				 "the record of the run is incomplete");
	at = slurm_at(slurm, record.place, err);
	if (!at || read_spec(slurm, wish, mem, &spec, err) < 0 ||
	    find_target(&spec, &record, wish, mem, &target, err) < 0 ||
	    find_id(slurm, at, &record, wish->task->trial, mem, &id, err) < 0)
		return -1;
	program = record.program;
	while (wish->argv[count])
		count++;
	argv = arena_alloc(mem, (STEP_WORDS + count + 1) * sizeof(*argv));
	if (cluster_is_remote(at->cluster)) {
		argv[n++] = program;
	} else {
		char *path = cluster_path(at->cluster, program);

		process_self(self, sizeof(self));
		argv[n++] = arena_strdup(mem, self);
		program = arena_strdup(mem, path);
		free(path);
	}
	argv[n++] = "enter-step";
	if (wish->terminal)
		argv[n++] = "--terminal";
	argv[n++] = id;
	argv[n++] = wish->task->host;
	argv[n++] = program;
	argv[n++] = target;
	argv[n++] = "--";
	memcpy(argv + n, wish->argv, (count + 1) * sizeof(*argv));
	return cluster_words(at->cluster, argv, wish->terminal, spec.home, mem,
			     &out->argv, err);
}
