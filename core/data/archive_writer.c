/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/archive_writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/library.h"

#define CHUNK_SIZE (256 << 10)

static struct {
	__typeof__(&archive_write_new) new;
	__typeof__(&archive_write_free) free;
	__typeof__(&archive_write_fail) fail;
	__typeof__(&archive_write_close) close;
	__typeof__(&archive_write_set_format_pax_restricted) pax;
	__typeof__(&archive_write_add_filter_gzip) gzip;
	__typeof__(&archive_write_set_filter_option) filter_option;
	__typeof__(&archive_write_open_fd) open_fd;
	__typeof__(&archive_write_header) header;
	__typeof__(&archive_write_data) data;
	__typeof__(&archive_error_string) error_string;
	__typeof__(&archive_entry_new) entry_new;
	__typeof__(&archive_entry_free) entry_free;
	__typeof__(&archive_entry_set_pathname) set_pathname;
	__typeof__(&archive_entry_set_symlink) set_symlink;
	__typeof__(&archive_entry_set_filetype) set_filetype;
	__typeof__(&archive_entry_set_perm) set_perm;
	__typeof__(&archive_entry_set_size) set_size;
	__typeof__(&archive_entry_set_mtime) set_mtime;
} lib;

static const struct library_symbol symbols[] = {
	{ "archive_write_new", &lib.new },
	{ "archive_write_free", &lib.free },
	{ "archive_write_fail", &lib.fail },
	{ "archive_write_close", &lib.close },
	{ "archive_write_set_format_pax_restricted", &lib.pax },
	{ "archive_write_add_filter_gzip", &lib.gzip },
	{ "archive_write_set_filter_option", &lib.filter_option },
	{ "archive_write_open_fd", &lib.open_fd },
	{ "archive_write_header", &lib.header },
	{ "archive_write_data", &lib.data },
	{ "archive_error_string", &lib.error_string },
	{ "archive_entry_new", &lib.entry_new },
	{ "archive_entry_free", &lib.entry_free },
	{ "archive_entry_set_pathname", &lib.set_pathname },
	{ "archive_entry_set_symlink", &lib.set_symlink },
	{ "archive_entry_set_filetype", &lib.set_filetype },
	{ "archive_entry_set_perm", &lib.set_perm },
	{ "archive_entry_set_size", &lib.set_size },
	{ "archive_entry_set_mtime", &lib.set_mtime },
	{ NULL, NULL },
};

struct archive_writer {
	struct archive *archive;
	const char *name;
	char *chunk;
	/* File names are taken for UTF-8, whatever locale the user has: the
	 * bytes of the archive would depend on it. */
	locale_t utf8;
};

static int fail(const struct archive_writer *writer, struct error *err)
{
	const char *why = lib.error_string(writer->archive);

	return error_set(err, ERROR_FAILED, "cannot write '%s': %s",
			 writer->name, why ? why : "libarchive fails");
}

struct archive_writer *archive_writer_new(int fd, const char *name,
					  enum archive_filter filter,
					  struct error *err)
{
	struct archive_writer *writer;

	if (library_open("libarchive.so.13", symbols, err) < 0)
		return NULL;
	writer = mem_alloc(sizeof(*writer));
	writer->name = name;
	writer->chunk = mem_alloc(CHUNK_SIZE);
	writer->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	writer->archive = lib.new();
	if (!writer->archive) {
		error_set(err, ERROR_FAILED, "libarchive fails");
		goto fail;
	}
	if (lib.pax(writer->archive) != ARCHIVE_OK)
		goto refused;
	if (filter == ARCHIVE_GZIP &&
	    (lib.gzip(writer->archive) != ARCHIVE_OK ||
	     lib.filter_option(writer->archive, "gzip", "timestamp", NULL) !=
		     ARCHIVE_OK))
		goto refused;
	if (lib.open_fd(writer->archive, fd) == ARCHIVE_OK)
		return writer;
refused:
	fail(writer, err);
fail:
	archive_writer_free(writer);
	return NULL;
}

