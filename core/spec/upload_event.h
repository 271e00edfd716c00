/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that the saver of a run's checkpoints reports to people: lines of JSON
 * in a file of the run's folder, which is only appended to, so that any number
 * of commands can follow it.
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
	UPLOAD_RESUMED, /* the checkpoint that the trainer resumes from */
	UPLOAD_DONE,    /* a checkpoint is in the store */
	UPLOAD_FAILING, /* a checkpoint is not stored yet: it will be retried */
};

struct upload_event {
	int64_t time_ms;
	enum upload_event_kind kind;
	const char *text; /* one line, lower case */
};

/* Appends to the file, or to standard error if `path` is NULL.  If the file
 * can't be written, the event is lost and the trainer goes on. */
void upload_event_add(const char *path, enum upload_event_kind kind,
		      const char *text);

/* The events after `*offset`, which is advanced.  A missing file has no
 * events. */
struct upload_events {
	struct upload_event *items;
	size_t count;
};
int upload_events_read(const char *path, uint64_t *offset, struct arena *mem,
		       struct upload_events *out, struct error *err);

#endif
