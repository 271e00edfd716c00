/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machines made for a run: the KIND_FOR_RUN resources that it needs at its
 * provider, and what these need.  The supervisor owns them from the start, so
 * whoever applied the job may go: it makes them, replaces lost ones, checks
 * them during an attempt, and deletes them after the run.  It plans and
 * executes this as `apply` does, so all of it is in the journal too.
 *
 * The outputs of these resources hold values for the run:
 *
 *	hosts		where they are reached, ["USER@203.0.113.7", …]
 *	addresses	what they are called, by default as in `hosts`
 *	tpuHosts	the TPU's, if it is not in them: ["10.240.1.2:8470", …]
 */
#ifndef JOBRUN_ALLOCATION_H
#define JOBRUN_ALLOCATION_H

#include <jansson.h>

#include "core/base/loop.h"
#include "core/provider/provider.h"

struct allocation;

/* The allocation as the run's specification stores it, in `mem`: the wanted
 * resources that `run` needs, and how often they are checked.  NULL if none of
 * them is for the run. */
const char *allocation_text(const struct resource *run, const char *provider,
			    long interval_s, struct arena *mem);

/* All borrowed; they must outlive the allocation. */
struct allocation_deps {
	/* all providers, NULL-terminated */
	const struct provider *const *providers;
	struct store *store;
	struct loop *loop;
	/* Reports a pending resource: "tpu-vm 'a' is CREATING". */
	void (*progress)(void *arg, const char *text);
	/* Reports, once, that a machine is gone or unusable. */
	void (*lost)(void *arg, const char *why);
	void *arg;
};

/* `kept` comes from allocation_text(); borrowed. */
struct allocation *allocation_open(const json_t *kept,
				   const struct allocation_deps *deps,
				   struct error *err);
/* Waits for a call in progress. */
void allocation_close(struct allocation *allocation);

/*
 * Makes all resources that are missing or lost, and waits until they can be
 * used.  Runs the loop; must not be called from within it.  Sets `outputs`
 * (new), and `made` if something had to be made.
 */
int allocation_ensure(struct allocation *allocation, json_t **outputs,
		      bool *made, struct error *err);
/* Makes the other two return soon, with ERROR_INTERRUPTED. */
void allocation_interrupt(struct allocation *allocation);

/* During an attempt: checks the resources at intervals, from the loop, which it
 * may also stop. */
void allocation_watch(struct allocation *allocation);
void allocation_unwatch(struct allocation *allocation);

/* Whether a run that ended this way gives up its machines. */
bool allocation_is_over(const struct allocation *allocation,
			enum run_state state);
/* Deletes all resources.  Runs the loop.  Resources that it cannot delete stay
 * in the journal. */
int allocation_release(struct allocation *allocation, struct error *err);

#endif
