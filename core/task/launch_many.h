/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several processes of one program beside each other, where `jobrun launch` was
 * started for a whole machine.  Their output is ours; the lines of all but the
 * first begin with the rank: "[3] ".
 */
#ifndef JOBRUN_LAUNCH_MANY_H
#define JOBRUN_LAUNCH_MANY_H

#include "core/base/environment.h"
#include "core/base/error.h"

struct launch_many {
	char *const *argv;
	const struct environment *envs; /* one for each process */
	size_t count;
	size_t rank; /* of the first */
	/* The first is the master: when it succeeds, the others have, too. */
	bool has_master;
	long grace_s; /* between SIGTERM and SIGKILL; 0: without end */
};

/*
 * Runs them, and acts as an init process as launch_supervise() does.  The first
 * that fails ends the others.  `status` is its status from waitpid(), or 0.
 */
int launch_many(const struct launch_many *what, int *status, struct error *err);

#endif
