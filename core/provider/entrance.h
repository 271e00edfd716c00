/* SPDX-License-Identifier: Apache-2.0 */
/* How a provider lets a command run beside a task, or a connection reach a port
 * of its machine: `enter` of a kind. */
#ifndef JOBRUN_ENTRANCE_H
#define JOBRUN_ENTRANCE_H

#include <stdbool.h>

struct enter_target;
struct run_record;
struct task_record;

struct enter_wish {
	const struct run_record *run;
	const struct task_record *task; /* running */
	char *const *argv;
	long port;     /* to connect to, in place of the command; 0: none */
	bool terminal; /* the command gets one */
	bool outside;  /* of the task's container, for files of the run */
};

/* One of these. */
struct enter_way {
	/* The task on this machine, see core/enter/enter.h; or NULL. */
	const struct enter_target *target;
	/* The command that this process is to become, searched in PATH; for a
	 * port, its input and output are the connection. */
	char *const *argv;
};

#endif
