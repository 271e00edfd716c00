/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that wait for devices of this machine, whoever's they are.  Nobody
 * manages them: each has a file in the folder of the leases, locked for as long
 * as it lives, and looks for itself whether it is the first of those that live
 * and finds as many devices free as it needs.  Only the first takes any, so
 * that one that needs many is not passed by those that need few.
 *
 *	w-TIME-PRIORITY-RUN-RANDOM	it waits
 *	h-TIME-PRIORITY-RUN-RANDOM	it holds what the file says
 *
 * What another user's files say is shown, and decides nothing: of those the
 * kernel's times count, and priorities put only one user's runs in order.
 */
#ifndef JOBRUN_DEVICE_QUEUE_H
#define JOBRUN_DEVICE_QUEUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/loop.h"
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
	const char *const *labels; /* what people call them: "GPU 0" */
	size_t count;
	size_t need;
	bool share; /* also those where processes compute already */
	/* It holds those with these numbers: `need`, in rising order.  Once,
	 * from the loop. */
	void (*ready)(void *arg, const size_t *taken);
	/* What it waits for has changed. */
	void (*waits)(void *arg, const char *what);
	void *arg;
};

/* Returns new, or NULL with the reason. */
struct device_queue *device_queue_join(const struct device_queue_deps *deps,
				       struct error *err);
/* Lets go of what it holds.  NULL does nothing. */
void device_queue_leave(struct device_queue *queue);

/* Has each of devices_json() say which run holds it, as far as that says:
 * {"run", "user", "sinceTime"} under "lease", or null. */
void device_queue_show(const char *folder, json_t *devices);

#endif
