/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other machines are like, as a short script of sh tells over ssh: whether
 * they let us in, what is free on their disk, which Python they have.  Nothing
 * is changed there.
 */
#ifndef JOBRUN_HOST_PROBE_H
#define JOBRUN_HOST_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

struct host_probe {
	const char *host;
	struct error why;         /* code 0: it answered; the rest holds then */
	const char *architecture; /* "x86_64" */
	const char *folder;       /* the one, or the one that will hold it */
	bool is_writable;
	uint64_t free_bytes;   /* on its disk */
	const char *python;    /* "3.11.2"; NULL: there is none */
	const char *container; /* the program that runs them, or NULL */
};

struct host_probe_call {
	const char *const *hosts; /* [USER@]HOST[:PORT] */
	size_t count;
	const char *known;     /* the file with the host keys */
	const char *directory; /* for the agent; NULL: the user's home */
};

/* Waits for all hosts, several at a time, each for half a minute at most.
 * Returns an element for each, in `mem`; NULL if ssh can't be configured. */
struct host_probe *host_probe(const struct host_probe_call *call,
			      struct arena *mem, struct error *err);

#endif
