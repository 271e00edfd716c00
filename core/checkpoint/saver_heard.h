/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records what a program's output says of its training, for the saver of its
 * checkpoints, by the process that passes the output on: a line
 *
 *	TIME_MS STEP EPOCH VALUE
 *
 * in a file for each line of the output with a value, with all that is known by
 * then; unknown values are -1 or nan.  A file, so that either side may be
 * killed.  At HEARD_MAX bytes it becomes PATH.old, and a new one starts: only
 * the latest values count.
 */
#ifndef JOBRUN_SAVER_HEARD_H
#define JOBRUN_SAVER_HEARD_H

#include "core/checkpoint/checkpoint.h"

struct pairs;

#define HEARD_MAX (1 << 20)
#define HEARD_STREAMS 2 /* standard output and error */

struct heard;

/* Begins anew.  Borrows `metric`, whose values are wanted, and `patterns`, see
 * metric_parser_new(). */
struct heard *heard_open(const char *path, const char *metric,
			 const struct pairs *patterns, struct error *err);
void heard_close(struct heard *heard);

/* A piece of the output, as it came.  A line has the time of its first byte.
 * Lines that do not fit on the disk are lost: the program goes on. */
void heard_add(struct heard *heard, int stream, const char *data, size_t len,
	       int64_t time_ms);

/* Fills in what was known at that time; what was not stays as it is. */
int heard_fill(const char *path, const char *metric, int64_t time_ms,
	       struct checkpoint *out, struct error *err);

#endif
