/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command beside a running process of a task: in its directory, with its
 * environment, in its container, and so with its devices.  Linked into the
 * agent, too. */
#ifndef JOBRUN_ENTER_H
#define JOBRUN_ENTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/base/buf.h"
#include "core/base/environment.h"
#include "core/base/error.h"

/* The agent's command: enter TARGET -- COMMAND ARGUMENT... */
#define ENTER_COMMAND "enter"

/* A process of a task, and what tells it from one that the kernel has given its
 * pid since. */
struct enter_target {
	pid_t pid;
	/* JOBRUN_RUN_DIR is this folder or within it: an absolute path, or the
	 * names at the end of one.  NULL: of any run. */
	const char *run;
	const char *rank; /* its RANK; NULL: any */
	/* The process is, or starts, what runs in a container, and the command
	 * is to run in that. */
	bool contained;
	/* No command is to run, but this process to become a connection to the
	 * port of the task's machine: core/enter/port.h.  0: a command. */
	long port;
};

/* Reads "PID", which earlier versions sent, or "PID:RANK:RUN"; after the PID
 * may come ",container" and ",port=PORT".  Strings are those of `text`, which
 * is cut. */
int enter_target_parse(char *text, struct enter_target *out, struct error *err);
/* Adds it in that form; versions that do not know a word refuse it. */
void enter_target_format(const struct enter_target *target, struct buf *out);

/* Replaces this process by the command or the connection, if the other one is
 * the target; returns only on failure, -1. */
int enter_exec(const struct enter_target *target, char *const *argv,
	       struct error *err);

/* A variable by which all that was started beside a task is found again: set in
 * this process, it is added to the command's environment. */
#define ENTER_MARK "JOBRUN_ENTERED"

/* Reads the environment of a process; owns what it sets. */
int enter_environment(pid_t pid, struct environment *out, struct error *err);

/* Finds the oldest process with the folder that JOBRUN_RUN_DIR names here, for
 * a container with one task: not jobrun itself, and not what was started beside
 * the task.  `*out` borrows from the environment of this process. */
int enter_find(struct enter_target *out, struct error *err);

/*
 * The same on another machine, for a client that may vanish: without a
 * terminal, the command and what it has started in its group are killed when
 * nobody reads our output any more.  Returns the exit status, or -1.
 */
int enter_attended(const struct enter_target *target, char *const *argv,
		   struct error *err);

#endif
