/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the devices of this machine through another process, because a hanging
 * driver hangs its caller.  The process runs the hidden command 'jobrun
 * look-devices'.
 */
#ifndef JOBRUN_DEVICE_LOOK_H
#define JOBRUN_DEVICE_LOOK_H

#include "core/base/loop.h"
#include "core/device/device.h"
#include "core/process/reaper.h"

#define LOOK_COMMAND "look-devices"

/* Waits for the answer.  The devices live in `mem`; NULL on failure. */
struct devices *devices_look(struct arena *mem, struct error *err);
/* What that command does: adds the devices of this machine, in the form of
 * devices_write(). */
int devices_tell(struct buf *out, struct error *err);

/* Whether asking is worthwhile; instant. */
bool devices_expected(void);

/* The same from a loop: `done` is called once, with NULL for the devices and
 * the reason in `why` if they are unavailable. */
struct device_look;
struct device_look *device_look_start(struct loop *loop, struct reaper *reaper,
				      void (*done)(void *arg,
						   const struct devices *all,
						   const char *why),
				      void *arg, struct error *err);
/* Stops waiting for the answer.  Accepts NULL. */
void device_look_stop(struct device_look *look);

#endif
