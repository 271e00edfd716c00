/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the keeper of a run's checkpoints has to tell people: lines of JSON in
 * a file of the run's folder, only ever added to, so that any number of
 * commands can read along.
 */
#ifndef JOBRUN_KEEPER_EVENT_H
#define JOBRUN_KEEPER_EVENT_H

#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

/* In the folder that all attempts of a run share. */
#define KEEPER_EVENTS "checkpoints.log"

enum keeper_event_kind {
	KEEPER_NOTE,    /* something was left out, and why */
	KEEPER_RESUMED, /* what the trainer was given to go on from */
	KEEPER_KEPT,    /* one is where it should be */
	KEEPER_FAILING, /* one is not there yet: it will be tried again */
};

struct keeper_event {
	int64_t time_ms;
	enum keeper_event_kind kind;
	const char *text; /* one line, lower case */
};

/* Into the file, or to standard error if that is NULL.  Where it can't be
 * written it is lost: the trainer goes on. */
void keeper_event_add(const char *path, enum keeper_event_kind kind,
		      const char *text);

/* Those behind `*offset`, which is moved on.  No file is no event. */
struct keeper_events {
	struct keeper_event *items;
	size_t count;
};
int keeper_events_read(const char *path, uint64_t *offset, struct arena *mem,
		       struct keeper_events *out, struct error *err);

#endif
