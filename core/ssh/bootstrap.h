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

/* The command for the host's login shell.  The caller frees. */
char *bootstrap_command(void);

/*
 * Takes the lines that have come out of `received`, up to where the agent
 * begins, and adds to `answer` what is to be sent.  Returns 1 when the agent is
 * there, 0 if more has to come; -1 if it will never be there: there is none for
 * that machine, or what answers is no shell.
 */
int bootstrap_take(struct bootstrap *bootstrap, struct buf *received,
		   struct wire_out *answer, struct error *err);

void bootstrap_done(struct bootstrap *bootstrap);

#endif
