/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stream/stream_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The most a pipe may hold without root (fs.pipe-max-size). */
#define PIPE_SIZE (1 << 20)
#define SPLICE_MAX (1u << 20)

void stream_output_init(struct stream_output *out, int fd)
{
	struct stat st;

	memset(out, 0, sizeof(*out));
	out->fd = fd;
	out->is_pipe = fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
	/* Means fewer switches between writer and reader; not every user
	 * may. */
	if (out->is_pipe)
		fcntl(fd, F_SETPIPE_SZ, PIPE_SIZE);
}

bool stream_output_is_gone(const struct stream_output *out)
{
	struct pollfd at = { .fd = out->fd };

	return out->is_pipe && poll(&at, 1, 0) > 0 && (at.revents & POLLERR);
}

/* Handles the failure of a call: 0 to try again. */
static int judge_failure(const struct stream_output *out, struct error *err)
{
	struct pollfd at = { .fd = out->fd, .events = POLLOUT };

	if (errno == EINTR)
		return 0;
	if (errno == EAGAIN) {
		/* Another process with this descriptor has made it
		 * nonblocking. */
		poll(&at, 1, -1);
		return 0;
	}
	if (errno == EPIPE)
		return STREAM_READER_GONE;
	return error_errno(err, "cannot write to the output");
}

static int write_pieces(struct stream_output *out, struct iovec *pieces,
			int count, struct error *err)
{
	ssize_t n;
	int ret;

	while (count) {
		if (!pieces->iov_len) {
			pieces++;
			count--;
			continue;
		}
		n = writev(out->fd, pieces, count);
		if (n < 0) {
			ret = judge_failure(out, err);
			if (ret)
				return ret;
			continue;
		}
		for (; count && (size_t)n >= pieces->iov_len; count--) {
			n -= (ssize_t)pieces->iov_len;
			pieces++;
		}
		if (count) {
			pieces->iov_base = (char *)pieces->iov_base + n;
			pieces->iov_len -= (size_t)n;
		}
	}
	return STREAM_DONE;
}

void stream_output_begin(struct stream_output *out, uint64_t size)
{
	out->size = size;
	out->at = 0;
	out->held_len = 0;
	stream_tar_begin(&out->tar, out->joins);
}

/* How far the object may be written when it has arrived up to `at`: not the
 * end, and not up to a multiple of 512. */
static uint64_t writable_end(const struct stream_output *out, uint64_t at)
{
	uint64_t size = out->size == STREAM_SIZE_UNKNOWN ? at : out->size;
	uint64_t end = size > STREAM_HELD_BYTES ? size - STREAM_HELD_BYTES : 0;

	if (end > at)
		end = at;
	/* It is not known yet how much of an end will be left out. */
	if (out->joins && end && end == at)
		end--;
	return end < 511 ? 0 : (end + 1) / 512 * 512 - 1;
}

/* The same, but within the contents of a tar member, if the rest can be held
 * back. */
static uint64_t safe_end(const struct stream_output *out, size_t len)
{
	uint64_t end = writable_end(out, out->at + len), safe;

	if (!end)
		return 0;
	safe = stream_tar_end(&out->tar, end);
	return out->at + len - safe <= sizeof(out->held) ? safe : end;
}

int stream_output_write(struct stream_output *out, const char *data, size_t len,
			struct error *err)
{
	struct iovec piece = { .iov_base = (char *)(uintptr_t)data,
			       .iov_len = len };

	return write_pieces(out, &piece, 1, err);
}

static int write_zeros(struct stream_output *out, uint64_t count,
		       struct error *err)
{
	static const char zeros[4096];
	size_t n;
	int ret = STREAM_DONE;

	for (; count && ret == STREAM_DONE; count -= n) {
		n = count < sizeof(zeros) ? (size_t)count : sizeof(zeros);
		ret = stream_output_write(out, zeros, n, err);
	}
	return ret;
}

/* Handles an object that is not a tar file, of which nothing was written.
 * Leaving out the zeroes before it was correct. */
