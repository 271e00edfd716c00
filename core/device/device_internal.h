/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to find devices, each with a file of its own.  Each returns 1 if it
 * has found out, 0 if it can't, and -1 if its source has failed. */
#ifndef JOBRUN_DEVICE_INTERNAL_H
#define JOBRUN_DEVICE_INTERNAL_H

#include "core/device/device.h"

int device_nvml(struct devices *out, struct arena *mem, struct error *err);
int device_nvidia_smi(struct devices *out, struct arena *mem,
		      struct error *err);
int device_proc_nvidia(const char *root, struct devices *out,
		       struct arena *mem);
int device_amd(const char *root, struct devices *out, struct arena *mem);
/* Adds what only amd-smi knows of the AMD devices that are there, and their
 * partitions. */
int device_amd_smi(struct devices *out, struct arena *mem, struct error *err);
/* Counts AMD's as ROCm does, and those that it does not know behind them by
 * their places on the bus; once all are there. */
void device_amd_sort(const char *root, struct devices *out, struct arena *mem);

/* Adds a device with nothing known yet; NULL: there are too many. */
struct device *device_add(struct devices *all, const char *vendor, int index);
/* A bus address as /sys has it, "00000000:3B:00.0". */
const char *device_bus(const char *id, struct arena *mem);
void device_add_holder(struct device *one, pid_t pid, struct arena *mem);

#endif
