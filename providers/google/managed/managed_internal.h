/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of managed.c. */
#ifndef JOBRUN_MANAGED_INTERNAL_H
#define JOBRUN_MANAGED_INTERNAL_H

#include <pthread.h>

#include "core/spec/spec.h"
#include "providers/google/managed/managed.h"
#include "providers/google/shared_list.h"

/* See managed_shared.c. */
struct managed_shared {
	struct shared_lists lists;
	pthread_mutex_t lock; /* for the following member */
	json_t *kept;
};

struct managed {
	const struct managed_service *as;
	struct provider_env env;
	struct http *http;
	struct google *google;
	struct managed_shared shared;
};

/* The runs of a job, or of all jobs, at their service, oldest first. */
struct managed_runs {
	json_t *all;  /* every message in the lists, owned */
	json_t *ours; /* those with the job's labels, owned */
};

/* `parent` is "projects/P" or "projects/P/locations/R"; `job_id` NULL: all
 * jobs. */
int managed_find(struct managed *managed, const char *parent,
		 const char *job_id, struct managed_runs *out,
		 struct error *err);
/* The same; 1: there are more than `pages` pages (0: any number) of them. */
int managed_find_some(struct managed *managed, const char *parent,
		      const char *job_id, size_t pages,
		      struct managed_runs *out, struct error *err);
/* The same from messages that were listed for all jobs. */
void managed_pick(struct managed *managed, json_t *all, const char *job_id,
		  struct managed_runs *out);
void managed_runs_done(struct managed_runs *runs);
/* NULL: there is none. */
const json_t *managed_newest(const struct managed_runs *runs);

/* Asks a run to end; already ended is success. */
int managed_end(struct managed *managed, const char *name, struct arena *mem,
		struct error *err);
/* The parent in a run's name; in `mem`. */
const char *managed_parent_of(const char *name, struct arena *mem);
/* "projects/P/jobs/X", from the run's message. */
const char *managed_name(struct managed *managed, const char *parent,
			 const json_t *body, struct arena *mem);

/* ---- answers that many looks share (managed_shared.c) ------------------ */

void managed_shared_init(struct managed_shared *shared);
void managed_shared_done(struct managed_shared *shared);
/* Like managed_find(), for plans: may be as old as the last managed_forget(). */
int managed_find_shared(struct managed *managed, const char *parent,
			const char *job_id, struct managed_runs *out,
			struct error *err);
/* The message of a run that is followed beside others, a few seconds old at
 * most; returns new, or NULL: it has to be asked for. */
json_t *managed_look_shared(struct managed *managed, const char *name);

/* ---- what this machine remembers (managed_record.c) -------------------- */

/* The job's newest run in the store, and its name at the service.  1: there is
 * none. */
int managed_recorded(struct managed *managed, const char *job_id,
		     struct arena *mem, struct run_record *out,
		     const char **name, struct error *err);
/* Adds a record for an existing run, unless it has one.  managed_wait() records
 * the end: the log must be complete first. */
int managed_record(struct managed *managed, const struct job *job,
		   const char *name, const json_t *body, struct error *err);
/* Records the run's state if it is new.  `said` is the service's latest message
 * about it, or NULL. */
int managed_update(struct managed *managed, struct run_record *run,
		   const json_t *body, const char *said, struct error *err);
/*
 * Appends new log lines to the folder of the run, or of a trial.  For a run
 * that ended at `end_ms`, returns whether its last lines should have arrived.
 * `said`, in `mem`, is the newest line of the service itself, or NULL.
 */
bool managed_log_collect(struct managed *managed, const struct run_record *run,
			 const char *name, bool ended, int64_t end_ms,
			 struct arena *mem, const char **said);
/* "", or a label's value. */
const char *managed_label_of(const json_t *body, const char *name);
#define MANAGED_LABEL_DIGEST_2 "jobrun-digest-2"
/* The full digest for a label: labels are shorter. */
const char *managed_digest(const struct job *job, const json_t *body);

/* ---- what came of it (managed_results.c) ------------------------------- */

/* The ordinal of a task from a service's name for it: "master-replica-0",
 * "master 0", "workerpool1-3"; -1: not a task ("service"). */
int managed_task(const struct topology *all, const char *name);
/*
 * Derives the states of a run's tasks, as far as the run's state and the
 * service's message tell, and its exit code, -1 for none.  `tasks` has room for
 * all of the topology's.
 */
void managed_tasks(const struct topology *all, enum run_state state,
		   const char *error, struct task_record *tasks, int *code);
/* Stores new facts about its trials. */
int managed_trials(struct managed *managed, const struct run_record *run,
		   const struct run_spec *spec, const json_t *body,
		   struct error *err);

#endif
