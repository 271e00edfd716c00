/* SPDX-License-Identifier: Apache-2.0 */
/* The spool: a file of whole frames, only ever added to. */
#include "host/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"

#define BLOCK (256 << 10)

struct spool {
	int fd;
	uint64_t len;
};

/* The length of the whole frames at the start of a block. */
static size_t whole(const void *data, size_t len)
{
	const char *at = data;
	struct frame frame;
	size_t used, done = 0;

	while (frame_find(at + done, len - done, &frame, &used) == FRAME_WHOLE)
		done += used;
	return done;
}

static size_t read_at(int fd, void *to, size_t size, uint64_t at)
{
	ssize_t n;

	do {
		n = pread(fd, to, size, (off_t)at);
	} while (n < 0 && errno == EINTR);
	return n > 0 ? (size_t)n : 0;
}

struct spool *spool_open(const char *path, struct error *err)
{
	struct spool *spool;
	char *block;
	size_t n;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0) {
		error_errno(err, "cannot write '%s'", path);
		return NULL;
	}
	spool = mem_alloc(sizeof(*spool));
	spool->fd = fd;
	/* No frame in it is longer than a block. */
	block = mem_alloc(BLOCK);
	while ((n = whole(block, read_at(fd, block, BLOCK, spool->len))))
		spool->len += n;
	free(block);
	if (ftruncate(fd, (off_t)spool->len) < 0 ||
	    lseek(fd, (off_t)spool->len, SEEK_SET) < 0) {
		error_errno(err, "cannot write '%s'", path);
		spool_close(spool);
		return NULL;
	}
	return spool;
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	close(spool->fd);
	free(spool);
}

bool spool_add(struct spool *spool, const void *data, size_t len)
{
	if (fd_write(spool->fd, data, len) == 0) {
		spool->len += len;
		return true;
	}
	/* A part of it may be there. */
	if (ftruncate(spool->fd, (off_t)spool->len) < 0 ||
	    lseek(spool->fd, (off_t)spool->len, SEEK_SET) < 0)
		return false;
	return false;
}

size_t spool_read(const struct spool *spool, uint64_t at, void *to, size_t size)
{
	return whole(to, read_at(spool->fd, to, size, at));
}

uint64_t spool_len(const struct spool *spool)
{
	return spool->len;
}
