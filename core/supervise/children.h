/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks as children of this process: the backend of a run on one machine. */
#ifndef JOBRUN_CHILDREN_H
#define JOBRUN_CHILDREN_H

#include <sys/resource.h>

#include "core/base/loop.h"
#include "core/supervise/backend.h"
#include "core/log/log.h"
#include "core/process/reaper.h"
#include "core/spec/spec.h"

/* All borrowed; they must outlive the backend. */
struct children_deps {
	const struct run_spec *spec;
	struct loop *loop;
	struct reaper *reaper;          /* run it at SIGCHLD */
	struct log_writer *const *logs; /* one per task */
	const struct rlimit *no_files;  /* RLIMIT_NOFILE of the tasks */
};

/*
 * Each task leads a process group, and dies with the calling thread.  The
 * process must be a subreaper.  `finish` kills the processes that a task has
 * left behind: every child of this process if nobody else's task is among them,
 * else those with the run's folder in their environment.
 */
struct backend *children_new(const struct children_deps *deps);

#endif
