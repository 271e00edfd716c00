/* SPDX-License-Identifier: Apache-2.0 */
/* The files of device_queue.h: creates, finds and sorts them. */
#ifndef JOBRUN_DEVICE_TICKET_H
#define JOBRUN_DEVICE_TICKET_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define TICKET_WAITS "w-"
#define TICKET_HOLDS "h-"

/* Makes the name of a new, waiting file; returns new. */
char *ticket_name(int64_t create_time_ms, long priority, const char *run);

/* Creates the file, locked from the first moment: returns a descriptor, or
 * -1. */
int ticket_make(int folder, const char *name, struct error *err);

/* The number of waiting files before this one. */
long tickets_before(int folder, const char *name);

/* What the file of a run says that holds devices. */
struct ticket_claim {
	const char *run;            /* "job.1" */
	const char *const *devices; /* the names of their leases */
	size_t count;
};

/* Writes what the run holds, for others to read, and gives the file the name of
 * one that holds devices. */
int ticket_hold(int folder, int fd, const char *name,
		const struct ticket_claim *claim, struct error *err);

/* Calls back for each file that holds devices, with its user and its time
 * according to the kernel. */
void tickets_each_holder(int folder,
			 void (*each)(void *arg,
				      const struct ticket_claim *claim,
				      const char *user, int64_t since_ms),
			 void *arg);

#endif
