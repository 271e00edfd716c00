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

#define SLURM_CLUSTERS 8 /* that one command can deal with */

/* A cluster that is in use, and what its queue was when it was last asked. */
struct slurm_cluster {
	struct cluster *cluster;
	struct arena *mem; /* of the queue; NULL: it was not asked yet */
	struct slurm_queue queue;
	int64_t asked_ms; /* by the monotonic clock */
	int64_t took_ms;  /* the last time */
	int64_t since_ms; /* in the last moment, since then, */
	unsigned singles; /* so many jobs were asked for alone */
	struct error why; /* it could not be asked; code 0: it could */
	/* And of its accounting. */
	struct arena *accounts_mem; /* NULL: it was not asked yet */
	struct accounts accounts;
	int64_t accounted_ms; /* by time_now_ms() */
	bool unaccounted;     /* it has none */
};

struct slurm {
	struct provider_env env;
	pthread_mutex_t lock; /* of all below: calls come from many threads */
	struct slurm_cluster clusters[SLURM_CLUSTERS];
	size_t count;
};

extern const struct topology_reader reader_slurm;
extern const struct provider_render slurm_render;
extern const struct provider_command *const slurm_commands[];

/* ---- clusters and their queues (clusters.c) ---------------------------- */

/* How old what is known of the queue may be: who follows looks once a second;
 * before something is decided it must be new. */
#define SLURM_QUEUE_AGE_MS 900
#define SLURM_NOW 0

/* The cluster at a place (NULL: the usual one), opened once. */
struct slurm_cluster *slurm_at(struct slurm *slurm, const char *place,
			       struct error *err);

/*
 * The job with this comment, from a queue that is at most `age_ms` old, and was
 * asked for after the moment `since_ms` of time_now_ms() (0: any); texts in
 * `mem`.  Returns 1 if there is none.  If its id is known, a job or two are
 * asked for alone; for more there is one call for all.  A controller that could
 * not be asked is not asked again for some seconds: it has taken its time.
 */
int slurm_look(struct slurm *slurm, struct slurm_cluster *at,
	       const char *comment, const char *id, int64_t age_ms,
	       int64_t since_ms, struct arena *mem, struct queue_job *out,
	       struct error *err);

/*
 * The same, now, for who decides by the answer: 1 only if the controller says
 * by two of its commands that there is no such job.  Without an id nothing can
 * be asked twice.
 */
int slurm_look_surely(struct slurm *slurm, struct slurm_cluster *at,
		      const char *comment, const char *id, struct arena *mem,
		      struct queue_job *out, struct error *err);

/* Many jobs by one call, whatever their number; of those that are not there
 * `out` has no id.  The queue is newer than `since_ms`. */
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
/* The same of a run whose folder is there already. */
int slurm_submit_again(struct cluster *cluster, const struct slurm_job *what,
		       struct slurm_run *run, struct arena *mem,
		       struct error *err);
/* Where jobrun is at a cluster. */
const char *slurm_program_path(const struct cluster *cluster,
			       const struct slurm_job *what, struct arena *mem);
/* A file without a name, for what goes through tar. */
int slurm_open_scratch(struct error *err);
/* Adds the job's source below `prefix`, and an unpacked package as
 * packages/`number`. */
struct archive_writer;
int slurm_pack_source(struct archive_writer *writer, const struct job *job,
		      const char *prefix, struct error *err);
int slurm_pack_package(struct archive_writer *writer, const struct job *job,
		       const char *package, size_t number, struct error *err);
/* A run's folder, or with a NULL name all of a job; gone is success. */
int slurm_forget(struct cluster *cluster, const char *job_id, const char *name,
		 struct error *err);

/* ---- what this machine remembers (record.c) ---------------------------- */

/* A run as it is remembered; texts live in the arena of its reading. */
struct slurm_record {
	struct run_record run;
	const char *place;
	const char *name;
	const char *comment;
	const char *id;      /* as sbatch has said it, or "" */
	const char *program; /* jobrun there */
	long trials;         /* elements of a job array; 0: it is none */
};

/* Reads the local record of a run. */
int slurm_record_read(const struct run_record *run, struct arena *mem,
		      struct slurm_record *out);
/* The newest run of the job here.  1: there is none. */
int slurm_recorded(struct slurm *slurm, const char *job_id, struct arena *mem,
		   struct slurm_record *out, struct error *err);
/* A run that is there gets a record, unless it has one. */
int slurm_record(struct slurm *slurm, const struct job *job,
		 const struct slurm_cluster *at, const struct slurm_run *run,
		 struct error *err);

/* For slurm_kind_job.refresh (refresh.c). */
void slurm_refresh(void *ctx, struct run_record *const *runs, size_t count,
		   struct arena *mem, bool *fresh);

/* For slurm_kind_job.list (list.c). */
int slurm_list(void *ctx, const char *place, struct listing *out,
	       struct error *err);

/* ---- accounting (accounting.c) ----------------------------------------- */

/*
 * Asks the cluster's accounting about a run, after the moment `since_ms`: one
 * call for all runs that have not ended.  False: nothing, as where there is
 * none, or it does not answer; that is no error.  Texts in `mem`.
 */
bool slurm_account(struct slurm *slurm, struct slurm_cluster *at,
		   const struct slurm_record *record, int64_t since_ms,
		   struct arena *mem, struct queue_job *out,
		   struct usage *usage);

/* ---- following (follow.c) ---------------------------------------------- */

/* Brings what is remembered of a run up to date: its state, its tasks and
 * their output. */
int slurm_follow(struct slurm *slurm, struct slurm_record *record,
		 struct arena *mem, struct error *err);

#endif
