/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local memory in SQLite: runs, their tasks, the journal and which jobs
 * were applied as a set; and a folder per run for its raw logs and other files.
 *
 *	$JOBRUN_STATE_DIR, else $XDG_STATE_HOME/jobrun, else
 *	~/.local/state/jobrun		0700
 *	  jobrun.db			SQLite
 *	  key				see store_key()
 *	  runs/JOBID.ATTEMPT/		the folder of a run
 *	  locks/JOBID			see core/apply/lock.h
 *
 * Any number of processes may use a store at once; each call is one
 * transaction.  A call waits for another process's lock for some seconds and
 * then fails with ERROR_TRY_AGAIN.  One `struct store` may be used by several
 * threads.
 */
#ifndef JOBRUN_STORE_H
#define JOBRUN_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/run_state.h"

struct store;

struct run_record {
	const char *job_id;
	int attempt;          /* 1, 2 ... of this job */
	const char *provider; /* name */
	const char *digest;   /* of the job, 64 hex digits; see job_was_run() */
	const char *digest2;  /* NULL: added by an older jobrun */
	/* The origin of its job, see core/job/origin.h, and the job's file,
	 * absolute; each or NULL. */
	const char *job_origin, *job_file;
	const char *revision; /* of its source: core/job/revision.h; or NULL */
	enum run_state state;
	int64_t create_time_ms; /* since 1970 */
	int64_t start_time_ms;  /* 0: not yet */
	int64_t end_time_ms;    /* 0: not yet */
	int exit_code;          /* -1: none yet */
	const char *error;      /* why it failed, or NULL */
	const char *host;       /* the machine whose process owns the run */
	const char *properties; /* JSON: the run as it was planned */
	/* progress of the preparation, or NULL; not stored */
	const char *note;
	/* A restarted run has several attempts, each with its own record and
	 * logs: */
	int origin;   /* the run's first attempt, maybe this one */
	int restarts; /* how many earlier attempts had failed */
	/* how many earlier attempts had lost their host */
	int preemptions;
	int64_t not_before_ms; /* when it may begin; 0: at once */
};

struct task_record {
	const char *type; /* master, worker, ps, evaluator */
	int index;
	enum run_state state;
	int exit_code;    /* -1: none; 128 + n after signal n */
	int signal;       /* 0: none */
	const char *host; /* where it runs */
	int64_t pid;      /* 0: not started */
	int64_t start_time_ms;
	int64_t end_time_ms;
	uint64_t lost_bytes; /* bytes of output lost for lack of disk space */
	int trial;           /* of hyperparameter tuning; 0: none */
};

/* One of several executions of a run's program with different
 * hyperparameters. */
struct trial_record {
	int number; /* 1, 2 ... */
	enum run_state state;
	const char *parameters; /* JSON: parameter values by name, as strings */
	double value;           /* of the objective; NaN: not reported */
	int64_t step;           /* when it was reported; -1: unknown */
	bool early;             /* stopped early, as others were better */
	int64_t start_time_ms;
	int64_t end_time_ms;
	int exit_code; /* -1: none yet */
	const char *error;
};

struct trial_list {
	size_t count;
	struct trial_record *items;
};

/* An action that is about to be taken on a resource. */
struct intent_record {
	const char *job_id;
	const char *provider; /* name */
	const char *kind;
	const char *name; /* of the resource */
	const char *action_id;
	const char *verb;   /* "create", "update", "replace", "delete", "run" */
	const char *digest; /* of the job */
	/* Filled in by the store: */
	const char *plan;  /* the saved plan that it belongs to, or NULL */
	const char *error; /* why its outcome is unknown, or NULL */
	const char *host;
	int64_t pid;
	int64_t time_ms;
	const char *outcome; /* "done", "failed", or NULL: still open */
};

#define INTENT_ONCE_MAX 33

enum intent_outcome {
	INTENT_UNKNOWN, /* it may have been done: still open */
	INTENT_DONE,
	INTENT_FAILED, /* it was not done */
};

struct intent_list {
	size_t count;
	struct intent_record *items;
};

/* The state of a resource when jobrun last made or changed it. */
struct applied_record {
	const char *job_id;
	const char *provider; /* name */
	const char *kind;
	const char *name;
	const char *properties; /* JSON, without the values of secrets */
};

struct applied_list {
	size_t count;
	struct applied_record *items;
};

/*
 * A job that was applied in a set, see core/apply/applyset.h.  A job may be in
 * several sets, and at several providers.
 */
struct task_file_path {
	const char *set;
	const char *job_id;
	const char *provider; /* name */
	const char *file;     /* relative to the set's directory, or NULL */
	const char *place;    /* as for kind->list, or NULL */
};

