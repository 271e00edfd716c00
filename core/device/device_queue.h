/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of all users that wait for devices of this machine.  The queue has no
 * manager: each run has a file in the folder of the leases, locked as long as
 * the run lives, and checks for itself whether it is the first live one and
 * enough devices are free.  Only the first takes devices, so that runs that
 * need few do not overtake one that needs many.
 *
 *	w-TIME-PRIORITY-RUN-RANDOM	it waits
 *	h-TIME-PRIORITY-RUN-RANDOM	it holds the devices listed in the file
 *
 * The contents of other users' files are shown, but decide nothing: for them
 * the kernel's file times count, and priorities only order the runs of one
 * user.
 */
#ifndef JOBRUN_DEVICE_QUEUE_H
#define JOBRUN_DEVICE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/loop.h"
#include "core/device/device.h"
#include "core/process/reaper.h"

struct device_queue;

struct device_queue_deps {
	struct loop *loop;
	struct reaper *reaper;
	const char *folder; /* of the leases */
	int leases;         /* its file (lease.h), borrowed */
	const char *run;    /* "job.1" */
	long priority;
	int64_t create_time_ms;
	const char *const *names;  /* of the devices that it may take */
	const char *const *labels; /* names for people: "GPU 0" */
	size_t count;
	size_t need;
	bool share; /* also take devices on which processes compute already */
	/* Called once, from the loop, when the run holds `need` devices: their
	 * indexes in ascending order. */
	void (*ready)(void *arg, const size_t *taken);
	/* Reports that it waits for something else. */
	void (*waits)(void *arg, const char *what);
	void *arg;
};

/* Returns new, or NULL with the reason. */
struct device_queue *device_queue_join(const struct device_queue_deps *deps,
				       struct error *err);
/* Releases the devices it holds.  Accepts NULL. */
void device_queue_leave(struct device_queue *queue);

/* Adds the run that holds it to each device, as far as that is recorded in the
 * folder of the leases (`fallback` as in lease.h), and whose runs these are.
 * What it adds lives in `mem`. */
void device_queue_show(const char *fallback, struct devices *all,
		       struct arena *mem);

#endif
