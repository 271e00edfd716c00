/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the agent gets to a host that may not have it: the command that ssh is
 * given asks for it in lines of text, before the agent itself speaks.
 */
#ifndef JOBRUN_BOOTSTRAP_H
#define JOBRUN_BOOTSTRAP_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/ssh/protocol.h"

struct bootstrap {
	char *architecture; /* of the host, once it has said; or NULL */
};

/* The command for the host's login shell.  What the agent keeps there is below
 * `directory`, as check_host_directory() lets it pass, or in the user's home
 * (NULL).  The caller frees. */
char *bootstrap_command(const char *directory);

/*
 * Takes the lines in `received`, up to the agent's first byte, and adds the
 * reply to `answer`.  Returns 1 when the agent is there, 0 if more has to come;
 * -1 if it never will be: no agent for that machine, or no shell on the other
 * side.
 */
int bootstrap_take(struct bootstrap *bootstrap, struct buf *received,
		   struct wire_out *answer, struct error *err);

void bootstrap_done(struct bootstrap *bootstrap);

#endif
