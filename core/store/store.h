/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local memory: runs, their tasks, the journal and which jobs were applied
 * as a set, in SQLite; and a folder per run for its raw logs and other files.
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
 * then fails with ERROR_TRY_AGAIN.  One `struct store` may be used by
 * several threads.
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
	const char *digest2;  /* NULL: an older jobrun has added it */
	/* Whose job it is, see core/job/origin.h, and its file, absolute; each
	 * or NULL. */
	const char *job_origin, *job_file;
	const char *revision; /* of its source: core/job/revision.h; or NULL */
	enum run_state state;
	int64_t create_time_ms; /* since 1970 */
	int64_t start_time_ms;  /* 0: not yet */
	int64_t end_time_ms;    /* 0: not yet */
	int exit_code;          /* -1: none yet */
	const char *error;      /* why it failed, or NULL */
	const char *host;       /* the machine whose process owns it */
	const char *properties; /* JSON: the run as it was planned */
	const char *note;       /* how far preparing is, or NULL; not stored */
	/* A run that is restarted has several attempts, each with a record
	 * and logs of its own: */
	int origin;            /* the first of them, itself if it is alone */
	int restarts;          /* so many before it had failed */
	int preemptions;       /* so many had lost their host */
	int64_t not_before_ms; /* it waits until then to begin; or 0 */
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
	uint64_t lost_bytes; /* of its output, for want of disk space */
	int trial;           /* of hyperparameter tuning; 0: of none */
};

/* One of several tries of a run's program with other hyperparameters. */
struct trial_record {
	int number; /* 1, 2 ... */
	enum run_state state;
	const char *parameters; /* JSON: names to texts */
	double value;           /* of the objective; NaN: not reported */
	int64_t step;           /* at which it was reported; -1: not known */
	bool early;             /* it was stopped as others were better */
	int64_t start_time_ms;
	int64_t end_time_ms;
	int exit_code; /* -1: none yet */
	const char *error;
};

struct trial_list {
	size_t count;
	struct trial_record *items;
};

