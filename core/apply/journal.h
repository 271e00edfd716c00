/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers intents and their outcomes across a kill.  The executor writes an
 * intent before the first call of an action that changes something, and an
 * outcome when nothing is left to change.  These functions hide where the
 * records are kept.
 *
 * An intent without an outcome is decided by looking at the resource, never by
 * trusting the journal: the process may have been killed before, during or
 * after the call.
 */
#ifndef JOBRUN_JOURNAL_H
#define JOBRUN_JOURNAL_H

#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/store/store.h"

struct journal {
	/* Records an intent; the record survives a power failure once this
	 * returns.  If it fails, the action is not begun.  Sets `once` of its
	 * resource.  Called from the executor's threads. */
	int (*begin)(void *arg, const struct action *action,
		     char once[INTENT_ONCE_MAX], struct error *err);
	/* Records that the resource was made or changed.  `it` has all its
	 * values, including secrets, which must not be stored.  Not called for
	 * runs.  A failure is reported but fails nothing: without the record we
	 * only cannot tell later what others changed.  Called from the
	 * executor's threads.  May be NULL. */
	int (*applied)(void *arg, const struct action *action,
		       const struct resource *it, struct error *err);
	/* Records an outcome; INTENT_UNKNOWN and INTENT_FAILED come with `why`.
	 * A failure stops nothing: without the record, resume looks at the
	 * resource again.  Called from the loop's thread. */
	void (*end)(void *arg, const struct action *action,
		    enum intent_outcome outcome, const struct error *why);
	void *arg;
};

/* A journal kept in a store, which is borrowed. */
struct journal journal_in_store(struct store *store);

/* Records every resource of the plan that is as desired but missing from the
 * store, because its record was lost. */
int journal_adopt(struct store *store, const struct plan *plan,
		  struct error *err);

#endif
