/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signs of life of a run on one machine, for other machines that see the same
 * state directory.  On a local file system the run's lock shows for free
 * whether the run is alive, so there are none.  Where a lock may mean nothing
 * on another machine, the run's guard touches the lock file at intervals, and
 * checks whether anybody there asks for the run's end.
 */
#ifndef JOBRUN_HEARTBEAT_H
#define JOBRUN_HEARTBEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

#define HEARTBEAT_MS 10000
/* A machine that was silent for so long is dead. */
#define HEARTBEAT_LOST_MS (3 * 60 * 1000)

/* Whether locks in a folder of the store may be invisible to some who use it.
 * JOBRUN_STATE_SHARED (1 or 0) overrides what the file system suggests. */
bool heartbeat_is_needed(const char *folder);

/* One guard of a run; starts zeroed. */
struct heartbeat {
	char name[300]; /* whatever the machine's is called later */
	bool is_named;  /* in the folder of the run */
	int64_t last_ms;
};

/*
 * To be called by the holder of the lock every HEARTBEAT_MS.  Returns the
 * signal with which somebody asks for the run's end, or 0; SIGKILL: another
 * machine guards the run now, as this one was silent for too long.
 */
int heartbeat_beat(struct heartbeat *guard, int lock);
/* Whether that is so. */
bool heartbeat_is_anothers(const struct heartbeat *guard, int lock);

/* The time since the last heartbeat, by the clock of the file system; -1:
 * never, or unknown. */
int64_t heartbeat_age_ms(const char *folder);
/* Leaves a request for the next heartbeat. */
int heartbeat_ask_end(const char *folder, bool now, struct error *err);

#endif