/* Something that is about to be done to a resource. */
struct intent_record {
	const char *job_id;
	const char *provider; /* name */
	const char *kind;
	const char *name; /* of the resource */
	const char *action_id;
	const char *verb;   /* "create", "update", "replace", "delete", "run" */
	const char *digest; /* of the job */
	/* Filled in by the store: */
	const char *plan;  /* the saved plan that it is of, or NULL */
	const char *error; /* why it is not known how it ended, or NULL */
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

/* How a resource was when jobrun last made or changed it. */
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
 * A job that was applied as one of a set, see core/apply/applyset.h.  It may be
 * in several sets, and at several providers.
 */
struct task_file_path {
	const char *set;
	const char *job_id;
	const char *provider; /* name */
	const char *file;     /* from the set's directory, or NULL */
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

/* Once, before all else: SQLite ends the process where memory is out. */
void store_init(void);

/* Makes the store if it is not there.  Fails with ERROR_TRY_AGAIN if another
 * process holds it for too long, and says so if a newer jobrun made it.  A
 * child of fork() must open its own. */
struct store *store_open(struct error *err);
/*
 * For commands that only look: makes nothing.  Where there is no store, it is
 * an empty one; one on a read-only disk can be read, too.  Writing to those
 * two fails.
 */
struct store *store_open_to_read(struct error *err);
void store_close(struct store *store);
const char *store_folder(const struct store *store); /* borrowed */
/* The owner that drives the runs of this store: JOBRUN_OWNER, or else a random id that the
 * store keeps and, behind a space, who that is for people.  Returns new. */
char *store_owner(const struct store *store, struct error *err);
/* The exit status that says why nothing of it was begun: a host was not reached
 * or let nobody in.  0: it was begun, or failed by itself. */
int run_status_unbegun(const struct run_record *run);
/* What machines could not be made for: the exit_code that says so, and what it
 * says of a run, an enum error_code; 0: it was started, or may be yet. */
int run_refused_as(enum error_code code);
int run_refusal(const struct run_record *run);

/* The file in a run's folder that its processes hold a lock on: see
 * core/process/run_lock.h. */
#define STORE_RUN_LOCK "lock"

/*
 * A new run in state QUEUED: chooses the attempt, makes the folder, and fills
 * in `attempt`, `create_time_ms` and `host` of `run`.
 */
int store_run_add(struct store *store, struct run_record *run,
		  struct error *err);

/* The same; nobody sees the run before `prepare` has put into its folder what
 * readers expect there. */
int store_run_add_with(struct store *store, struct run_record *run,
		       int (*prepare)(void *arg, const char *folder,
				      int attempt, struct error *err),
		       void *arg, struct error *err);

/*
 * The end of an attempt and the next one after it, in one step: nobody sees
 * the one without the other.  Writes `ended`, which must be final, and its
 * tasks; adds `next` as store_run_add() does, with the origin, job, provider,
 * digest and properties of `ended`.  In between `prepare` puts into the new
 * folder what readers expect there.  Returns 1, and does nothing, if `ended`
 * has an end in the store already: of many that follow a run only one goes on.
 */
int store_run_next(struct store *store, const struct run_record *ended,
		   const struct task_record *tasks, size_t count,
		   struct run_record *next,
		   int (*prepare)(void *arg, const char *folder, int attempt,
				  struct error *err),
		   void *arg, struct error *err);

/* The attempt that a run went on with after this one; 1 if there is none. */
int store_run_after(struct store *store, const struct run_record *run,
		    struct arena *mem, struct run_record *out,
		    struct error *err);

/* The newest attempt if `attempt` is 0.  Strings live in `mem`.  Returns 1
 * if there is none. */
int store_run_get(struct store *store, const char *job_id, int attempt,
		  struct arena *mem, struct run_record *out, struct error *err);

/* The newest run of each job (or all runs), newest first. */
int store_run_list(struct store *store, bool all_attempts, struct arena *mem,
		   struct run_list *out, struct error *err);

/* The runs of a provider that have not ended, as far as is recorded, newest
 * first.  The cost does not depend on how many have. */
int store_run_list_open(struct store *store, const char *provider,
			struct arena *mem, struct run_list *out,
			struct error *err);

/*
 * Writes state, times, exit code and error of a run.  A final state stays:
 * writing over one is ignored, so that of two that saw the end the first
 * is believed.  A run that is not in the store is an error.
 */
int store_run_put(struct store *store, const struct run_record *run,
		  struct error *err);

/* The same for many, in one step. */
int store_run_put_all(struct store *store, const struct run_record *const *runs,
		      size_t count, struct error *err);

/* Writes all of a task's record, the first time and later. */
int store_task_put(struct store *store, const struct run_record *run,
		   const struct task_record *task, struct error *err);
/* Both in one: the tasks whose `changed` is set (NULL: none), and the run if
 * `with_run`. */
int store_progress_put(struct store *store, const struct run_record *run,
		       bool with_run, const struct task_record *tasks,
		       const bool *changed, size_t count, struct error *err);
/* In the order of their first writing. */
int store_task_list(struct store *store, const struct run_record *run,
		    struct arena *mem, struct task_list *out,
		    struct error *err);

/* Writes all of a trial's record, the first time and later. */
int store_trial_put(struct store *store, const struct run_record *run,
		    const struct trial_record *trial, struct error *err);
/* Sorted by number. */
int store_trial_list(struct store *store, const struct run_record *run,
		     struct arena *mem, struct trial_list *out,
		     struct error *err);

/* From here on all attempts of the run are of a job of this origin. */
int store_run_put_origin(struct store *store, const struct run_record *run,
			 const char *origin, struct error *err);

/* Forgets the run and its tasks, and removes its folder.  Gone already
 * is success. */
int store_run_delete(struct store *store, const struct run_record *run,
		     struct error *err);

/*
 * Written to the disk when it returns: a power failure does not take it back.
 * One that is there for the same resource is replaced, and what was applied
 * to that is forgotten: until the outcome is known, so is that.  `once` is a
 * random name, which the same intent keeps for as long as it is open.
 */
int store_intent_put(struct store *store, const struct intent_record *intent,
		     char once[INTENT_ONCE_MAX], struct error *err);
/* Intents that are put from here on are of that saved plan (a digest). */
void store_name_plan(struct store *store, const char *plan);
/* Closes the open intent on that resource, if there is one.  `error` may be
 * NULL. */
int store_intent_end(struct store *store, const struct intent_record *intent,
		     enum intent_outcome outcome, const char *error,
		     struct error *err);
/* Lists the open intents of all jobs, oldest first. */
int store_intent_list(struct store *store, struct arena *mem,
		      struct intent_list *out, struct error *err);

/* The latest intent on each resource that is of that saved plan, with an
 * outcome or without. */
int store_intent_of_plan(struct store *store, const char *plan,
			 struct arena *mem, struct intent_list *out,
			 struct error *err);

/* Each replaces what is there for its resource; one transaction. */
int store_applied_put(struct store *store, const struct applied_record *records,
		      size_t count, struct error *err);
/* Lists what was applied for a job at a provider. */
int store_applied_list(struct store *store, const char *job_id,
		       const char *provider, struct arena *mem,
		       struct applied_list *out, struct error *err);

/*
 * The key of this store, for digests of what must not be guessed from them:
 * 32 random bytes in a file of their own, "key", beside the database.  Made
 * if `make` says so; returns 1 if there is none.
 */
#define STORE_KEY_SIZE 32
int store_key(struct store *store, bool make, unsigned char *key,
	      struct error *err);

/* All of them or none; one that is there is written anew. */
int store_member_put(struct store *store, const struct task_file_path *members,
		     size_t count, struct error *err);
/* Lists the members of a set, or of all if `set` is NULL; by set, job and
 * provider. */
int store_member_list(struct store *store, const char *set, struct arena *mem,
		      struct member_list *out, struct error *err);
/* Takes a job of a provider out of a set, or out of all if `set` is NULL.
 * Not in it is success. */
int store_member_drop(struct store *store, const char *set, const char *job_id,
		      const char *provider, struct error *err);

/* The folder of a run: "…/runs/JOBID.ATTEMPT".  Returns new. */
char *store_run_folder(const struct store *store, const char *job_id,
		       int attempt);

#endif
