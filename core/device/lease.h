/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which devices of this machine are taken, for all its users: each has a byte
 * of one file, and whoever has locked that byte holds the device.  The lock is
 * one of the open file (F_OFD_SETLK), so a guard and a supervisor that share it
 * hold together, and it is gone when the last of them is, however that ends.
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
 * The folder of the leases, made if need be: JOBRUN_LOCK_DIR, else
 * /run/lock/jobrun.  Where that can't be had, one of the user's own below
 * `fallback`; then `note` says why, else it is NULL.  In a container that
 * does not share the machine's, `note` says so.  All live in `mem`.
 */
int lease_folder(const char *fallback, struct arena *mem, const char **folder,
		 const char **note, struct error *err);

/* Where it is, without making it and for all users. */
const char *lease_folder_shared(void);

/* The folder, which may not be a link, or -1. */
int lease_open_folder(const char *path, struct error *err);
/* The file of the leases there: a descriptor, or -1. */
int lease_open(const char *path, struct error *err);

/* What a device is called there, whoever has told of it. */
const char *lease_name(const struct device *device, struct arena *mem);

/* Takes a device; false: another holds it. */
bool lease_take(int fd, const char *name);
/* All at once, so that nobody sees a part of them free. */
void lease_drop_all(int fd);
/* Whether another holds it. */
bool lease_is_taken(int fd, const char *name);

#endif
