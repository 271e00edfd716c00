/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by spool.c and spool_free.c. */
#ifndef JOBRUN_SPOOL_INTERNAL_H
#define JOBRUN_SPOOL_INTERNAL_H

#include "cmd/jobrun-host/agent.h"

struct spool {
	int fd;
	int start_fd; /* stores where the spool starts */
	uint64_t start, len;
	uint64_t reserved; /* disk space is reserved up to here */
	/* its file system does not support splicing from a pipe */
	bool no_splice;
	bool no_reserve; /* it can't reserve space */
};

/* Like pread() and pwrite(), but complete if possible. */
size_t spool_read_at(int fd, void *to, size_t size, uint64_t at);
bool spool_write_at(int fd, const void *data, size_t len, uint64_t at);
/* The first end of a frame at or after `until`, walking from the start of one
 * at `at`, among complete frames below `len`. */
uint64_t spool_walk(int fd, uint64_t at, uint64_t until, uint64_t len);

#endif
