/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of an action; a step calls the provider or waits for other actions.
 */
#ifndef JOBRUN_STEP_H
#define JOBRUN_STEP_H

#include "core/plan/plan.h"

enum step {
	STEP_END,
	/* Steps that wait for other actions: */
	STEP_FREE,  /* until its replaced dependents are gone */
	STEP_NEEDS, /* until its needs have succeeded */
	STEP_GONE,  /* no wait: allows its needs to be taken down */
	/* Calls: */
	STEP_DELETE,
	STEP_CREATE,
	STEP_UPDATE,
	STEP_CANCEL,
	STEP_WATCH,
	STEP_WAIT,
	STEP_READ,
};

/* The steps of an action, up to STEP_END.  `starts`: something is created that
 * may need what exists already.  `self_made`: the job's run makes what it
 * needs. */
const enum step *step_row(const struct action *action, bool detach, bool starts,
			  bool self_made);

/* Whether the step is part of following something in progress. */
bool step_follows(enum step step);
/* Whether the rest of the row only follows. */
bool step_only_follows(const enum step *row);

/* Whether the step's call changes the resource. */
bool step_changes(enum step step);

/* The verb for messages: "create", "start" (for a run). */
const char *step_verb(enum step step, const struct kind *kind);

/* One call and its answer.  While the call is in progress, no other thread uses
 * any part of this. */
struct call {
	enum step step;
	const struct kind *kind;
	void *ctx;
	struct resource subject;
	bool now; /* for a cancel: skip the grace period */

	int ret;
	struct error err;
	enum wait_state state; /* from a wait */
	int fd;                /* from a watch; the receiver closes it */
	struct resource found; /* from a read; its properties are new */
};

void call_make(struct call *call);

#endif
