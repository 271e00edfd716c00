/* SPDX-License-Identifier: Apache-2.0 */
/* The files of device_queue.h: made, found, and put in order. */
#ifndef JOBRUN_DEVICE_TICKET_H
#define JOBRUN_DEVICE_TICKET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

#define TICKET_WAITS "w-"
#define TICKET_HOLDS "h-"

/* The name of a new one, that waits; returns new. */
char *ticket_name(int64_t create_time_ms, long priority, const char *run);

/* Makes it there, locked from its first moment on: a descriptor, or -1. */
int ticket_make(int folder, const char *name, struct error *err);

/* Whether somebody holds it; one that is dead is removed. */
bool ticket_is_alive(int folder, const char *name);

/* How many that wait stand before this one. */
long tickets_before(int folder, const char *name);

/* What it holds, for others to read; its name is that of one that holds from
 * here on. */
int ticket_hold(int folder, int fd, const char *name, const json_t *what,
		struct error *err);

/* Each that holds, with the user and since when as the kernel says. */
void tickets_each_holder(int folder,
			 void (*each)(void *arg, json_t *what, const char *user,
				      int64_t since_ms),
			 void *arg);

#endif
