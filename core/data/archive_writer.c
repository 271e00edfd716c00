/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/archive_writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/library.h"
#include "core/data/tar_header.h"

#define CHUNK_SIZE (256 << 10)

static struct {
	__typeof__(&archive_write_new) new;
	__typeof__(&archive_write_free) free;
	__typeof__(&archive_write_fail) fail;
	__typeof__(&archive_write_close) close;
	__typeof__(&archive_write_set_format_raw) raw;
	__typeof__(&archive_write_add_filter_gzip) gzip;
	__typeof__(&archive_write_set_filter_option) filter_option;
	__typeof__(&archive_write_open_fd) open_fd;
	__typeof__(&archive_write_header) header;
	__typeof__(&archive_write_data) data;
	__typeof__(&archive_error_string) error_string;
	__typeof__(&archive_entry_new) entry_new;
	__typeof__(&archive_entry_free) entry_free;
	__typeof__(&archive_entry_set_filetype) set_filetype;
} lib;

static const struct library_symbol symbols[] = {
	{ "archive_write_new", &lib.new },
	{ "archive_write_free", &lib.free },
	{ "archive_write_fail", &lib.fail },
	{ "archive_write_close", &lib.close },
	{ "archive_write_set_format_raw", &lib.raw },
	{ "archive_write_add_filter_gzip", &lib.gzip },
	{ "archive_write_set_filter_option", &lib.filter_option },
	{ "archive_write_open_fd", &lib.open_fd },
	{ "archive_write_header", &lib.header },
	{ "archive_write_data", &lib.data },
	{ "archive_error_string", &lib.error_string },
	{ "archive_entry_new", &lib.entry_new },
	{ "archive_entry_free", &lib.entry_free },
	{ "archive_entry_set_filetype", &lib.set_filetype },
	{ NULL, NULL },
};

struct archive_writer {
	int fd;
	const char *name;
	struct archive *archive; /* the compressor; NULL: no compression */
	char *chunk;
};

static int fail(const struct archive_writer *writer, struct error *err)
{
	const char *why = lib.error_string(writer->archive);

	return error_set(err, ERROR_FAILED, "cannot write '%s': %s",
			 writer->name, why ? why : "libarchive fails");
}

/* libarchive gets our archive as one byte stream ("raw"). */
static int open_gzip(struct archive_writer *writer, struct error *err)
{
	struct archive_entry *entry;
	int code;

	if (library_open("libarchive.so.13", symbols, err) < 0)
		return -1;
	writer->archive = lib.new();
	entry = lib.entry_new();
	if (!writer->archive || !entry)
		abort();
	lib.set_filetype(entry, AE_IFREG);
	code = lib.raw(writer->archive);
	if (code == ARCHIVE_OK)
		code = lib.gzip(writer->archive);
	if (code == ARCHIVE_OK)
		code = lib.filter_option(writer->archive, "gzip", "timestamp",
					 NULL);
	if (code == ARCHIVE_OK)
		code = lib.open_fd(writer->archive, writer->fd);
	if (code == ARCHIVE_OK)
		code = lib.header(writer->archive, entry);
	lib.entry_free(entry);
	return code == ARCHIVE_OK ? 0 : fail(writer, err);
}

struct archive_writer *archive_writer_new(int fd, const char *name,
					  enum archive_filter filter,
					  struct error *err)
{
	struct archive_writer *writer = mem_alloc(sizeof(*writer));

	writer->fd = fd;
	writer->name = name;
	writer->chunk = mem_alloc(CHUNK_SIZE);
	if (filter == ARCHIVE_GZIP && open_gzip(writer, err) < 0) {
		archive_writer_free(writer);
		return NULL;
	}
	return writer;
}

static int write_data(struct archive_writer *writer, const void *data,
		      size_t len, struct error *err)
{
	if (!writer->archive) {
		if (fd_write(writer->fd, data, len) < 0)
			return error_errno(err, "cannot write '%s'",
					   writer->name);
	} else if (lib.data(writer->archive, data, len) != (la_ssize_t)len) {
		return fail(writer, err);
	}
	return 0;
}

static int write_header(struct archive_writer *writer,
			const struct tar_head *head, struct error *err)
{
	char block[TAR_HEADER_MAX];

	if (strlen(head->path) > TAR_PATH_MAX ||
	    (head->target && strlen(head->target) > TAR_PATH_MAX))
		return error_set(err, ERROR_INVALID,
				 "cannot write '%s': '%.80s...' is too long a "
				 "name",
				 writer->name, head->path);
	return write_data(writer, block, tar_header_write(block, head), err);
}

