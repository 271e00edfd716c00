/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by spool.c and spool_free.c. */
#ifndef JOBRUN_SPOOL_INTERNAL_H
#define JOBRUN_SPOOL_INTERNAL_H

#include "cmd/jobrun-host/agent.h"

struct spool {
	int fd;
	int start_fd; /* says where it starts */
	uint64_t start, len;
	uint64_t reserved; /* the file has room on the disk up to here */
	bool no_splice;    /* its file system has no way from a pipe */
	bool no_reserve;   /* nor room ahead */
};

/* As pread() and pwrite(), but whole if they can be. */
size_t spool_read_at(int fd, void *to, size_t size, uint64_t at);
bool spool_write_at(int fd, const void *data, size_t len, uint64_t at);
/* The first end of a frame at or after `until`, from a start of one on, as
 * far as there are whole ones below `len`. */
uint64_t spool_walk(int fd, uint64_t at, uint64_t until, uint64_t len);

#endif
