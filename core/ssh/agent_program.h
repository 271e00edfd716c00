/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's executable, to be sent to a host.  The one for jobrun's own
 * architecture is embedded in jobrun.  One for another architecture is the file
 * ../libexec/jobrun/jobrun-host-ARCH relative to jobrun's folder, or beside
 * jobrun.
 */
#ifndef JOBRUN_AGENT_PROGRAM_H
#define JOBRUN_AGENT_PROGRAM_H

#include <stddef.h>

#include "core/base/error.h"

struct agent_program {
	const void *data;
	size_t size;
	char digest[33]; /* identifies it on a host */
	char *owned;     /* or NULL */
};

/* The agent for this machine's architecture, as in uname(2). */
void agent_program_own(struct agent_program *out);
const char *agent_program_architecture(void);
/* The agent for any architecture.  Fails if there is none, and says how to get
 * one. */
int agent_program_find(const char *architecture, struct agent_program *out,
		       struct error *err);
void agent_program_done(struct agent_program *program);

#endif
