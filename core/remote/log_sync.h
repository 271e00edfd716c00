/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a copy of a folder whose files only grow up to date, piece by piece:
 * the logs and other files of tasks, from where they run to the folder of the
 * run on this machine.  New bytes go as a stream
 *
 *	NAME OFFSET LENGTH\n	and as many bytes
 *
 * with names such as "logs/worker-0.stdout", at most one folder deep.  A log's
 * index comes after what it is about, so that the copy is at any time as the
 * original could have been.
 */
#ifndef JOBRUN_LOG_SYNC_H
#define JOBRUN_LOG_SYNC_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/base/error.h"

/* No stream is longer than about this: there is more to be had then. */
#define LOG_SYNC_MAX ((size_t)16 << 20)

/* Lists the copy: "NAME LENGTH\n" for each file.  A missing folder has no
 * files. */
int log_sync_have(const char *folder, struct buf *out, struct error *err);

/* Sends all that the folder has beyond `have`; nothing if it is missing. */
int log_sync_send(const char *folder, const char *have, struct buf *out,
		  struct error *err);

/* Adds it to the copy.  Names that lead elsewhere are refused, pieces that do
 * not fit left out: another process has been at it. */
int log_sync_take(const char *folder, const struct buf *stream,
		  struct error *err);

#endif
