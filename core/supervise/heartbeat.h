/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signs of life of a run on one machine, for those on others that see the same
 * state directory.  On a file system of this machine alone the run's lock tells
 * whether it is alive, at no cost, and there are none; where a lock may mean
 * nothing on another machine, the guard of the run touches the lock file from
 * time to time, and looks whether anybody there asks for the run's end.
 */
#ifndef JOBRUN_HEARTBEAT_H
#define JOBRUN_HEARTBEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

#define HEARTBEAT_MS 10000
/* A machine that was not heard of for so long is dead. */
#define HEARTBEAT_LOST_MS (3 * 60 * 1000)

/* Whether the locks in a folder of the store tell nothing to some who see it.
 * JOBRUN_STATE_SHARED (1 or 0) says so where its file system does not. */
bool heartbeat_is_needed(const char *folder);

/*
 * By the holder of the lock, every HEARTBEAT_MS.  Returns the signal by which
 * somebody asks for the run's end, or 0.  `*last_ms` is 0 at first.
 */
int heartbeat_beat(int lock, int64_t *last_ms);

/* Since the last one, by the clock of the file system; -1: never, or it can't
 * be told. */
int64_t heartbeat_age_ms(const char *folder);
/* Leaves word for the next one. */
int heartbeat_ask_end(const char *folder, bool now, struct error *err);

#endif
