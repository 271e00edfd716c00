/* SPDX-License-Identifier: Apache-2.0 */
/* Following a run: its state, its tasks and what they write. */
#ifndef JOBRUN_KUBE_FOLLOW_H
#define JOBRUN_KUBE_FOLLOW_H

#include "core/provider/provider.h"

struct kube;
struct kube_at;
struct kube_job;

int kube_wait(void *ctx, const struct resource *have, enum wait_state *state,
	      struct error *err);
void kube_refresh(void *ctx, struct run_record *const *runs, size_t count,
		  struct arena *mem, bool *fresh);
int kube_watch(void *ctx, const struct resource *have, int *fd,
	       struct error *err);

/* ---- pods (pods.c) ----------------------------------------------------- */

/* The newest pod of a task. */
struct pod_task {
	const char *pod; /* name; NULL: there is none */
	const char *node;
	enum run_state state;
	int exit_code;        /* -1: none yet */
	bool lost;            /* its node was taken away, or it was evicted */
	const char *lost_why; /* what the cluster says of that, or "" */
	bool starved;         /* of memory */
	/* The last words of what puts jobrun there, if that has failed: then
	 * the program was never started.  Or NULL. */
	const char *launcher_said;
	int64_t start_ms, end_ms;
};

/* One that has written, or may have. */
struct pod_source {
	const char *name;
	const char *uid;
	size_t task;  /* ordinal */
	bool started; /* its container has */
	bool ended;
	bool whole; /* all that it has written is there: pod_log_collect() */
};

struct pods {
	struct arena *mem; /* owns all texts */
	struct pod_task *tasks;
	size_t count;
	struct pod_source *sources;
	size_t source_count;
	const char *waiting; /* why one does not start, or NULL */
};

/* Reads the pods of a run: `spec` says which tasks there should be. */
int pods_read(const struct kube_at *at, const char *name,
	      const struct kube_job *job, struct pods *out, struct error *err);
void pods_done(struct pods *pods);

/* ---- logs (pod_log.c) -------------------------------------------------- */

/* Adds what is new to the logs in the folder.  Returns whether all that the
 * pods have written is there; of a run that has ended, in the end also without
 * what can't be had.  With `follow` more looks will come: then streams stay
 * open between them, and only the end of the run is waited for. */
bool pod_log_collect(struct kube *kube, const struct kube_at *at,
		     const char *folder, struct pods *pods, bool follow,
		     bool ended);
/* Ends what is open of all runs. */
void pod_log_end_all(struct kube *kube);

#endif
