/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPUs of this machine, as their driver or the kernel reports them.  Needs
 * no library or header at build time: uses NVML if it is installed, then the
 * vendors' programs, then /proc and /sys.  Each source knows less than the one
 * before.
 */
#ifndef JOBRUN_DEVICE_H
#define JOBRUN_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/error.h"

#define DEVICES_MAX 256
#define DEVICE_HOLDERS_MAX 64

/* A process that computes on a device. */
struct device_holder {
	pid_t pid;
	const char *user;    /* NULL: it is gone, or not visible to us */
	const char *program; /* the same */
};

struct device {
	const char *vendor; /* "nvidia" or "amd" */
	/* As the vendor counts them: NVIDIA by their places on the bus, AMD as
	 * the kernel has numbered them; a slice of a GPU has the index of its
	 * GPU. */
	int index;
	bool slice;        /* a MIG part of a GPU */
	const char *model; /* each of these is NULL if unknown */
	const char *uuid;
	const char *bus; /* "0000:3b:00.0" */
	/* why it should not be used; NULL: it is healthy */
	const char *trouble;
	uint64_t memory_bytes, memory_used_bytes; /* 0: not known */
	int use_percent;                          /* -1: not known */
	int temperature_c;                        /* -1: not known */
	struct device_holder holders[DEVICE_HOLDERS_MAX];
	size_t holder_count;
	/* The run that holds it, that run's user, and since when, as far as
	 * that is recorded; NULL: none. */
	const char *run, *run_user;
	int64_t run_since_ms;
};

struct devices {
	struct device items[DEVICES_MAX];
	size_t count;
	const char *source; /* who reported them; NULL: no devices */
	/* Why the leases are not those of all users; NULL: they are. */
	const char *note;
};

/*
 * Looks once.  A hanging driver blocks the call for ever, so a process that has
 * a run to look after asks another process.  A machine without devices is no
 * error; a driver that fails is.  `root` is "" except in tests: the prefix of
 * /proc and /sys.  The result lives in `mem`.  Returns NULL on failure.
 */
struct devices *devices_find(const char *root, struct arena *mem,
			     struct error *err);

/* Whether the machine has any device, by /proc and /sys alone, which is
 * instant. */
bool devices_any(const char *root);

/* Uses /proc and /sys alone, which do not show slices. */
struct devices *devices_seen(const char *root, struct arena *mem);

/* Adds all that is known of them as lines, for another process or another
 * machine. */
void devices_write(const struct devices *all, struct buf *out);
/* Reads such lines.  Lives in `mem`; NULL: not a list of devices. */
struct devices *devices_read(const char *text, struct arena *mem);

#endif
