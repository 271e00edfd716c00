/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of this machine, asked for by another process: a driver that
 * hangs hangs whoever asks it.  The process runs the hidden command
 * 'jobrun look-devices'.
 */
#ifndef JOBRUN_DEVICE_LOOK_H
#define JOBRUN_DEVICE_LOOK_H

#include "core/base/loop.h"
#include "core/device/device.h"
#include "core/process/reaper.h"

#define LOOK_COMMAND "look-devices"

/* Waits for the answer.  As JSON: returns new, or NULL. */
json_t *devices_look(struct error *err);

/* Whether it is worth asking, in no time. */
bool devices_expected(void);

/* The same from a loop: `done` is called once, with NULL for the devices if
 * `why` says that they could not be had. */
struct device_look;
struct device_look *device_look_start(struct loop *loop, struct reaper *reaper,
				      void (*done)(void *arg,
						   const struct devices *all,
						   const char *why),
				      void *arg, struct error *err);
/* No answer is wanted any more.  NULL does nothing. */
void device_look_stop(struct device_look *look);

#endif
