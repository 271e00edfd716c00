/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of an action: some call the provider and some wait for other
 * actions.
 */
#ifndef JOBRUN_STEP_H
#define JOBRUN_STEP_H

#include "core/plan/plan.h"

enum step {
	STEP_END,
	/* Wait for others: */
	STEP_FREE,  /* until what needs this and is replaced too is gone */
	STEP_NEEDS, /* until those before it have succeeded */
	STEP_GONE,  /* no wait: lets what it needs be taken down */
	/* Calls: */
	STEP_DELETE,
	STEP_CREATE,
	STEP_UPDATE,
	STEP_CANCEL,
	STEP_WATCH,
	STEP_WAIT,
	STEP_READ,
};

/* The steps of an action, up to STEP_END.  `starts`: something is put up that
 * may need what exists already.  `self_made`: the job's run makes what it
 * needs. */
const enum step *step_row(const struct action *action, bool detach, bool starts,
			  bool self_made);

/* Part of following something that is under way. */
bool step_follows(enum step step);
/* Nothing else is left of a row. */
bool step_only_follows(const enum step *row);

/* A call that changes the resource. */
bool step_changes(enum step step);

/* "create", "start" (a run): for messages. */
const char *step_verb(enum step step, const struct kind *kind);

/* One call and its answer; no part of it is shared with another thread
 * while it is under way. */
struct call {
	enum step step;
	const struct kind *kind;
	void *ctx;
	struct resource subject;
	bool now; /* of a cancel: without the grace */

	int ret;
	struct error err;
	enum wait_state state; /* of a wait */
	int fd;                /* of a watch; the receiver closes it */
	struct resource found; /* of a read; its properties are new */
};

void call_make(struct call *call);

#endif
