/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hosts that a run has left without knowing that nothing of it runs there
 * any more, or without all of its output: they were cut off as it ended.  They
 * stand in the file `left` of the folder that all its attempts share.  The
 * run's supervisor stays until it has ended what runs there, or that has ended
 * by itself as its lease is over (hosts_reconcile()).
 */
#ifndef JOBRUN_LEFT_HOSTS_H
#define JOBRUN_LEFT_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/error.h"

struct left_host {
	const char *name;   /* as the job has it */
	size_t index;       /* among its hosts */
	long slot;          /* of the backend that had it: one of several */
	const char *tasks;  /* "worker 0, worker 2" */
	int64_t heard_ms;   /* last */
	int64_t expires_ms; /* then its tasks have ended by themselves */
};

struct left_hosts {
	struct left_host *items;
	size_t count;
};

/* Cheap: for looks at each of many runs. */
bool left_hosts_any(const char *home);
/* None is no error. */
int left_hosts_read(const char *home, struct arena *mem, struct left_hosts *out,
		    struct error *err);
int left_hosts_write(const char *home, const struct left_hosts *list,
		     struct error *err);

/* Whether tasks may still run there, or only output of theirs is missing. */
bool left_host_may_run(const struct left_host *one);
/* One line about it, without an end. */
void left_host_put(const struct left_host *one, struct buf *out);

#endif
