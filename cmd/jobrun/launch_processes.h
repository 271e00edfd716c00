/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes of a machine, each with the variables of a task. */
#ifndef JOBRUN_LAUNCH_PROCESSES_H
#define JOBRUN_LAUNCH_PROCESSES_H

#include "core/base/environment.h"
#include "core/topology/topology.h"

/* Borrows everything. */
struct launch_processes {
	const struct topology *all; /* with a task for each process */
	size_t self;                /* the first here */
	struct strings contracts;   /* the named ones; empty: all that suit */
	const char *data;           /* data sets as JSON, or NULL */
	size_t count;
	long grace_s;
	struct arena *mem;
};

/* Adds the shares of the data sets of a task. */
int launch_data(const struct launch_processes *what, size_t self,
		struct environment *env, struct error *err);

/*
 * Starts the processes and waits for them.  `env` is the environment of the
 * machine, which has what the platform has set; what the contracts say of a
 * process counts instead.  `status`: see launch_many().
 */
int launch_processes_run(const struct launch_processes *what, char **command,
			 const struct environment *env, int *status,
			 struct error *err);

#endif
