/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the results of a managed run: how its tasks ended, and its trials.
 *
 * The services have no message for tasks.  A job's state is its master's, and
 * why it failed is a sentence: "The replica worker 1 exited with a non-zero
 * status of 1", "The replicas workerpool0-0, workerpool1-0 exited with …", "The
 * replica master 0 ran out-of-memory and exited with a non-zero status of
 * 9(SIGKILL)".  A task that neither mentions has no exit code.
 */
#include "providers/google/managed/managed_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/remote/remote_run.h"

#define REPLICA "The replica"
#define EXITED " exited with a non-zero status of "

/* ---- tasks ------------------------------------------------------------- */

int managed_task(const struct topology *all, const char *name)
{
	static const enum task_type pools[] = { TASK_MASTER, TASK_WORKER,
						TASK_PS, TASK_EVALUATOR };
	char type[32];
	enum task_type found;
	unsigned pool;
	int index, used = 0;

	if (sscanf(name, "workerpool%1u-%d%n", &pool, &index, &used) == 2 &&
	    !name[used] && pool < COUNT(pools))
		return topology_find(all, pools[pool], index);
	if ((sscanf(name, "%31[a-z]-replica-%d%n", type, &index, &used) == 2 ||
	     sscanf(name, "%31[a-z] %d%n", type, &index, &used) == 2) &&
	    !name[used] && task_type_parse(type, &found) == 0)
		return topology_find(all, found, index);
	return -1;
}

/* Reads a code such as "1.", "137" or "9(SIGKILL)"; signals count as in a
 * shell. */
static int read_code(const char *text)
{
	char *end;
	long code = strtol(text, &end, 10);

	if (end == text || code < 0 || code > 255)
		return -1;
	return text_starts(end, "(SIG") && code < 128 ? (int)code + 128
						      : (int)code;
}

/* Ends the tasks named as "master 0", "worker 1, worker 2" or "master 0 ran
 * …". */
static void end_tasks(const struct topology *all, const char *names, size_t len,
		      int code, struct task_record *tasks)
{
	char name[64];
	size_t n;

	for (;;) {
		const char *comma = memchr(names, ',', len);
		const char *more;
		int ordinal;

		n = comma ? (size_t)(comma - names) : len;
		more = memmem(names, n, " ran ", 5);
		snprintf(name, sizeof(name), "%.*s",
			 (int)(more ? more - names : (long)n), names);
		ordinal = managed_task(all, name);
		if (ordinal >= 0) {
			tasks[ordinal].state = RUN_FAILED;
			tasks[ordinal].exit_code = code;
		}
		if (!comma)
			return;
		names += n + 1;
		len -= n + 1;
		if (len && *names == ' ') {
			names++;
			len--;
		}
	}
}

/* Reads the exit codes from the sentence; returns the first one, or -1 if it
 * names no task. */
static int read_error(const struct topology *all, const char *error,
		      struct task_record *tasks)
{
	const char *at = error;
	int first = -1;

	while ((at = strstr(at, REPLICA))) {
		const char *names = at + strlen(REPLICA);
		const char *exited = strstr(names, EXITED);
		int code;

		if (!exited)
			break;
		names += *names == 's';
		names += *names == ' ';
		at = exited + strlen(EXITED);
		code = read_code(at);
		if (names < exited && code >= 0) {
			end_tasks(all, names, (size_t)(exited - names), code,
				  tasks);
			first = first < 0 ? code : first;
		}
	}
	return first;
}

void managed_tasks(const struct topology *all, enum run_state state,
		   const char *error, struct task_record *tasks, int *code)
{
	int named = -1;
	size_t i;

	for (i = 0; i < all->count; i++)
		tasks[i] = (struct task_record){
			.type = task_type_name(all->tasks[i].type),
			.index = all->tasks[i].index,
			.state = state,
			.exit_code = -1,
		};
	*code = -1;
	if (state == RUN_SUCCEEDED) {
		*code = 0;
		tasks[0].exit_code = 0;
	} else if (state == RUN_FAILED && error) {
		named = read_error(all, error, tasks);
		*code = named;
	}
	/* The other tasks were ended because of the failed ones. */
	for (i = 0; named >= 0 && i < all->count; i++)
		if (tasks[i].exit_code < 0)
			tasks[i].state = RUN_CANCELLED;
}

/* ---- trials ------------------------------------------------------------ */

static int put_trial(struct managed *managed, const struct run_record *run,
		     const struct run_spec *spec,
		     const struct trial_list *known, const json_t *body,
		     struct arena *mem, struct error *err)
{
	struct trial_record trial = {
		.value = NAN, .step = -1, .exit_code = -1, .parameters = "{}"
	};

	managed->as->read_trial(body, mem, &trial);
	if (trial.number <= 0)
		return 0;
	return remote_run_put_trial(&managed->env, run, spec, known, &trial,
				    mem, err);
}

int managed_trials(struct managed *managed, const struct run_record *run,
		   const struct run_spec *spec, const json_t *body,
		   struct error *err)
{
	const json_t *trials = managed->as->trials(body), *trial;
	struct arena *mem = arena_new();
	struct trial_list known;
	size_t i;
	int ret = 0;

	if (json_array_size(trials) && spec->tuning.params.count)
		ret = store_trial_list(managed->env.store, run, mem, &known,
				       err);
	json_array_foreach(trials, i, trial)
	{
		if (ret == 0 && spec->tuning.params.count)
			ret = put_trial(managed, run, spec, &known, trial, mem,
					err);
	}
	arena_free(mem);
	return ret;
}
