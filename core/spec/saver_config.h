/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the saver of a run's checkpoints is told by the process that starts
 * it, and what it answers: one line of JSON each, through pipes.
 *
 *	to it	the configuration; {"end": …} once the trainer has ended
 *	from it	{"checkpoint": PATH or null} or {"error": TEXT}, once
 *
 * When its input ends without an "end" it ends at once.
 */
#ifndef JOBRUN_SAVER_CONFIG_H
#define JOBRUN_SAVER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

struct saver_config {
	int attempt;
	const char *directory; /* that the trainer writes to, absolute */
	const char *to;        /* where they are kept; NULL: nowhere else */
	long keep;
	const char *metric; /* or NULL */
	bool maximize;
	int resume; /* enum checkpoint_resume */
	long quiet_s;
	/* Where one that is fetched is put: removed before. */
	const char *fetched;
	/* The trainer is one of several on other machines, which must all go
	 * on from the same: only what is kept there counts. */
	bool is_shared;
	/* Another saver copies them; this one only fetches, and ends. */
	bool fetch_only;
	/* The trainer runs already, and the saver before this was killed. */
	bool is_resumed;
	/* A file that events are added to, see upload_event.h; NULL: they go
	 * to standard error. */
	const char *events;
	/* The folder of the run whose first task logs the metric, or NULL. */
	const char *run_folder;
	/* Or what is heard of it, see saver_heard.h; or NULL. */
	const char *heard;
};

/* How the trainer has ended. */
struct saver_end {
	int64_t ended_ms; /* of the monotonic clock */
	bool well;        /* its files are as it meant them */
	long patience_s;  /* with a store that fails */
};

/* Return new: a line with its end. */
char *saver_config_write(const struct saver_config *config);
char *saver_end_write(const struct saver_end *end);

int saver_config_read(const char *line, struct arena *mem,
		      struct saver_config *out, struct error *err);
int saver_end_read(const char *line, struct saver_end *out, struct error *err);

#endif
