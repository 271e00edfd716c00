/* SPDX-License-Identifier: Apache-2.0 */
/* Work in a process of its own, which reports through a pipe, and which can be
 * given up when it is silent for too long. */
#ifndef JOBRUN_ASIDE_H
#define JOBRUN_ASIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/error.h"

struct aside {
	pid_t pid;
	int from; /* where its reports come from; -1: it has ended */
	int64_t heard_ms;
};

/* Starts `work` in a child, with where to write its reports; it ends when that
 * returns, and with this process. */
int aside_start(struct aside *aside, void (*work)(void *arg, int out),
		void *arg, struct error *err);
/* Writes one report, of at most PIPE_BUF bytes. */
void aside_report(int out, const void *report, size_t size);
/* Reads one report after the pipe became readable; false, and the child is
 * over, if there is none. */
bool aside_read(struct aside *aside, void *report, size_t size);
/* How long to wait for the next report of a child that may be silent for
 * `silent_ms`. */
int64_t aside_left_ms(const struct aside *aside, int64_t silent_ms);
/* Ends the child, if it has not ended. */
void aside_end(struct aside *aside);

#endif
