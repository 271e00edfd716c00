/* SPDX-License-Identifier: Apache-2.0 */
/* Follows a run: its state, its tasks and their output. */
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
	bool lost;            /* its node was removed, or it was evicted */
	const char *lost_why; /* the cluster's reason for that, or "" */
	bool starved;         /* of memory */
	/* The last words of the container that installs jobrun, if that has
	 * failed: then the program was never started.  Or NULL. */
	const char *launcher_said;
	int64_t start_ms, end_ms;
};

/* A pod that has written output, or may have. */
struct pod_source {
	const char *name;
	const char *uid;
	size_t task;  /* ordinal */
	bool started; /* its container has started */
	bool ended;
	bool whole; /* all of its output was fetched: pod_log_collect() */
};

struct pods {
	struct arena *mem; /* owns all strings */
	struct pod_task *tasks;
	size_t count;
	struct pod_source *sources;
	size_t source_count;
	const char *waiting; /* why a pod does not start, or NULL */
};

/* Reads the pools of a run's object, in the order of its tasks; borrows their
 * names from it.  `out` is zeroed before. */
void pods_pools(const json_t *object, struct kube_job *out);
/* Reads the pods of a run; `spec` has the expected tasks. */
int pods_read(const struct kube_at *at, const char *name,
	      const struct kube_job *job, struct pods *out, struct error *err);
void pods_done(struct pods *pods);

/* ---- logs (pod_log.c) -------------------------------------------------- */

/* Adds new output to the logs in the folder.  Returns whether all output of the
 * pods was fetched; for a run that has ended, eventually also if some is
 * unavailable.  `follow`: more calls will come, so streams stay open between
 * them, and only the end of the run is waited for. */
bool pod_log_collect(struct kube *kube, const struct kube_at *at,
		     const char *folder, struct pods *pods, bool follow,
		     bool ended);
/* Closes the streams of all runs. */
void pod_log_end_all(struct kube *kube);

#endif
