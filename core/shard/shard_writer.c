/* SPDX-License-Identifier: Apache-2.0 */
#include "core/shard/shard_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/crc32c.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/shard/read_ahead.h"
#include "core/data/tar_header.h"

#define BLOCK_SIZE ((size_t)512 << 10)

struct shard_writer {
	const struct samples *all;
	bool sha256;
	struct shard_counters *counters;
	struct read_ahead_lane *ahead; /* or NULL */
	char *block;
	size_t used;
	/* The current shard: */
	int fd;
	const char *name;
	uint64_t bytes, files;
	uint32_t crc32c;
	struct digester *digester; /* or NULL */
	/* The archive that was read last, as the next file is mostly in it,
	 * too. */
	uint32_t archive_source;
	int archive;
};

struct shard_writer *shard_writer_new(const struct samples *all, bool sha256,
				      struct shard_counters *counters,
				      struct read_ahead_lane *ahead)
{
	struct shard_writer *writer = mem_alloc(sizeof(*writer));

	writer->all = all;
	writer->sha256 = sha256;
	writer->counters = counters;
	writer->ahead = ahead;
	writer->block = mem_alloc(BLOCK_SIZE);
	writer->archive = -1;
	return writer;
}

void shard_writer_free(struct shard_writer *writer)
{
	if (!writer)
		return;
	if (writer->archive >= 0)
		close(writer->archive);
	digester_free(writer->digester);
	free(writer->block);
	free(writer);
}

/* ---- what is written --------------------------------------------------- */

static int flush(struct shard_writer *writer, struct error *err)
{
	if (!writer->used)
		return 0;
	if (atomic_load_explicit(&writer->counters->stop, memory_order_relaxed))
		return error_set(err, ERROR_INTERRUPTED, "interrupted");
	writer->crc32c =
		crc32c_add(writer->crc32c, writer->block, writer->used);
	if (writer->digester)
		digester_add(writer->digester, writer->block, writer->used);
	if (fd_write(writer->fd, writer->block, writer->used) < 0)
		return error_errno(err, "cannot write '%s'", writer->name);
	writer->bytes += writer->used;
	atomic_fetch_add_explicit(&writer->counters->bytes, writer->used,
				  memory_order_relaxed);
	writer->used = 0;
	return 0;
}

/* Ensures room for `len` more bytes in the block, which can hold any header. */
static int make_room(struct shard_writer *writer, size_t len, struct error *err)
{
	return BLOCK_SIZE - writer->used < len ? flush(writer, err) : 0;
}

static int put_header(struct shard_writer *writer,
		      const struct sample_file *file, uint64_t size_bytes,
		      struct error *err)
{
	const struct tar_head head = { .path = file->name,
				       .kind = TAR_KIND_FILE,
				       .mode = 0644,
				       .size_bytes = size_bytes };

	if (make_room(writer, TAR_HEADER_MAX, err) < 0)
		return -1;
	writer->used += tar_header_write(writer->block + writer->used, &head);
	return 0;
}

static int put_zeroes(struct shard_writer *writer, size_t len,
		      struct error *err)
{
	if (make_room(writer, len, err) < 0)
		return -1;
	memset(writer->block + writer->used, 0, len);
	writer->used += len;
	return 0;
}

/* ---- what is read ------------------------------------------------------ */

static int fail(const struct shard_writer *writer,
		const struct sample_file *file, const char *what,
		struct error *err)
{
	const struct sample_source *source =
		&writer->all->sources[file->source];

	return error_errno(err, "cannot %s '%s%s%s'", what, source->path,
			   source->kind == SOURCE_TAR ? ": " : "/", file->name);
}

static int refuse_changed(const struct shard_writer *writer,
			  const struct sample_file *file, struct error *err)
{
	const struct sample_source *source =
		&writer->all->sources[file->source];

	return error_set(err, ERROR_FAILED,
			 "'%s%s%s' changed while it was read", source->path,
			 source->kind == SOURCE_TAR ? ": " : "/", file->name);
}

/*
 * Copies `size_bytes` of contents from the descriptor's offset.  Asks for one
 * byte more, so that a file that has grown is noticed without another call: a
 * short read has reached the end.
 */
static int copy_file(struct shard_writer *writer, int fd,
		     const struct sample_file *file, uint64_t size_bytes,
		     struct error *err)
{
	uint64_t left = size_bytes;

