/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C, SIGTERM and, if requested, SIGHUP as events of a loop. */
#ifndef JOBRUN_INTERRUPT_H
#define JOBRUN_INTERRUPT_H

#include "core/base/error.h"
#include "core/base/loop.h"

struct interrupt;

#define INTERRUPT_HANGUP 1 /* also SIGHUP, which otherwise ends the process */

/* Calls `call` in the loop with the signal's number as events.  Must be made
 * before any thread, so that all have the signals blocked. */
struct interrupt *interrupt_new(struct loop *loop, unsigned flags,
				loop_call *call, void *arg, struct error *err);
void interrupt_free(struct interrupt *interrupt);

/* A call for interrupt_new() that only stops the loop, which is its `arg`. */
void interrupt_stop(void *arg, uint32_t number);

#endif
