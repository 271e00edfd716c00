/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and standard input.  A file without known checksums goes from the page
 * cache to a pipe without being copied.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/stream/stream_internal.h"

/* The number of files that the kernel is asked to read ahead. */
#define FILES_AHEAD 8

static bool is_input(const struct object_stream *object)
{
	return !strcmp(object->name, "-");
}

static int open_file(struct object_stream *object, struct error *err)
{
	if (object->fd >= 0)
		return 0;
	object->fd = is_input(object)
			     ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
			     : open(object->name, O_RDONLY | O_CLOEXEC);
	return object->fd < 0 ? error_errno(err, "cannot open it") : 0;
}

/* Opens the next files; each reports errors in its turn. */
static void open_ahead(struct stream *stream,
		       const struct object_stream *object)
{
	struct object_stream *at = object->next;
	struct error unused;
	int i;

	for (i = 0; at && i < FILES_AHEAD; at = at->next, i++) {
		if (at->kind != OBJECT_FILE || is_input(at) || at->fd >= 0)
			continue;
		if (open_file(at, &unused) == 0)
			posix_fadvise(at->fd, 0,
				      (off_t)(stream->options->read_ahead /
					      FILES_AHEAD),
				      POSIX_FADV_WILLNEED);
	}
}

static ssize_t read_some(int fd, char *data, size_t size)
{
	ssize_t n;

	do {
		n = read(fd, data, size);
	} while (n < 0 && errno == EINTR);
	return n;
}

/* Passes on everything from a pipe, which has no size. */
static int send_pipe(struct object_stream *object, struct stream_block *block,
		     struct error *err)
{
	struct stream_output *out = &object->stream->out;
	bool held = out->joins;
	ssize_t n;
	int ret;

	if (object->skip)
		return error_set(err, ERROR_FAILED,
				 "a pipe has no samples to leave out");
	stream_output_begin(out, STREAM_SIZE_UNKNOWN);
	while ((n = read_some(object->fd, block->data, BLOCK_SIZE)) > 0) {
		ret = held ? stream_output_add(out, block->data, (size_t)n, err)
			   : stream_output_write(out, block->data, (size_t)n,
						 err);
		if (ret != STREAM_DONE)
			return ret;
	}
	if (n < 0)
		return error_errno(err, "cannot read it");
	return stream_output_end(out, err);
}

static bool was_changed(const struct object_stream *object,
			const struct stat *before)
{
	struct stat now;

	return fstat(object->fd, &now) < 0 || now.st_size != before->st_size ||
	       now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != before->st_mtim.tv_nsec;
}

static int send_file(struct object_stream *object, const struct stat *st,
		     struct stream_block *block, struct error *err)
{
	struct stream_output *out = &object->stream->out;
	ssize_t n = 1;
	int ret;

	ret = object_begin(object, (uint64_t)st->st_size, err);
	if (ret == STREAM_DONE && !object->crc32c && !object->digester &&
	    !object->skip)
		ret = stream_output_splice(out, object->fd, &object->at, err);
	while (ret == STREAM_DONE && n > 0 && object->at < object->size) {
		uint64_t left = object->size - object->at;

		n = pread(object->fd, block->data,
			  left < BLOCK_SIZE ? (size_t)left : BLOCK_SIZE,
			  (off_t)object->at);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			ret = error_errno(err, "cannot read it");
		else
			ret = object_add(object, block->data, (size_t)n, err);
	}
	if (ret == STREAM_DONE && was_changed(object, st))
		return error_set(err, ERROR_FAILED,
				 "it changed while it was read");
	return ret == STREAM_DONE ? object_end(object, err) : ret;
}

int stream_send_file(struct stream *stream, struct object_stream *object,
		     struct error *err)
{
	struct stream_block *block = NULL;
	struct stat st;
	int ret;

	if (open_file(object, err) < 0)
		return -1;
	if (fstat(object->fd, &st) < 0)
		return error_errno(err, "cannot read it");
	if (S_ISDIR(st.st_mode))
		return error_set(err, ERROR_FAILED, "it is a folder");
	open_ahead(stream, object);
	pthread_mutex_lock(&stream->lock);
	block = block_pool_take(&stream->pool);
	pthread_mutex_unlock(&stream->lock);
	if (S_ISREG(st.st_mode)) {
		posix_fadvise(object->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
		ret = send_file(object, &st, block, err);
	} else {
		ret = send_pipe(object, block, err);
	}
	pthread_mutex_lock(&stream->lock);
	block_pool_put(&stream->pool, block);
	pthread_mutex_unlock(&stream->lock);
	return ret;
}
