/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the saver of a run's checkpoints has to tell people: lines of JSON in
 * a file of the run's folder, only ever added to, so that any number of
 * commands can read along.
 */
#ifndef JOBRUN_UPLOAD_EVENT_H
#define JOBRUN_UPLOAD_EVENT_H

#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

/* In the folder that all attempts of a run share. */
#define UPLOAD_EVENTS "checkpoints.log"

enum upload_event_kind {
	UPLOAD_NOTE,    /* something was left out, and why */
	UPLOAD_RESUMED, /* what the trainer was given to go on from */
	UPLOAD_DONE,    /* one is where it should be */
	UPLOAD_FAILING, /* one is not there yet: it will be tried again */
};

struct upload_event {
	int64_t time_ms;
	enum upload_event_kind kind;
	const char *text; /* one line, lower case */
};

/* Into the file, or to standard error if that is NULL.  Where it can't be
 * written it is lost: the trainer goes on. */
void upload_event_add(const char *path, enum upload_event_kind kind,
		      const char *text);

/* The events behind `*offset`, which moves on.  No file: no events. */
struct upload_events {
	struct upload_event *items;
	size_t count;
};
int upload_events_read(const char *path, uint64_t *offset, struct arena *mem,
		       struct upload_events *out, struct error *err);

#endif