struct member_list {
	size_t count;
	struct task_file_path *items;
};

struct run_list {
	size_t count;
	struct run_record *items;
};

struct task_list {
	size_t count;
	struct task_record *items;
};

/* To be called once, before anything else: makes SQLite end the process when
 * memory is out. */
void store_init(void);

/* Opens the store, making it if it is missing.  Fails with ERROR_TRY_AGAIN if
 * another process holds it for too long, and with an explanation if a newer
 * jobrun made it.  A child of fork() must open its own. */
struct store *store_open(struct error *err);
/* The same with a folder that the environment does not decide. */
struct store *store_open_at(const char *folder, struct error *err);
/*
 * Opens the store for commands that only read: makes nothing.  A missing store
 * reads as an empty one; a store on a read-only disk can be read, too.  Writing
 * to either fails.
 */
struct store *store_open_to_read(struct error *err);
void store_close(struct store *store);
const char *store_folder(const struct store *store); /* borrowed */
/* The owner that drives the runs of this store: JOBRUN_OWNER, or else a random
 * id stored here, followed by a space and a description for people.  Returns
 * new. */
char *store_owner(const struct store *store, struct error *err);
/* The same, or NULL where the store has no owner yet, and has made nothing. */
char *store_owner_known(const struct store *store);
/* The exit status that says why nothing of the run was begun: a host was not
 * reached or refused access.  0: it was begun, or failed by itself. */
int run_status_unbegun(const struct run_record *run);
/* For runs whose machines could not be made: the exit_code that records this,
 * and the reverse, an enum error_code; 0: the run was started, or still may
 * be. */
int run_refused_as(enum error_code code);
int run_refusal(const struct run_record *run);

/* The file in a run's folder that its processes lock: see
 * core/process/run_lock.h. */
#define STORE_RUN_LOCK "lock"

/*
 * Adds a new run in state QUEUED: chooses the attempt, makes the folder, and
 * fills in `attempt` and `host` of `run`, and `create_time_ms` if it is 0.
 */
int store_run_add(struct store *store, struct run_record *run,
		  struct error *err);

/* The same; the run becomes visible only after `prepare` has put into its
 * folder what readers expect there. */
int store_run_add_with(struct store *store, struct run_record *run,
		       int (*prepare)(void *arg, const char *folder,
				      int attempt, struct error *err),
		       void *arg, struct error *err);

/*
 * Records the end of an attempt and adds the next one in one step: nobody sees
 * one without the other.  Writes `ended`, which must be final, and its tasks;
 * adds `next` as store_run_add() does, with the origin, job, provider, digest
 * and properties of `ended`.  In between, `prepare` puts into the new folder
 * what readers expect there.  Returns 1, and does nothing, if the store already
 * has an end for `ended`: if many follow a run, only one goes on.
 */
int store_run_next(struct store *store, const struct run_record *ended,
		   const struct task_record *tasks, size_t count,
		   struct run_record *next,
		   int (*prepare)(void *arg, const char *folder, int attempt,
				  struct error *err),
		   void *arg, struct error *err);

/* The attempt that continued the run after this one; 1 if there is none. */
int store_run_after(struct store *store, const struct run_record *run,
		    struct arena *mem, struct run_record *out,
		    struct error *err);

/* `attempt` 0: the newest.  Strings live in `mem`.  Returns 1 if there is
 * none. */
int store_run_get(struct store *store, const char *job_id, int attempt,
		  struct arena *mem, struct run_record *out, struct error *err);

/* Lists the newest run of each job (or all runs), newest first. */
int store_run_list(struct store *store, bool all_attempts, struct arena *mem,
		   struct run_list *out, struct error *err);

/* Lists the runs of a provider that have not ended, as far as recorded, newest
 * first.  The cost does not depend on the number of ended runs. */
int store_run_list_open(struct store *store, const char *provider,
			struct arena *mem, struct run_list *out,
			struct error *err);

/*
 * Writes state, times, exit code and error of a run.  A final state is never
 * overwritten: if two processes saw the end, the first one counts.  A run that
 * is not in the store is an error.
 */
int store_run_put(struct store *store, const struct run_record *run,
		  struct error *err);

/* The same for many runs, in one step. */
int store_run_put_all(struct store *store, const struct run_record *const *runs,
		      size_t count, struct error *err);

/* Writes all of a task's record, new or existing. */
int store_task_put(struct store *store, const struct run_record *run,
		   const struct task_record *task, struct error *err);
/* Writes both in one step: the tasks whose `changed` is set (NULL: none), and
 * the run if `with_run`. */
int store_progress_put(struct store *store, const struct run_record *run,
		       bool with_run, const struct task_record *tasks,
		       const bool *changed, size_t count, struct error *err);
