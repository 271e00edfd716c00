/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings the agent to a host that may not have it: the command run by ssh asks
 * for it in lines of text, before the agent itself speaks.
 */
#ifndef JOBRUN_BOOTSTRAP_H
#define JOBRUN_BOOTSTRAP_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/ssh/protocol.h"

struct bootstrap {
	char *architecture; /* of the host, once reported; or NULL */
};

/* The command for the host's login shell.  The agent stores its files below
 * `directory`, in the form that check_host_directory() accepts, or in the
 * user's home (NULL).  The caller frees. */
char *bootstrap_command(const char *directory);

/* The command that enters a process of a task with the agent that is there;
 * its target (core/enter/enter.h), "--" and the words of a command follow.  The
 * caller frees. */
char *bootstrap_enter_command(const char *directory);

/*
 * Takes the lines in `received`, up to the agent's first byte, and adds the
 * reply to `answer`.  Returns 1 when the agent runs, 0 if more has to come, or
 * -1 if it will never run: no agent for that machine, or no shell on the other
 * side.
 */
int bootstrap_take(struct bootstrap *bootstrap, struct buf *received,
		   struct wire_out *answer, struct error *err);

void bootstrap_done(struct bootstrap *bootstrap);

#endif
