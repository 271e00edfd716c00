/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers intents and their outcomes across a kill.  The executor writes an
 * intent before the first call of an action that changes something, and an
 * outcome when nothing is left to change; these two functions hide where they
 * are kept.
 *
 * An intent without an outcome is decided by looking at the resource, never by
 * believing the journal: a process may have been killed before the call, during
 * it or after it.
 */
#ifndef JOBRUN_JOURNAL_H
#define JOBRUN_JOURNAL_H

#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/store/store.h"

struct journal {
	/* Has outlived a power failure when it returns.  If it fails, the
	 * action is not begun.  Sets `once` of its resource.  Called from the
	 * executor's threads. */
	int (*begin)(void *arg, const struct action *action,
		     char once[INTENT_ONCE_MAX], struct error *err);
	/* It was made or changed: `it` has all its values, secrets too, which
	 * must not be kept.  Not for runs.  To lose it costs knowing later
	 * what others changed, so a failure is told and fails nothing.  Called
	 * from the executor's threads.  May be NULL. */
	int (*applied)(void *arg, const struct action *action,
		       const struct resource *it, struct error *err);
	/* INTENT_UNKNOWN and INTENT_FAILED come with `why`.  To lose it
	 * costs a look later on, so that is no reason to stop.  Called from
	 * the loop's thread. */
	void (*end)(void *arg, const struct action *action,
		    enum intent_outcome outcome, const struct error *why);
	void *arg;
};

/* Kept in a store, which is borrowed. */
struct journal journal_in_store(struct store *store);

/* Records every resource that is as desired but that the store does not know
 * (it was lost).  Covers all actions of the plan. */
int journal_adopt(struct store *store, const struct plan *plan,
		  struct error *err);

#endif