static int write_padding(struct archive_writer *writer, uint64_t size_bytes,
			 struct error *err)
{
	static const char zeroes[TAR_BLOCK];

	return write_data(writer, zeroes, tar_padding(size_bytes), err);
}

/* All entries have the same time. */
static struct tar_head make_head(const char *path, enum tar_kind kind,
				 unsigned mode, uint64_t size_bytes)
{
	return (struct tar_head){ .path = path,
				  .kind = kind,
				  .mode = mode,
				  .size_bytes = size_bytes,
				  .time_s = ARCHIVE_TIME_S };
}

int archive_writer_add(struct archive_writer *writer, const char *path,
		       const void *data, size_t len, struct error *err)
{
	struct tar_head head = make_head(path, TAR_KIND_FILE, 0644, len);

	if (write_header(writer, &head, err) < 0 ||
	    write_data(writer, data, len, err) < 0)
		return -1;
	return write_padding(writer, len, err);
}

/* Copies a file of a known size, and checks the copied bytes. */
static int copy_file(struct archive_writer *writer, int fd, const char *path,
		     const struct tree_entry *entry, struct error *err)
{
	struct digester *digester = digester_new();
	uint64_t left = entry->size_bytes;
	struct digest digest;
	int ret = -1;

	while (left) {
		size_t want = left < CHUNK_SIZE ? (size_t)left : CHUNK_SIZE;
		ssize_t n = read(fd, writer->chunk, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			error_errno(err, "cannot read '%s'", path);
			goto out;
		}
		if (n == 0)
			break;
		digester_add(digester, writer->chunk, (size_t)n);
		if (write_data(writer, writer->chunk, (size_t)n, err) < 0)
			goto out;
		left -= (uint64_t)n;
	}
	digester_end(digester, &digest);
	if (left || strcmp(digest.hex, entry->digest.hex) != 0)
		error_set(err, ERROR_FAILED, "'%s' changed while it was packed",
			  path);
	else
		ret = 0;
out:
	digester_free(digester);
	return ret;
}

static int add_file(struct archive_writer *writer, const char *name,
		    const char *folder, const struct tree_entry *from,
		    struct error *err)
{
	char *path = path_join(folder, from->path);
	int fd = tree_open_file(folder, from, err);
	struct tar_head head;
	int ret = -1;

	if (fd < 0)
		goto out;
	head = make_head(name, TAR_KIND_FILE, from->executable ? 0755 : 0644,
			 from->size_bytes);
	ret = write_header(writer, &head, err);
	if (ret == 0)
		ret = copy_file(writer, fd, path, from, err);
	if (ret == 0)
		ret = write_padding(writer, from->size_bytes, err);
	close(fd);
out:
	free(path);
	return ret;
}

int archive_writer_add_entry(struct archive_writer *writer, const char *prefix,
			     const char *folder, const struct tree_entry *from,
			     struct error *err)
{
	char *name = mem_printf("%s/%s%s", prefix, from->path,
				from->kind == TREE_FOLDER ? "/" : "");
	struct tar_head head;
	int ret;

	switch (from->kind) {
	case TREE_FILE:
		ret = add_file(writer, name, folder, from, err);
		break;
	case TREE_LINK:
		head = make_head(name, TAR_KIND_LINK, 0777, 0);
		head.target = from->target;
		ret = write_header(writer, &head, err);
		break;
	default:
		head = make_head(name, TAR_KIND_FOLDER, 0755, 0);
		ret = write_header(writer, &head, err);
	}
	free(name);
	return ret;
}

int archive_writer_finish(struct archive_writer *writer, struct error *err)
{
	static const char end[TAR_END];
	int ret = write_data(writer, end, sizeof(end), err);

	if (ret == 0 && writer->archive &&
	    lib.close(writer->archive) != ARCHIVE_OK)
		ret = fail(writer, err);
	archive_writer_free(writer);
	return ret;
}

void archive_writer_free(struct archive_writer *writer)
{
	if (!writer)
		return;
	if (writer->archive) {
		/* Otherwise libarchive would write an end-of-archive marker. */
		lib.fail(writer->archive);
		lib.free(writer->archive);
	}
	free(writer->chunk);
	free(writer);
}