/* Lists tasks in the order in which they were first written. */
int store_task_list(struct store *store, const struct run_record *run,
		    struct arena *mem, struct task_list *out,
		    struct error *err);

/* Writes all of a trial's record, new or existing. */
int store_trial_put(struct store *store, const struct run_record *run,
		    const struct trial_record *trial, struct error *err);
/* Lists trials sorted by number. */
int store_trial_list(struct store *store, const struct run_record *run,
		     struct arena *mem, struct trial_list *out,
		     struct error *err);

/* Sets the origin of all attempts of the run, from now on. */
int store_run_put_origin(struct store *store, const struct run_record *run,
			 const char *origin, struct error *err);

/* Deletes the run and its tasks, and removes its folder.  Already gone is
 * success. */
int store_run_delete(struct store *store, const struct run_record *run,
		     struct error *err);

/*
 * Writes an intent to the disk before it returns, so that it survives a power
 * failure.  Replaces an existing intent on the same resource, and deletes the
 * applied state of the resource, which is unknown until the outcome is known.
 * `once` is a random name that the same intent keeps as long as it is open.
 */
int store_intent_put(struct store *store, const struct intent_record *intent,
		     char once[INTENT_ONCE_MAX], struct error *err);
/* Intents put from now on belong to that saved plan (a digest). */
void store_name_plan(struct store *store, const char *plan);
/* Closes the open intent on that resource, if there is one.  `error` may be
 * NULL. */
int store_intent_end(struct store *store, const struct intent_record *intent,
		     enum intent_outcome outcome, const char *error,
		     struct error *err);
/* Lists the open intents of all jobs, oldest first. */
int store_intent_list(struct store *store, struct arena *mem,
		      struct intent_list *out, struct error *err);

/* Lists the latest intent on each resource that belongs to that saved plan,
 * with or without an outcome. */
int store_intent_of_plan(struct store *store, const char *plan,
			 struct arena *mem, struct intent_list *out,
			 struct error *err);

/* Writes all records in one transaction; each replaces that of its resource. */
int store_applied_put(struct store *store, const struct applied_record *records,
		      size_t count, struct error *err);
/* Lists what was applied for a job at a provider. */
int store_applied_list(struct store *store, const char *job_id,
		       const char *provider, struct arena *mem,
		       struct applied_list *out, struct error *err);

/*
 * The key of this store, for digests of values that must not be guessable from
 * them: 32 random bytes in a file of their own, "key", beside the database.
 * Made if `make` is set; otherwise returns 1 if there is none.
 */
#define STORE_KEY_SIZE 32
int store_key(struct store *store, bool make, unsigned char *key,
	      struct error *err);

/* Writes all of them or none; replaces existing ones. */
int store_member_put(struct store *store, const struct task_file_path *members,
		     size_t count, struct error *err);
/* Lists the members of a set, or of all if `set` is NULL; by set, job and
 * provider. */
int store_member_list(struct store *store, const char *set, struct arena *mem,
		      struct member_list *out, struct error *err);
/* Removes a job of a provider from a set, or from all sets if `set` is NULL.  A
 * job that is not in it is no error. */
int store_member_drop(struct store *store, const char *set, const char *job_id,
		      const char *provider, struct error *err);

/* A job that waits for the runs of others (jobrun.after), or that was not
 * started because one of them failed. */
struct wait_record {
	const char *job_id;
	bool skipped;
	bool cancelled;  /* before it started */
	const char *why; /* "after 'prepare'" */
	/* Filled in by the store: the process that waits, or that skipped. */
	const char *host;
	int64_t pid;
	int64_t time_ms;
};

struct wait_list {
	size_t count;
	struct wait_record *items;
};

/* Replaces an existing record of the job. */
int store_wait_put(struct store *store, const struct wait_record *wait,
		   struct error *err);
int store_wait_drop(struct store *store, const char *job_id, struct error *err);
/*
 * A job that waits is either cancelled, by anybody, or claimed by the process
 * that starts it: whoever comes first.  Returns 1 if the other did; claiming
 * again is no error, and neither is cancelling again.
 */
int store_wait_cancel(struct store *store, const char *job_id,
		      struct error *err);
int store_wait_claim(struct store *store, const char *job_id,
		     struct error *err);
/* Lists those whose jobs have no run that began later; oldest first. */
int store_wait_list(struct store *store, struct arena *mem,
		    struct wait_list *out, struct error *err);

/* The folder of a run: "…/runs/JOBID.ATTEMPT".  Returns new. */
char *store_run_folder(const struct store *store, const char *job_id,
		       int attempt);

#endif
