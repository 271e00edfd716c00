/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a copy of a folder of growing files up to date, piece by piece: logs
 * and other files of tasks, from where they run to the folder of the run on
 * this machine.  New bytes go as a stream
 *
 *	NAME OFFSET LENGTH\n	and as many bytes
 *
 * with names such as "logs/worker-0.stdout", at most one folder deep.  A log's
 * index comes after the data it describes, so the copy is always a state that
 * the original could have been in.
 */
#ifndef JOBRUN_LOG_SYNC_H
#define JOBRUN_LOG_SYNC_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/base/error.h"

/* The approximate limit of a stream; a stream of this length means that more
 * follows. */
#define LOG_SYNC_MAX ((size_t)16 << 20)

/* Lists the copy: "NAME LENGTH\n" for each file.  A missing folder has no
 * files. */
int log_sync_have(const char *folder, struct buf *out, struct error *err);

/* Sends everything in the folder beyond `have`; nothing if the folder is
 * missing. */
int log_sync_send(const char *folder, const char *have, struct buf *out,
		  struct error *err);

/* Adds the stream to the copy.  Refuses names that lead elsewhere; skips pieces
 * that do not fit, as another process added them. */
int log_sync_take(const char *folder, const struct buf *stream,
		  struct error *err);

#endif
