/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A single-threaded event loop on epoll: descriptors and timers.  Callbacks may
 * add and remove anything, including themselves.
 */
#ifndef JOBRUN_LOOP_H
#define JOBRUN_LOOP_H

#include <stdint.h>

#include "core/base/error.h"

struct loop;
struct loop_event; /* a descriptor or timer in the loop */

/* `events` are the EPOLLIN etc. of epoll; 0 for a timer. */
typedef void loop_call(void *arg, uint32_t events);

struct loop *loop_new(struct error *err);
void loop_free(struct loop *loop); /* frees its events; closes no descriptor */

/* Borrows the descriptor: remove the event before closing it.  Fails for
 * descriptors that epoll refuses, such as regular files (EPERM). */
struct loop_event *loop_add_fd(struct loop *loop, int fd, uint32_t events,
			       loop_call *call, void *arg, struct error *err);

/* Fires once, after `delay_ms`, and is then removed. */
struct loop_event *loop_add_timer(struct loop *loop, int64_t delay_ms,
				  loop_call *call, void *arg);

/* Accepts NULL. */
void loop_remove(struct loop *loop, struct loop_event *event);

/* Runs until loop_stop(), or until no event is left. */
int loop_run(struct loop *loop, struct error *err);
void loop_stop(struct loop *loop);

#endif
