/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds log lines of a run from elsewhere to the logs in its folder: each
 * exactly once, whichever of several processes fetches it, and wherever one is
 * killed.  In the run's folder
 *
 *	NAME.json	how far it has come, in the collector's terms, and
 *			"pending": lines that were about to be added, with the
 *			sizes that the files had before
 *	NAME.lock	held by the process that collects
 *
 * If a process is killed, the next one adds those pending lines that are
 * missing, and no others.
 */
#ifndef JOBRUN_LOG_COLLECT_H
#define JOBRUN_LOG_COLLECT_H

#include <jansson.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/log/log.h"
#include "core/spec/spec.h"

struct log_collect {
	const char *folder; /* of the run; borrowed */
	const char *name;   /* "cloud-log"; borrowed */
	struct arena *mem;
	struct run_spec spec; /* names the tasks */
	json_t *state; /* an object: the collector's own, and "pending" */
	int lock;
};

/* Adds what a killed process has left.  1: another process is collecting.  To
 * be closed in any case. */
int log_collect_open(struct log_collect *c, const char *folder,
		     const char *name, struct error *err);
/* Saves the state, if it was opened. */
void log_collect_close(struct log_collect *c);

/* Makes a line for log_collect_take(), of the run (`trial` 0) or of one of its
 * trials; any bytes, with or without a newline at their end. */
json_t *log_collect_line(long trial, size_t task, enum log_stream stream,
			 int64_t time_ms, const char *text, size_t len);

/* The same of a piece of a line, to which nothing is added: the next piece of
 * that task and stream goes on where this one ends. */
json_t *log_collect_piece(long trial, size_t task, enum log_stream stream,
			  int64_t time_ms, const char *text, size_t len);

/* Adds lines, those of a trial in its folder; changes of `state` that belong to
 * them are written with them.  Takes `lines`. */
int log_collect_take(struct log_collect *c, json_t *lines, struct error *err);

#endif