	for (;;) {
		size_t room, want;
		ssize_t n;

		if (writer->used == BLOCK_SIZE && flush(writer, err) < 0)
			return -1;
		room = BLOCK_SIZE - writer->used;
		want = left < room ? (size_t)left + 1 : room;
		n = read(fd, writer->block + writer->used, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(writer, file, "read", err);
		if ((uint64_t)n > left || (n == 0 && left))
			return refuse_changed(writer, file, err);
		writer->used += (size_t)n;
		left -= (uint64_t)n;
		if (!left && (size_t)n < want)
			return 0;
	}
}

static int add_from_folder(struct shard_writer *writer,
			   const struct sample_file *file, struct error *err)
{
	const struct sample_source *source =
		&writer->all->sources[file->source];
	/* Must not block if the file became a pipe since it was listed. */
	int fd = openat(source->folder, file->name,
			O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint64_t size_bytes = file->size_bytes;
	struct stat st;
	int ret = -1;

	if (fd < 0)
		return fail(writer, file, "open", err);
	/* copy_file() notices if the size has changed. */
	if (size_bytes == SIZE_UNKNOWN) {
		if (fstat(fd, &st) < 0) {
			fail(writer, file, "read", err);
			goto out;
		}
		if (!S_ISREG(st.st_mode)) {
			refuse_changed(writer, file, err);
			goto out;
		}
		size_bytes = (uint64_t)st.st_size;
	}
	if (put_header(writer, file, size_bytes, err) < 0 ||
	    copy_file(writer, fd, file, size_bytes, err) < 0)
		goto out;
	ret = put_zeroes(writer, tar_padding(size_bytes), err);
out:
	close(fd);
	return ret;
}

static int open_archive(struct shard_writer *writer,
			const struct sample_file *file, struct error *err)
{
	const struct sample_source *source =
		&writer->all->sources[file->source];
	const char *path = source->contents ? source->contents : source->path;

	if (writer->archive >= 0 && writer->archive_source == file->source)
		return 0;
	if (writer->archive >= 0)
		close(writer->archive);
	writer->archive_source = file->source;
	writer->archive = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (writer->archive < 0)
		return error_errno(err, "cannot open '%s'", path);
	return 0;
}

static int add_from_archive(struct shard_writer *writer,
			    const struct sample_file *file, struct error *err)
{
	uint64_t left = file->size_bytes, at = file->offset;

	if (open_archive(writer, file, err) < 0 ||
	    put_header(writer, file, file->size_bytes, err) < 0)
		return -1;
	while (left) {
		size_t room;
		ssize_t n;

		if (writer->used == BLOCK_SIZE && flush(writer, err) < 0)
			return -1;
		room = BLOCK_SIZE - writer->used;
		n = pread(writer->archive, writer->block + writer->used,
			  left < room ? (size_t)left : room, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(writer, file, "read", err);
		if (n == 0)
			return refuse_changed(writer, file, err);
		writer->used += (size_t)n;
		left -= (uint64_t)n;
		at += (uint64_t)n;
	}
	return put_zeroes(writer, tar_padding(file->size_bytes), err);
}

static int add_class(struct shard_writer *writer,
		     const struct sample_file *file, struct error *err)
{
	if (put_header(writer, file, file->size_bytes, err) < 0 ||
	    make_room(writer, TAR_BLOCK, err) < 0)
		return -1;
	/* Writes a NUL too, where the padding begins. */
	sprintf(writer->block + writer->used, "%llu",
		(unsigned long long)file->offset);
	writer->used += (size_t)file->size_bytes;
	return put_zeroes(writer, tar_padding(file->size_bytes), err);
}

static int add_file(struct shard_writer *writer, const struct sample_file *file,
		    struct error *err)
{
	writer->files++;
	switch (writer->all->sources[file->source].kind) {
	case SOURCE_FOLDER:
		return add_from_folder(writer, file, err);
	case SOURCE_TAR:
		return add_from_archive(writer, file, err);
	default:
		return add_class(writer, file, err);
	}
}

/* ---- a shard ----------------------------------------------------------- */

static int add_sample(struct shard_writer *writer, const struct sample *sample,
		      struct error *err)
{
	size_t i;

	if (atomic_load_explicit(&writer->counters->stop, memory_order_relaxed))
		return error_set(err, ERROR_INTERRUPTED, "interrupted");
	for (i = 0; i < sample->count; i++)
		if (add_file(writer, &writer->all->files[sample->first + i],
			     err) < 0)
			return -1;
	atomic_fetch_add_explicit(&writer->counters->samples, 1,
				  memory_order_relaxed);
	if (writer->ahead)
		read_ahead_step(writer->ahead);
	return 0;
}

int shard_writer_write(struct shard_writer *writer, size_t first, size_t count,
		       int fd, const char *name, struct shard_entry *out,
		       struct error *err)
{
	size_t i;

	writer->used = 0;
	writer->fd = fd;
	writer->name = name;
	writer->bytes = writer->files = 0;
	writer->crc32c = 0;
	digester_free(writer->digester);
	writer->digester = NULL;
	if (writer->sha256) {
		writer->digester = digester_new();
	}
	if (writer->ahead)
		read_ahead_begin(writer->ahead, first, first + count);
	for (i = first; i < first + count; i++)
		if (add_sample(writer, &writer->all->items[i], err) < 0)
			return -1;
	if (put_zeroes(writer, TAR_END, err) < 0 || flush(writer, err) < 0)
		return -1;
	out->samples = count;
	out->files = writer->files;
	out->bytes = writer->bytes;
	crc32c_format(writer->crc32c, out->crc32c);
	out->sha256.hex[0] = '\0';
	if (writer->digester)
		digester_end(writer->digester, &out->sha256);
	return 0;
}
