/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TPU node's name is known before the node exists.  This waits until it is
 * READY and HEALTHY and reports its hosts, as Google's own client did
 * (cloud.google.com, AI Platform, "Using TPUs to train your model",
 * wait_for_tpu_cluster_resolver_ready: 40 tries, 10 seconds apart).
 */
#ifndef JOBRUN_TPU_WAIT_H
#define JOBRUN_TPU_WAIT_H

#include "core/topology/topology.h"

#define TPU_WAIT_TRIES 40
#define TPU_WAIT_INTERVAL_S 10

enum tpu_sight {
	TPU_SEEN_READY,   /* its hosts accept connections */
	TPU_SEEN_PENDING, /* it may become ready by itself */
	TPU_SEEN_LOST,    /* it will never be ready */
};

/* The result of one look. */
struct tpu_view {
	enum tpu_sight sight;
	char words[160];   /* "is CREATING", "is READY and TIMEOUT" */
	const char *slice; /* "v3-8", or NULL */
	const struct tpu_place *hosts; /* for a ready TPU, at least one */
	size_t host_count;
};

struct tpu_wait {
	long tries;
	long interval_s;
	/*
	 * Looks once at the TPU that `all` names.  Its results live in `mem`.
	 * ERROR_UNREACHABLE and ERROR_TRY_AGAIN may be temporary.
	 */
	int (*look)(void *arg, const struct topology *all, struct arena *mem,
		    struct tpu_view *out, struct error *err);
	/* reports what is waited for */
	void (*say)(void *arg, const char *text);
	void (*pause)(void *arg, long seconds);
	void *arg;
};

/* Whether it has a TPU that must be waited for. */
bool tpu_is_awaited(const struct topology *all);

/*
 * Fills in where the TPU's hosts are, and which slice it is.  ERROR_TIMEOUT
 * after the last try, with the state seen then; ERROR_FAILED at once if it is
 * lost, or its number of hosts is not that of the tasks that drive them.
 */
int tpu_wait(struct topology *all, const struct catalogue *catalogue,
	     const struct tpu_wait *how, struct arena *mem, struct error *err);

#endif
