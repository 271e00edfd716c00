/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool: an append-only file of whole frames.  Output goes from the pipes
 * of tasks into the spool, and from there to the client, without copying
 * through this process where the system can do that.
 *
 * Disk space is reserved ahead of what is written, so that a full disk does not
 * prevent us from reporting lost output.  What a client has received is freed
 * from the front (spool_free.c).
 */
#include "cmd/jobrun-host/spool_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"

/* Shorter pieces are cheaper to copy, and a pipe has few slots. */
#define SPLICE_MIN ((size_t)16 << 10)
#define COPY_MAX ((size_t)64 << 10)
/* Space reserved for events when the disk is full, and space reserved ahead for
 * output. */
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

/* Returns the first end of a frame at or after `until`, starting from the
 * beginning of a frame; only whole frames below `len` count. */
uint64_t spool_walk(int fd, uint64_t at, uint64_t until, uint64_t len)
{
	/* The block is small, as most of a frame is skipped. */
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

/* Opens the file with the start, which is written now, so that later writes
 * need no more space. */
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

/* Reserves space for output, and behind it for events. */
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

/* Makes sure that a partly written frame is not taken for a whole one.  The
 * file is not truncated if that would give up reserved space. */
static void cut_off(const struct spool *spool)
{
	static const char nothing[OUTPUT_HEADER];

	if (spool->reserved >= spool->len + sizeof(nothing)) {
		spool_write_at(spool->fd, nothing, sizeof(nothing), spool->len);
		return;
	}
	if (ftruncate(spool->fd, (off_t)spool->len) < 0)
		return; /* the next frame overwrites it */
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

/* Moves the contents of a pipe behind the space for a header.  What the disk
 * does not take is read anyway, so that the task goes on. */
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
	/* The header comes last, since without it there is no frame. */
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

	/* splice() and sendfile() pass the file's pages on without copying. */
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
