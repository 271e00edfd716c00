/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event loop on epoll for one thread: descriptors and timers.  Callbacks
 * may add and remove anything, themselves included.
 */
#ifndef JOBRUN_LOOP_H
#define JOBRUN_LOOP_H

#include <stdint.h>

#include "core/base/error.h"

struct loop;
struct loop_event; /* one descriptor or timer in the loop */

/* `events` are EPOLLIN and so on as they came; 0 for a timer. */
typedef void loop_call(void *arg, uint32_t events);

struct loop *loop_new(struct error *err);
void loop_free(struct loop *loop); /* frees what is in it; closes nothing */

/* Borrows the descriptor: remove the event before closing it.  An error is
 * reported as one, for instance for a regular file (EPERM). */
struct loop_event *loop_add_fd(struct loop *loop, int fd, uint32_t events,
			       loop_call *call, void *arg, struct error *err);

/* Fires once, `delay_ms` from now, and is gone then. */
struct loop_event *loop_add_timer(struct loop *loop, int64_t delay_ms,
				  loop_call *call, void *arg);

/* NULL does nothing. */
void loop_remove(struct loop *loop, struct loop_event *event);

/* Runs until loop_stop(), or until nothing is left to wait for. */
int loop_run(struct loop *loop, struct error *err);
void loop_stop(struct loop *loop);

#endif
