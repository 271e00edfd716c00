/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machines made for a run: the KIND_FOR_RUN resources that it needs at its
 * provider, and what they need.  They are the supervisor's from the first
 * second, whoever applied the job may go: it makes them, replaces lost ones,
 * looks after them during an attempt, and deletes them after the end of the
 * run.  All of it is planned and executed as `apply` does it, so it is in the
 * journal too.
 *
 * The outputs of these resources hold the run's values:
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

/* As the specification of a run keeps it, in `mem`: what `run` needs, as it is
 * wanted, and how often it is looked at.  NULL if nothing of that is for the
 * run. */
const char *allocation_text(const struct resource *run, const char *provider,
			    long interval_s, struct arena *mem);

/* All borrowed; they must outlive it. */
struct allocation_deps {
	const struct provider *const *providers; /* all, up to NULL */
	struct store *store;
	struct loop *loop;
	/* A pending resource: "tpu-vm 'a' is CREATING". */
	void (*progress)(void *arg, const char *text);
	/* A machine is not there any more, or not usable; once. */
	void (*lost)(void *arg, const char *why);
	void *arg;
};

/* `kept` as allocation_text() made it; borrowed. */
struct allocation *allocation_open(const json_t *kept,
				   const struct allocation_deps *deps,
				   struct error *err);
/* Waits for a call under way. */
void allocation_close(struct allocation *allocation);

/*
 * Has all of it made that is not there or lost, and waits until it can be
 * used.  Runs the loop; not to be called from within it.  Sets `outputs`
 * (new), and `made` if something was not there before.
 */
int allocation_ensure(struct allocation *allocation, json_t **outputs,
		      bool *made, struct error *err);
/* Makes the other two come back soon, with ERROR_INTERRUPTED. */
void allocation_interrupt(struct allocation *allocation);

/* While an attempt goes on: looks every so often, from the loop, which it may
 * also stop. */
void allocation_watch(struct allocation *allocation);
void allocation_unwatch(struct allocation *allocation);

/* Whether a run that ended so lets go of them. */
bool allocation_is_over(const struct allocation *allocation,
			enum run_state state);
/* Deletes all of it.  Runs the loop.  Resources that it cannot delete stay in
 * the journal. */
int allocation_release(struct allocation *allocation, struct error *err);

#endif
