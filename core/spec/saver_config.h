/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages between the saver of a run's checkpoints and the process that
 * starts it: one line of JSON each, through pipes.
 *
 *	to it	the configuration; {"end": …} once the trainer has ended
 *	from it	{"checkpoint": PATH or null} or {"error": TEXT}, once
 *
 * If its input ends without an "end", the saver exits at once.
 */
#ifndef JOBRUN_SAVER_CONFIG_H
#define JOBRUN_SAVER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

struct saver_config {
	int attempt;
	const char *directory; /* the trainer's directory, absolute */
	/* where checkpoints are stored; NULL: nowhere else */
	const char *to;
	long keep;
	const char *metric; /* or NULL */
	bool maximize;
	int resume; /* enum checkpoint_resume */
	long quiet_s;
	/* Where a downloaded checkpoint goes; removed before. */
	const char *fetched;
	/* Trainers on other machines must all resume from the same checkpoint,
	 * so only those in the store count. */
	bool is_shared;
	/* Another saver copies checkpoints; this one downloads one and
	 * exits. */
	bool fetch_only;
	/* The trainer runs already, and the previous saver was killed. */
	bool is_resumed;
	/* The file to which events are appended, see upload_event.h; NULL:
	 * standard error. */
	const char *events;
	/* The folder of the run whose first task logs the metric, or NULL. */
	const char *run_folder;
	/* Or the file with values from its output, see saver_heard.h; or
	 * NULL. */
	const char *heard;
};

/* How the trainer ended. */
struct saver_end {
	int64_t ended_ms; /* monotonic */
	bool well;        /* its files are as intended */
	long patience_s;  /* how long to retry a failing store */
};

/* Return new: a line with its newline. */
char *saver_config_write(const struct saver_config *config);
char *saver_end_write(const struct saver_end *end);

int saver_config_read(const char *line, struct arena *mem,
		      struct saver_config *out, struct error *err);
int saver_end_read(const char *line, struct saver_end *out, struct error *err);

#endif