/* Returns new. */
static struct archive_entry *make_entry(const char *path, mode_t type, int perm,
					uint64_t size_bytes)
{
	struct archive_entry *entry = lib.entry_new();

	if (!entry)
		abort();
	lib.set_pathname(entry, path);
	lib.set_filetype(entry, type);
	lib.set_perm(entry, perm);
	lib.set_size(entry, (la_int64_t)size_bytes);
	lib.set_mtime(entry, ARCHIVE_TIME_S, 0);
	return entry;
}

/* Takes the entry. */
static int write_header(struct archive_writer *writer,
			struct archive_entry *entry, struct error *err)
{
	locale_t before = (locale_t)0;
	int code;

	if (writer->utf8)
		before = uselocale(writer->utf8);
	code = lib.header(writer->archive, entry);
	if (before)
		uselocale(before);
	lib.entry_free(entry);
	/* The warning is that a name is no UTF-8: it is written as it is. */
	if (code == ARCHIVE_OK || code == ARCHIVE_WARN)
		return 0;
	return fail(writer, err);
}

static int write_data(struct archive_writer *writer, const void *data,
		      size_t len, struct error *err)
{
	if (lib.data(writer->archive, data, len) != (la_ssize_t)len)
		return fail(writer, err);
	return 0;
}

int archive_writer_add(struct archive_writer *writer, const char *path,
		       const void *data, size_t len, struct error *err)
{
	if (write_header(writer, make_entry(path, AE_IFREG, 0644, len), err) <
	    0)
		return -1;
	return len ? write_data(writer, data, len, err) : 0;
}

/* Copies a file of a known size, and looks at what was copied. */
static int copy_file(struct archive_writer *writer, int fd, const char *path,
		     const struct tree_entry *entry, struct error *err)
{
	struct digester *digester = digester_new(err);
	uint64_t left = entry->size_bytes;
	struct digest digest;
	int ret = -1;

	if (!digester)
		return -1;
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
		error_set(err, ERROR_FAILED,
			  "'%s' was changed while it was packed", path);
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
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int ret;

	if (fd < 0) {
		ret = error_errno(err, "cannot open '%s'", path);
		goto out;
	}
	ret = write_header(writer,
			   make_entry(name, AE_IFREG,
				      from->executable ? 0755 : 0644,
				      from->size_bytes),
			   err);
	if (ret == 0)
		ret = copy_file(writer, fd, path, from, err);
	close(fd);
out:
	free(path);
	return ret;
}

int archive_writer_add_entry(struct archive_writer *writer, const char *prefix,
			     const char *folder, const struct tree_entry *from,
			     struct error *err)
{
	char *name = mem_printf("%s/%s", prefix, from->path);
	struct archive_entry *entry;
	int ret;

	switch (from->kind) {
	case TREE_FILE:
		ret = add_file(writer, name, folder, from, err);
		break;
	case TREE_LINK:
		entry = make_entry(name, AE_IFLNK, 0777, 0);
		lib.set_symlink(entry, from->target);
		ret = write_header(writer, entry, err);
		break;
	default:
		ret = write_header(writer, make_entry(name, AE_IFDIR, 0755, 0),
				   err);
	}
	free(name);
	return ret;
}

int archive_writer_finish(struct archive_writer *writer, struct error *err)
{
	int ret = 0;

	if (lib.close(writer->archive) != ARCHIVE_OK)
		ret = fail(writer, err);
	archive_writer_free(writer);
	return ret;
}

void archive_writer_free(struct archive_writer *writer)
{
	if (!writer)
		return;
	if (writer->archive) {
		/* Else it would write what an end needs. */
		lib.fail(writer->archive);
		lib.free(writer->archive);
	}
	if (writer->utf8)
		freelocale(writer->utf8);
	free(writer->chunk);
	free(writer);
}
