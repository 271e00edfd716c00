/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds why a task failed, in one line: the most informative line rather than
 * the last.  A Python traceback yields the exception, with the innermost frame
 * of the user's own files; CUDA, NCCL and faulthandler yield their message.
 */
#ifndef JOBRUN_LOG_CAUSE_H
#define JOBRUN_LOG_CAUSE_H

#include <stddef.h>

#include "core/base/buf.h"

/* Adds the cause found in the end of an output, or else its last line that is
 * not blank; nothing if there is none. */
void log_cause_find(const char *text, size_t len, struct buf *out);

/* The same for a task's last output: a known cause in its standard error, or
 * else in its standard output; else the last line of its standard error. */
void log_cause_of_task(const char *folder, const char *type, int index,
		       struct buf *out);

#endif