static int stop_joining(struct stream_output *out, struct error *err)
{
	uint64_t zeros = out->pending + out->tar.zeros;

	out->joins = false;
	out->pending = 0;
	out->tar.leaves_end = false;
	return write_zeros(out, zeros, err);
}

/* To be called after the tar file was followed further. */
static int look_at_tar(struct stream_output *out, struct error *err)
{
	if (!out->joins)
		return STREAM_DONE;
	if (out->tar.begun)
		out->pending = 0;
	if (out->tar.is_tar)
		return STREAM_DONE;
	if (!out->tar.begun)
		return stop_joining(out, err);
	return error_set(err, ERROR_FAILED,
			 "it starts as a tar file, but cannot be joined with "
			 "others: byte %llu is not the header of a member",
			 (unsigned long long)(out->tar.header -
					      STREAM_TAR_BLOCK +
					      out->tar.zeros));
}

static int put(struct stream_output *out, const char *data, size_t len,
	       struct error *err)
{
	uint64_t written = out->at - out->held_len;
	uint64_t end = safe_end(out, len);
	struct iovec pieces[2] = {
		{ .iov_base = out->held, .iov_len = out->held_len },
		{ .iov_base = (char *)(uintptr_t)data },
	};
	size_t used = 0;
	int ret;

	if (end > out->at) {
		used = (size_t)(end - out->at);
		pieces[1].iov_len = used;
		ret = write_pieces(out, pieces, 2, err);
		if (ret)
			return ret;
		out->held_len = 0;
	} else if (end > written) {
		size_t some = (size_t)(end - written);

		pieces[0].iov_len = some;
		ret = write_pieces(out, pieces, 1, err);
		if (ret)
			return ret;
		out->held_len -= some;
		memmove(out->held, out->held + some, out->held_len);
	}
	memcpy(out->held + out->held_len, data + used, len - used);
	out->held_len += len - used;
	out->at += len;
	return STREAM_DONE;
}

/* Passes on bytes up to where an end may begin: sets `*used` to their
 * number. */
static int pass(struct stream_output *out, const char *data, size_t len,
		size_t *used, struct error *err)
{
	int ret;

	*used = stream_tar_add(&out->tar, out->at, data, len);
	ret = look_at_tar(out, err);
	return ret == STREAM_DONE && *used ? put(out, data, *used, err) : ret;
}

/* Passes on zeroes that seemed to be an end, but begin a header. */
static int pass_owed(struct stream_output *out, size_t owed, struct error *err)
{
	static const char zeros[STREAM_TAR_BLOCK];
	int ret;

	out->tar.leaves_end = false;
	ret = pass(out, zeros, owed, &owed, err);
	out->tar.leaves_end = out->joins;
	return ret;
}

int stream_output_add(struct stream_output *out, const char *data, size_t len,
		      struct error *err)
{
	size_t n, owed;
	int ret = STREAM_DONE;

	while (len && ret == STREAM_DONE) {
		n = stream_tar_skip(&out->tar, out->at, data, len, &owed);
		data += n;
		len -= n;
		if (owed)
			ret = pass_owed(out, owed, err);
		if (ret != STREAM_DONE || !len)
			break;
		ret = pass(out, data, len, &n, err);
		data += n;
		len -= n;
	}
	return ret;
}

/* Follows a tar file without passing it on.  Returns up to where it may be
 * passed: `until`, or where an end may begin. */
static uint64_t follow(struct stream_output *out, int from, uint64_t until)
{
	char block[STREAM_TAR_BLOCK];
	uint64_t at;
	size_t used;
	ssize_t n;

	while (out->tar.is_tar && (at = stream_tar_next(&out->tar)) < until) {
		n = pread(from, block, sizeof(block), (off_t)at);
		if (n <= 0)
			return at;
		used = stream_tar_add(&out->tar, at, block, (size_t)n);
		if (used < (size_t)n)
			return at + used;
	}
	return until;
}

