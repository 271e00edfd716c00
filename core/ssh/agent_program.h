/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent as a file, to be sent to a host: part of jobrun's own, for machines
 * of its own architecture.  An agent for another architecture is the file
 * ../libexec/jobrun/jobrun-host-ARCH from jobrun's own place, or beside it.
 */
#ifndef JOBRUN_AGENT_PROGRAM_H
#define JOBRUN_AGENT_PROGRAM_H

#include <stddef.h>

#include "core/base/error.h"

struct agent_program {
	const void *data;
	size_t size;
	char digest[33]; /* names it on a host */
	char *owned;     /* or NULL */
};

/* For this machine's architecture, as uname(2) calls it. */
void agent_program_own(struct agent_program *out);
const char *agent_program_architecture(void);
/* For any.  Fails if there is none, and says how to get one. */
int agent_program_find(const char *architecture, struct agent_program *out,
		       struct error *err);
void agent_program_done(struct agent_program *program);

#endif
