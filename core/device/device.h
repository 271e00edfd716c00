/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPUs of this machine, as their driver or the kernel tells them.  Nothing
 * is linked and no header is needed: NVML is opened where it is, then there are
 * the vendors' programs, then /proc and /sys.  Each knows less than the one
 * before it.
 */
#ifndef JOBRUN_DEVICE_H
#define JOBRUN_DEVICE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

#define DEVICES_MAX 256
#define DEVICE_HOLDERS_MAX 64

/* A process that computes on a device. */
struct device_holder {
	pid_t pid;
	const char *user;    /* or NULL: it is gone, or not ours to see */
	const char *program; /* the same */
};

struct device {
	const char *vendor; /* "nvidia" or "amd" */
	/* As the vendor counts them, by their places on the bus; a slice of a
   * GPU has that of its GPU. */
	int index;
	bool slice;        /* a part of a GPU: MIG */
	const char *model; /* each of these is NULL if it is not known */
	const char *uuid;
	const char *bus;     /* "0000:3b:00.0" */
	const char *trouble; /* why it is not to be used; NULL: it is well */
	uint64_t memory_bytes, memory_used_bytes; /* 0: not known */
	int use_percent;                          /* -1: not known */
	int temperature_c;                        /* -1: not known */
	struct device_holder holders[DEVICE_HOLDERS_MAX];
	size_t holder_count;
};

struct devices {
	struct device items[DEVICES_MAX];
	size_t count;
	const char *source; /* who has told; NULL: there are none */
};

/*
 * Looks once.  A driver that hangs blocks it for ever: whoever has a run to
 * look after asks another process.  Machines without devices are no error; a
 * driver that fails is.  `root` is "" but in tests: what stands before /proc
 * and /sys.  Lives in `mem`.  Returns NULL on failure.
 */
struct devices *devices_find(const char *root, struct arena *mem,
			     struct error *err);

/* Whether there is any, by /proc and /sys alone: in no time. */
bool devices_any(const char *root);

/* By /proc and /sys alone, which know of no slices. */
struct devices *devices_seen(const char *root, struct arena *mem);

json_t *devices_json(const struct devices *all); /* returns new */
/* What tells them apart and who computes there, not their use and heat.  Lives
 * in `mem`; NULL: it is no list of devices. */
struct devices *devices_from_json(const json_t *from, struct arena *mem);

#endif
