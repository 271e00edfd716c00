/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of other machines, as their agents list them.  Nothing of a run
 * is begun or changed there.
 */
#ifndef JOBRUN_HOST_DEVICES_H
#define JOBRUN_HOST_DEVICES_H

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/device/device.h"

struct host_devices {
	const char *host;
	const struct devices *all; /* NULL: not known */
	/* Why not: the host can't be reached, or its driver fails. */
	const char *why;
	enum error_code code;
};

/* Which hosts, and how to reach them; all borrowed. */
struct host_devices_call {
	const char *const *hosts; /* [USER@]HOST[:PORT] */
	size_t count;
	const char *known;     /* the file with the host keys */
	const char *directory; /* for the agent; NULL: its default */
};

/*
 * Waits for the answers of all hosts, at most a minute, through another process
 * that runs the hidden command 'jobrun look-devices'.  Returns an element for
 * each host, in `mem`, or NULL if nothing could be asked.
 */
struct host_devices *host_devices_look(const struct host_devices_call *call,
				       struct arena *mem, struct error *err);

/* What that command does: adds the answers as lines. */
int host_devices_tell(const struct host_devices_call *call, struct buf *out,
		      struct error *err);

#endif
