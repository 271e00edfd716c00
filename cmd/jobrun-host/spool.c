/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool: a file of whole frames, only ever added to.  The output of tasks
 * goes from their pipes into it, and from it to the client, without being
 * copied through this process where the system can do that.
 */
#include "cmd/jobrun-host/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"

/* Shorter than this it is cheaper to copy, and pipes have few places. */
#define SPLICE_MIN ((size_t)16 << 10)
#define COPY_MAX ((size_t)64 << 10)

struct spool {
	int fd;
	uint64_t len;
	bool no_splice; /* its file system has no way from a pipe */
};

static size_t read_at(int fd, void *to, size_t size, uint64_t at)
{
	ssize_t n;

	do {
		n = pread(fd, to, size, (off_t)at);
	} while (n < 0 && errno == EINTR);
	return n > 0 ? (size_t)n : 0;
}

static bool write_at(int fd, const void *data, size_t len, uint64_t at)
{
	const char *p = data;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

/* The first end of a frame at or after `until`, from a start of one on, as
 * far as there are whole ones below `len`. */
static uint64_t walk(int fd, uint64_t at, uint64_t until, uint64_t len)
{
	/* Small, as what it holds is no more than looked over. */
	char block[4096];

	while (at < until) {
		size_t n = read_at(fd, block, sizeof(block), at);
		size_t used = 0, size;

		while (used < n && at + used < until) {
			size = frame_size(block + used, n - used);
			if (!size || at + used + size > len)
				break;
			used += size;
		}
		if (!used)
			break;
		at += used;
	}
	return at;
}

struct spool *spool_open(const char *path, struct error *err)
{
	struct spool *spool;
	struct stat st;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || fstat(fd, &st) < 0) {
		error_errno(err, "cannot write '%s'", path);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	spool = mem_alloc(sizeof(*spool));
	spool->fd = fd;
	spool->len = walk(fd, 0, UINT64_MAX, (uint64_t)st.st_size);
	if (ftruncate(fd, (off_t)spool->len) < 0) {
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

/* A part of a frame may be there: it must not be taken for one. */
static void cut_off(const struct spool *spool)
{
	if (ftruncate(spool->fd, (off_t)spool->len) < 0)
		return; /* the next frame is written over it */
}

bool spool_add(struct spool *spool, const void *data, size_t len)
{
	if (write_at(spool->fd, data, len, spool->len)) {
		spool->len += len;
		return true;
	}
	cut_off(spool);
	return false;
}

/* Moves what is in a pipe behind the room for a header.  What the disk does
 * not take is read all the same: the task never notices. */
static ssize_t move_in(struct spool *spool, int pipe, bool *kept)
{
	off_t at = (off_t)spool->len + OUTPUT_HEADER;
	char block[COPY_MAX];
	ssize_t n;

	*kept = true;
	if (!spool->no_splice) {
		n = splice(pipe, NULL, spool->fd, &at, FRAME_OUTPUT_MAX,
			   SPLICE_F_NONBLOCK);
		if (n >= 0 || errno == EAGAIN || errno == EINTR)
			return n;
		spool->no_splice = errno == EINVAL;
	}
	n = read(pipe, block, sizeof(block));
	if (n > 0)
		*kept = write_at(spool->fd, block, (size_t)n, (uint64_t)at);
	return n;
}

ssize_t spool_take(struct spool *spool, int pipe,
		   const struct frame_output *output, bool *kept)
{
	unsigned char header[OUTPUT_HEADER];
	ssize_t n = move_in(spool, pipe, kept);

	if (n <= 0)
		return n;
	frame_output_header(header, output, (size_t)n);
	/* Last: without it there is no frame. */
	if (*kept)
		*kept = write_at(spool->fd, header, sizeof(header), spool->len);
	if (*kept)
		spool->len += sizeof(header) + (size_t)n;
	else
		cut_off(spool);
	return n;
}

ssize_t spool_send(const struct spool *spool, uint64_t at, size_t len, int out)
{
	char block[COPY_MAX];
	off_t from = (off_t)at;
	size_t got;
	ssize_t n = -1;

	/* Pages of the file itself: into a pipe, into a socket. */
	if (len >= SPLICE_MIN)
		n = splice(spool->fd, &from, out, NULL, len, SPLICE_F_NONBLOCK);
	if (len >= SPLICE_MIN && n < 0 && errno == EINVAL)
		n = sendfile(out, spool->fd, &from, len);
	if (len >= SPLICE_MIN && (n >= 0 || errno != EINVAL))
		return n;
	got = read_at(spool->fd, block, len < sizeof(block) ? len : COPY_MAX,
		      at);
	return got ? write(out, block, got) : 0;
}

size_t spool_read(const struct spool *spool, uint64_t at, void *to, size_t size)
{
	uint64_t left = spool->len > at ? spool->len - at : 0;

	return read_at(spool->fd, to, size < left ? size : (size_t)left, at);
}

uint64_t spool_end(const struct spool *spool, uint64_t at, size_t len)
{
	return spool->len - at <= len
		       ? spool->len
		       : walk(spool->fd, at, at + len, spool->len);
}

uint64_t spool_len(const struct spool *spool)
{
	return spool->len;
}
