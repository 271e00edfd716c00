/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records which devices of this machine are taken, for all its users: each
 * device has a byte of one file, and whoever has locked that byte holds the
 * device.  The lock belongs to the open file (F_OFD_SETLK), so a guard and a
 * supervisor that share it hold it together, and it is released when the last
 * of them ends, in whatever way.
 *
 *	/run/lock/jobrun/devices
 */
#ifndef JOBRUN_DEVICE_LEASE_H
#define JOBRUN_DEVICE_LEASE_H

#include <stdbool.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/device/device.h"

/*
 * The folder of the leases, made if needed: JOBRUN_LOCK_DIR, else
 * /run/lock/jobrun; if that is unavailable, one of the user's own below
 * `fallback`, and `note` says why, else it is NULL.  `note` also reports a
 * container that does not share the machine's folder.  Everything lives in
 * `mem`.
 */
int lease_folder(const char *fallback, struct arena *mem, const char **folder,
		 const char **note, struct error *err);

/* The same folder as far as it is there already: makes nothing.  `note` is NULL
 * where no run of this user has needed the fallback. */
const char *lease_folder_seen(const char *fallback, struct arena *mem,
			      const char **note);

/* The path of the folder for all users; does not make it. */
const char *lease_folder_shared(void);

/* Opens the folder, which may not be a link; -1 on failure. */
int lease_open_folder(const char *path, struct error *err);
/* Opens the file of the leases in that folder: a descriptor, or -1. */
int lease_open(const char *path, struct error *err);

/* The name of a device in that file, whichever source has reported it. */
const char *lease_name(const struct device *device, struct arena *mem);

/* Takes a device; false: another process holds it. */
bool lease_take(int fd, const char *name);
/* Releases all at once, so that nobody sees only a part of them free. */
void lease_drop_all(int fd);
/* Whether another process holds the device. */
bool lease_is_taken(int fd, const char *name);

#endif
