/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the training values found in a program's output, for the saver of its
 * checkpoints.  The process that passes the output on writes a line
 *
 *	TIME_MS STEP EPOCH VALUE
 *
 * to a file for each output line with a value, containing everything known by
 * then; unknown values are -1 or nan.  A file, so that either side may be
 * killed.  At HEARD_MAX bytes it becomes PATH.old and a new one starts: only
 * the latest values count.
 */
#ifndef JOBRUN_SAVER_HEARD_H
#define JOBRUN_SAVER_HEARD_H

#include "core/checkpoint/checkpoint.h"

struct pairs;

#define HEARD_MAX (1 << 20)
#define HEARD_STREAMS 2 /* standard output and error */

struct heard;

/* Starts a new file.  Borrows `metric`, the metric to record, and `patterns`,
 * see metric_parser_new(). */
struct heard *heard_open(const char *path, const char *metric,
			 const struct pairs *patterns, struct error *err);
void heard_close(struct heard *heard);

/* Adds a piece of the output, as it came.  A line gets the time of its first
 * byte.  If the disk is full, lines are lost and the program goes on. */
void heard_add(struct heard *heard, int stream, const char *data, size_t len,
	       int64_t time_ms);

/* Fills in the values known at that time; unknown ones are left as they are. */
int heard_fill(const char *path, const char *metric, int64_t time_ms,
	       struct checkpoint *out, struct error *err);

#endif
