/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of managed.c. */
#ifndef JOBRUN_MANAGED_INTERNAL_H
#define JOBRUN_MANAGED_INTERNAL_H

#include "core/spec/spec.h"
#include "providers/google/managed/managed.h"

struct managed {
	const struct managed_service *as;
	struct provider_env env;
	struct http *http;
	struct google *google;
};

/* The runs of a job, or of all, at their service, oldest first. */
struct managed_runs {
	json_t *all;  /* every message that was listed, owned */
	json_t *ours; /* those that carry the job's labels, owned */
};

/* `parent` is "projects/P" or "projects/P/locations/R"; `job_id` is NULL for
 * those of all jobs. */
int managed_find(struct managed *managed, const char *parent,
		 const char *job_id, struct managed_runs *out,
		 struct error *err);
void managed_runs_done(struct managed_runs *runs);
/* NULL: there is none. */
const json_t *managed_newest(const struct managed_runs *runs);

/* Asks one to end; ended already is success. */
int managed_end(struct managed *managed, const char *name, struct arena *mem,
		struct error *err);
/* Where the run of a name is; in `mem`. */
const char *managed_parent_of(const char *name, struct arena *mem);
/* "projects/P/jobs/X", from its message. */
const char *managed_name(struct managed *managed, const char *parent,
			 const json_t *body, struct arena *mem);

/* ---- what this machine remembers (managed_record.c) -------------------- */

/* The newest run of the job here, and its name there.  1: there is none. */
int managed_recorded(struct managed *managed, const char *job_id,
		     struct arena *mem, struct run_record *out,
		     const char **name, struct error *err);
/* A run that is there gets a record, unless it has one.  How it ended is left
 * to managed_wait(): its log comes first. */
int managed_record(struct managed *managed, const struct job *job,
		   const char *name, const json_t *body, struct error *err);
/* Writes how it stands, if that is new.  `said` is what the service said of it
 * last, or NULL. */
int managed_update(struct managed *managed, struct run_record *run,
		   const json_t *body, const char *said, struct error *err);
/*
 * Appends new lines of its log to the run's folder, or to that of a trial.  For
 * a run that ended at `end_ms`, returns whether its last lines should be there.
 * `said`, in `mem`, is the newest line of the service itself, or NULL.
 */
bool managed_log_collect(struct managed *managed, const struct run_record *run,
			 const char *name, bool ended, int64_t end_ms,
			 struct arena *mem, const char **said);
/* "", or a label's value. */
const char *managed_label_of(const json_t *body, const char *name);
#define MANAGED_LABEL_DIGEST_2 "jobrun-digest-2"
/* The digest that a label stands for: labels are shorter. */
const char *managed_digest(const struct job *job, const json_t *body);

/* ---- what came of it (managed_results.c) ------------------------------- */

/* The ordinal of a task as services call it: "master-replica-0", "master 0",
 * "workerpool1-3"; -1: none of the run's ("service"). */
int managed_task(const struct topology *all, const char *name);
/*
 * How the tasks of a run stand, as far as its state and the service's words
 * tell; and its exit code, -1 for none.  `tasks` has room for all of the
 * topology's.
 */
void managed_tasks(const struct topology *all, enum run_state state,
		   const char *error, struct task_record *tasks, int *code);
/* Writes what is new of its trials. */
int managed_trials(struct managed *managed, const struct run_record *run,
		   const struct run_spec *spec, const json_t *body,
		   struct error *err);

#endif
