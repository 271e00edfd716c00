/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a task failed, in one line: not its last, but the one that tells most.
 * A Python traceback gives the exception, with the innermost frame of the
 * user's own files; CUDA, NCCL and faulthandler give their message.
 */
#ifndef JOBRUN_LOG_CAUSE_H
#define JOBRUN_LOG_CAUSE_H

#include <stddef.h>

#include "core/base/buf.h"

/* Adds the cause that the end of an output names, and without a known one its
 * last line that is not blank; nothing if there is none. */
void log_cause_find(const char *text, size_t len, struct buf *out);

/* The same of what a task wrote last: a known cause in its standard error, or
 * else in its standard output; or the last line of its standard error. */
void log_cause_of_task(const char *folder, const char *type, int index,
		       struct buf *out);

#endif