/* Decides how many bytes to splice next, up to `end`. */
static int plan_splice(struct stream_output *out, int from, uint64_t end,
		       size_t *want, struct error *err)
{
	uint64_t to = end - out->at < SPLICE_MAX ? end : out->at + SPLICE_MAX;
	uint64_t stop = out->joins ? follow(out, from, to) : to;

	/* The rest is read and held back. */
	if (stop < to)
		to = stop ? stop - 1 : 0;
	*want = to > out->at ? (size_t)(to - out->at) : 0;
	return look_at_tar(out, err);
}

int stream_output_splice(struct stream_output *out, int from, uint64_t *len,
			 struct error *err)
{
	uint64_t end = writable_end(out, out->size);
	loff_t offset = (loff_t)out->at;
	size_t want;
	ssize_t n;
	int ret;

	*len = 0;
	if (!out->is_pipe || out->held_len)
		return STREAM_DONE;
	if (!out->joins)
		out->tar.is_tar = false; /* spliced bytes are not parsed */
	while (out->at < end) {
		ret = plan_splice(out, from, end, &want, err);
		if (ret || !want)
			return ret;
		n = splice(from, &offset, out->fd, NULL, want,
			   SPLICE_F_MOVE | SPLICE_F_MORE);
		/* The file may have been truncated, or can't be spliced:
		 * reading it will tell. */
		if (n == 0 || (n < 0 && errno == EINVAL))
			break;
		if (n < 0) {
			ret = judge_failure(out, err);
			if (ret)
				return ret;
			continue;
		}
		out->at += (uint64_t)n;
		*len += (uint64_t)n;
	}
	return STREAM_DONE;
}

/* Ends an object whose zeroes at the end were left out. */
static int end_joined(struct stream_output *out, struct error *err)
{
	/* An object of only whole zero blocks is an empty archive. */
	if (!out->tar.begun && (out->at || out->tar.zeros % STREAM_TAR_BLOCK))
		return stop_joining(out, err);
	if (!stream_tar_is_whole(&out->tar, out->at))
		return error_set(err, ERROR_FAILED,
				 "it starts as a tar file, but ends within a "
				 "member");
	out->tars += out->tar.begun;
	out->pending += out->tar.zeros;
	return STREAM_DONE;
}

int stream_output_end(struct stream_output *out, struct error *err)
{
	struct iovec piece = { .iov_base = out->held,
			       .iov_len = out->held_len };
	int ret = out->joins ? end_joined(out, err) : STREAM_DONE;

	if (ret != STREAM_DONE)
		return ret;
	stream_output_begin(out, 0);
	return write_pieces(out, &piece, 1, err);
}

int stream_output_finish(struct stream_output *out, struct error *err)
{
	if (out->tars && out->pending < STREAM_TAR_END)
		out->pending = STREAM_TAR_END;
	return out->joins ? write_zeros(out, out->pending, err) : STREAM_DONE;
}

void stream_output_fail(struct stream_output *out, const struct error *why)
{
	/* GNU tar's header for a long name: a reader that knows it expects a
	 * member to follow. */
	char mark[512 + sizeof(why->text)] = "././@LongLink";
	char *text = mark + 512;
	unsigned sum = 0;
	struct error unused;
	size_t i;

	/* Within an object, the stream is already broken. */
	if (out->at > out->held_len)
		return;
	memcpy(mark + 100, "0000644", 8);
	memcpy(mark + 108, "0000000", 8);
	memcpy(mark + 116, "0000000", 8);
	memcpy(mark + 124, "00000010000", 12);
	memcpy(mark + 136, "00000000000", 12);
	memcpy(mark + 148, "        L", 9);
	memcpy(mark + 257, "ustar  ", 8);
	for (i = 0; i < 512; i++)
		sum += (unsigned char)mark[i];
	snprintf(mark + 148, 8, "%06o", sum);
	snprintf(text, sizeof(why->text), "%s", why->text);
	stream_output_write(out, mark, 512 + strlen(text), &unused);
}
