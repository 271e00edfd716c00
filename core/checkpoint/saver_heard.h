/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program's output says of its training, written down for the saver of
 * its checkpoints by the process that passes the output on: a line
 *
 *	TIME_MS STEP EPOCH VALUE
 *
 * in a file for each line of the output that says something, with all that is
 * known by then; -1 or nan is what is not.  A file, so that either side may be
 * killed.  When it has HEARD_MAX bytes it becomes PATH.old, and another one is
 * begun: what was said last is what counts.
 */
#ifndef JOBRUN_SAVER_HEARD_H
#define JOBRUN_SAVER_HEARD_H

#include "core/checkpoint/checkpoint.h"
#include "core/log/metric.h"

#define HEARD_MAX (1 << 20)
#define HEARD_STREAMS 2 /* standard output and error */

struct heard;

/* Begins anew.  Borrows `metric`, whose values are wanted, and `patterns`, see
 * metric_parser_new(). */
struct heard *heard_open(const char *path, const char *metric,
			 const struct pairs *patterns, struct error *err);
void heard_close(struct heard *heard);

/* A piece of the output, as it came.  A line has the time of its first byte.
 * What the disk does not take is not known later: the program goes on. */
void heard_add(struct heard *heard, int stream, const char *data, size_t len,
	       int64_t time_ms);

/* Fills in what was known at that time; what was not stays as it is. */
int heard_fill(const char *path, const char *metric, int64_t time_ms,
	       struct checkpoint *out, struct error *err);

#endif
