/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool: a file of whole frames, only ever added to.  The output of tasks
 * goes from their pipes into it, and from it to the client, without being
 * copied through this process where the system can do that.
 *
 * Room is taken from the disk ahead of what is written, so that who fills the
 * disk cannot keep us from saying that output was lost.  What a client has had
 * is freed from the front (spool_free.c).
 */
#include "cmd/jobrun-host/spool_internal.h"

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
/* For events once the disk is full; taken ahead of output at a time. */
#define RESERVE ((uint64_t)256 << 10)
#define AHEAD ((uint64_t)1 << 20)

size_t spool_read_at(int fd, void *to, size_t size, uint64_t at)
{
	ssize_t n;

	do {
		n = pread(fd, to, size, (off_t)at);
	} while (n < 0 && errno == EINTR);
	return n > 0 ? (size_t)n : 0;
}

bool spool_write_at(int fd, const void *data, size_t len, uint64_t at)
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
uint64_t spool_walk(int fd, uint64_t at, uint64_t until, uint64_t len)
{
	/* Small, as what it holds is no more than looked over. */
	char block[4096];

	while (at < until) {
		size_t n = spool_read_at(fd, block, sizeof(block), at);
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

/* Written to once now, so that it needs no room later. */
static int open_start(const char *path, uint64_t *start)
{
	char *name = mem_printf("%s.start", path);
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	free(name);
	*start = 0;
	if (fd >= 0 &&
	    spool_read_at(fd, start, sizeof(*start), 0) != sizeof(*start)) {
		*start = 0;
		spool_write_at(fd, start, sizeof(*start), 0);
	}
	return fd;
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
	spool->start_fd = open_start(path, &spool->start);
	if (spool->start > (uint64_t)st.st_size)
		spool->start = 0;
	spool->len =
		spool_walk(fd, spool->start, UINT64_MAX, (uint64_t)st.st_size);
	if (spool->start_fd < 0 || ftruncate(fd, (off_t)spool->len) < 0) {
		error_errno(err, "cannot write '%s'", path);
		spool_close(spool);
		return NULL;
	}
	spool->reserved = spool->len;
	spool_has_room(spool);
	return spool;
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	close(spool->fd);
	if (spool->start_fd >= 0)
		close(spool->start_fd);
	free(spool);
}

/* Takes room for so much output, and for some events behind it. */
static bool reserve(struct spool *spool, uint64_t need)
{
	static const uint64_t ahead[] = { AHEAD, 0 };
	uint64_t until = spool->len + need + RESERVE;

	for (size_t i = 0; i < COUNT(ahead); i++) {
		if (spool->no_reserve || until <= spool->reserved)
			return true;
		if (fallocate(spool->fd, FALLOC_FL_KEEP_SIZE,
			      (off_t)spool->reserved,
			      (off_t)(until + ahead[i] - spool->reserved)) == 0)
			spool->reserved = until + ahead[i];
		else if (errno == EOPNOTSUPP || errno == ENOSYS)
			spool->no_reserve = true;
	}
	return spool->no_reserve || until <= spool->reserved;
}

bool spool_has_room(struct spool *spool)
{
	return reserve(spool, OUTPUT_HEADER + FRAME_OUTPUT_MAX);
}

/* A part of a frame may be there: it must not be taken for one.  The file is
 * not cut where that would give back the room put by. */
static void cut_off(const struct spool *spool)
{
	static const char nothing[OUTPUT_HEADER];

	if (spool->reserved >= spool->len + sizeof(nothing)) {
		spool_write_at(spool->fd, nothing, sizeof(nothing), spool->len);
		return;
	}
	if (ftruncate(spool->fd, (off_t)spool->len) < 0)
		return; /* the next frame is written over it */
}

bool spool_add(struct spool *spool, const void *data, size_t len)
{
	if (spool_write_at(spool->fd, data, len, spool->len)) {
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

	*kept = spool_has_room(spool);
	if (*kept && !spool->no_splice) {
		n = splice(pipe, NULL, spool->fd, &at, FRAME_OUTPUT_MAX,
			   SPLICE_F_NONBLOCK);
		if (n >= 0 || errno == EAGAIN || errno == EINTR)
			return n;
		spool->no_splice = errno == EINVAL;
	}
	n = read(pipe, block, sizeof(block));
	if (n > 0 && *kept)
		*kept = spool_write_at(spool->fd, block, (size_t)n,
				       (uint64_t)at);
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
		*kept = spool_write_at(spool->fd, header, sizeof(header),
				       spool->len);
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
	got = spool_read_at(spool->fd, block,
			    len < sizeof(block) ? len : COPY_MAX, at);
	return got ? write(out, block, got) : 0;
}

size_t spool_read(const struct spool *spool, uint64_t at, void *to, size_t size)
{
	uint64_t left = spool->len > at ? spool->len - at : 0;

	return spool_read_at(spool->fd, to, size < left ? size : (size_t)left,
			     at);
}

uint64_t spool_end(const struct spool *spool, uint64_t at, size_t len)
{
	return spool->len - at <= len
		       ? spool->len
		       : spool_walk(spool->fd, at, at + len, spool->len);
}

uint64_t spool_len(const struct spool *spool)
{
	return spool->len;
}

uint64_t spool_start(const struct spool *spool)
{
	return spool->start;
}
