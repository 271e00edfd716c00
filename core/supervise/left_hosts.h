/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hosts that a run was cut off from when it ended, so that its processes
 * may still run there, or output is missing.  They are listed in the file
 * `left` of the folder that all its attempts share.  The run's supervisor stays
 * until it has ended what runs there, or that has ended by itself because its
 * lease expired (hosts_reconcile()).
 */
#ifndef JOBRUN_LEFT_HOSTS_H
#define JOBRUN_LEFT_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/error.h"

struct left_host {
	const char *name;   /* as in the job */
	size_t index;       /* its index among the hosts */
	long slot;          /* of the backend that used it, if several did */
	const char *tasks;  /* "worker 0, worker 2" */
	int64_t heard_ms;   /* last */
	int64_t expires_ms; /* when its tasks will have ended by themselves */
};

struct left_hosts {
	struct left_host *items;
	size_t count;
};

/* Cheap, for commands that check many runs. */
bool left_hosts_any(const char *home);
/* A missing list is no error. */
int left_hosts_read(const char *home, struct arena *mem, struct left_hosts *out,
		    struct error *err);
int left_hosts_write(const char *home, const struct left_hosts *list,
		     struct error *err);

/* Whether tasks may still run there, rather than only output being missing. */
bool left_host_may_run(const struct left_host *one);
/* Adds one line about the host, without a newline. */
void left_host_put(const struct left_host *one, struct buf *out);

#endif
