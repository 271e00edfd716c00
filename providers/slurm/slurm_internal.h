/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of slurm.c. */
#ifndef JOBRUN_SLURM_INTERNAL_H
#define JOBRUN_SLURM_INTERNAL_H

#include <pthread.h>

#include "core/provider/provider.h"
#include "core/store/store.h"
#include "providers/slurm/accounts.h"
#include "providers/slurm/cluster.h"
#include "providers/slurm/desire.h"
#include "providers/slurm/queue.h"
#include "providers/slurm/runs.h"

/* The keys of login hosts, in the folder of the store. */
#define LOGIN_HOSTS "login_hosts"
#define SLURM_CLUSTERS 8 /* the most that one command can use */

/* A cluster in use, and its queue when last read. */
struct slurm_cluster {
	struct cluster *cluster;
	struct arena *mem; /* of the queue; NULL: not read yet */
	struct slurm_queue queue;
	int64_t asked_ms; /* monotonic */
	int64_t took_ms;  /* how long that took */
	int64_t since_ms; /* the start of the current interval, */
	unsigned singles; /* in which so many jobs were queried one by one */
	struct error why; /* why it could not be read; code 0: it could */
	/* The same for its accounting: */
	struct arena *accounts_mem; /* NULL: not read yet */
	struct accounts accounts;
	int64_t accounted_ms; /* by time_now_ms() */
	bool unaccounted;     /* has no accounting */
};

struct slurm {
	struct provider_env env;
	/* for everything below: many threads make calls */
	pthread_mutex_t lock;
	struct slurm_cluster clusters[SLURM_CLUSTERS];
	size_t count;
};

extern const struct topology_reader reader_slurm;
extern const struct provider_render slurm_render;
extern const struct provider_command *const slurm_commands[];
/* Hidden; for slurm_kind_job.enter (enter_step.c). */
extern const struct provider_command slurm_enter_step;
extern const struct provider_command slurm_enter_task;

/* ---- clusters and their queues (clusters.c) ---------------------------- */

/* The largest age of a queue: followers look once a second; decisions need a
 * new one. */
#define SLURM_QUEUE_AGE_MS 900
#define SLURM_NOW 0

/* The cluster at a place (NULL: the default), opened once. */
struct slurm_cluster *slurm_at(struct slurm *slurm, const char *place,
			       struct error *err);

/*
 * Finds the job with this comment in a queue that is at most `age_ms` old, and
 * was read after `since_ms` of time_now_ms() (0: any); strings in `mem`.
 * Returns 1 if there is none.  With known ids, one or two jobs are queried
 * separately; more use one call for all.  A controller that could not be
 * queried is left alone for some seconds, as the failure took time.
 */
int slurm_look(struct slurm *slurm, struct slurm_cluster *at,
	       const char *comment, const char *id, int64_t age_ms,
	       int64_t since_ms, struct arena *mem, struct queue_job *out,
	       struct error *err);

/*
 * The same with a new queue, for decisions: returns 1 only if two of the
 * controller's commands agree that there is no such job.  Without an id, the
 * second can't be asked.
 */
int slurm_look_surely(struct slurm *slurm, struct slurm_cluster *at,
		      const char *comment, const char *id, struct arena *mem,
		      struct queue_job *out, struct error *err);

/* The same for any number of jobs in one call; for missing ones `out` has no
 * id.  The queue is newer than `since_ms`. */
int slurm_look_at_all(struct slurm *slurm, struct slurm_cluster *at,
		      const char *const *comments, size_t count,
		      int64_t since_ms, struct arena *mem,
		      struct queue_job *out, struct error *err);

/* ---- submitting (submit.c) --------------------------------------------- */

/* Ships what is not there yet, makes the folder of the run, and calls sbatch.
 * `run` has its name, number and comment, and gets its id, in `mem`. */
int slurm_submit(struct cluster *cluster, const struct job *job,
		 const struct slurm_job *what, struct slurm_run *run,
		 struct arena *mem, struct error *err);
/* The same for a run whose folder already exists. */
int slurm_submit_again(struct cluster *cluster, const struct slurm_job *what,
		       struct slurm_run *run, struct arena *mem,
		       struct error *err);
/* jobrun's path at a cluster. */
const char *slurm_program_path(const struct cluster *cluster,
			       const struct slurm_job *what, struct arena *mem);
/* Opens an unnamed file, for data that goes through tar. */
int slurm_open_scratch(struct error *err);
/* Add the job's source below `prefix`, and an unpacked package as
 * packages/`number`. */
struct archive_writer;
int slurm_pack_source(struct archive_writer *writer, const struct job *job,
		      const char *prefix, struct error *err);
int slurm_pack_package(struct archive_writer *writer, const struct job *job,
		       const char *package, size_t number, struct error *err);
/* Deletes a run's folder, or with `name` NULL all folders of a job; already
 * gone is success. */
int slurm_forget(struct cluster *cluster, const char *job_id, const char *name,
		 struct error *err);

/* ---- what this machine remembers (record.c) ---------------------------- */

/* A run in the store; strings live in the arena it was read into. */
struct slurm_record {
	struct run_record run;
	const char *place;
	const char *name;
	const char *comment;
	const char *id;      /* as sbatch reported it, or "" */
	const char *program; /* jobrun there */
	long trials;         /* elements of a job array; 0: no array */
};

/* Reads the local record of a run. */
int slurm_record_read(const struct run_record *run, struct arena *mem,
		      struct slurm_record *out);
/* The newest run of the job in the store.  1: there is none. */
int slurm_recorded(struct slurm *slurm, const char *job_id, struct arena *mem,
		   struct slurm_record *out, struct error *err);
/* Adds a record for an existing run, unless it has one. */
int slurm_record(struct slurm *slurm, const struct job *job,
		 const struct slurm_cluster *at, const struct slurm_run *run,
		 struct error *err);

/* ---- who has cancelled a job (cancelled.c) ----------------------------- */

/* Notes that jobrun cancels the run's job, and with which state the run
 * ends. */
void slurm_mark_cancel(struct slurm *slurm, struct cluster *cluster,
		       const struct slurm_record *record, enum run_state state,
		       struct arena *mem);

/* For slurm_kind_job.refresh (refresh.c). */
void slurm_refresh(void *ctx, struct run_record *const *runs, size_t count,
		   struct arena *mem, bool *fresh);

/* For slurm_kind_job.list (list.c). */
int slurm_list(void *ctx, const char *place, struct listing *out,
	       struct error *err);

/* For slurm_kind_job.enter (slurm_enter.c). */
int slurm_enter(void *ctx, const struct enter_wish *wish, struct arena *mem,
		struct enter_way *out, struct error *err);

/* ---- accounting (accounting.c) ----------------------------------------- */

/*
 * Reads the cluster's accounting about a run, not older than `since_ms`: one
 * call for all runs that have not ended.  False, which is no error: it knows
 * nothing, does not exist, or does not answer.  Strings in `mem`.
 */
bool slurm_account(struct slurm *slurm, struct slurm_cluster *at,
		   const struct slurm_record *record, int64_t since_ms,
		   struct arena *mem, struct queue_job *out,
		   struct usage *usage);

/* ---- following (follow.c) ---------------------------------------------- */

/* Brings the record of a run up to date: its state, its tasks and their
 * output. */
int slurm_follow(struct slurm *slurm, struct slurm_record *record,
		 struct arena *mem, struct error *err);

#endif
