/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/tar_packed.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/archive_library.h"

#define PIECE (1u << 18)
/* More is a bomb: tar's zeroes make small files shrink a lot, but not that
 * much. */
#define RATIO_MAX 200
#define BYTES_SPARE (1u << 20)

const char *tar_packed_with(int fd)
{
	static const struct {
		const char *magic;
		const char *with;
	} compressed[] = {
		{ "\x1f\x8b", "gzip -d" },
		{ "BZh", "bzip2 -d" },
		{ "\xfd"
		  "7zXZ",
		  "xz -d" },
		{ "\x28\xb5\x2f\xfd", "zstd -d" },
	};
	char head[8] = { 0 };
	size_t i;

	if (pread(fd, head, sizeof(head) - 1, 0) < 0)
		return NULL;
	for (i = 0; i < COUNT(compressed); i++)
		if (text_starts(head, compressed[i].magic))
			return compressed[i].with;
	return NULL;
}

static int fail(const struct archive_library *lib, struct archive *archive,
		const char *path, struct error *err)
{
	char why[160];

	snprintf(why, sizeof(why), "%s", lib->error_string(archive));
	text_make_printable(why);
	return error_set(err, ERROR_INVALID, "cannot unpack '%s': %s", path,
			 why);
}

static int unpack(const struct archive_library *lib, struct archive *archive,
		  int fd, int out, const char *path, struct error *err)
{
	char *piece = mem_alloc(PIECE);
	struct archive_entry *entry;
	uint64_t left = BYTES_SPARE;
	struct stat st;
	la_ssize_t n = 1;
	int ret = 0;

	if (fstat(fd, &st) == 0)
		left += (uint64_t)st.st_size * RATIO_MAX;

	lib->raw(archive);
	archive_library_filters(archive);
	if (lib->open_fd(archive, fd, PIECE) != ARCHIVE_OK ||
	    lib->next_header(archive, &entry) != ARCHIVE_OK)
		ret = fail(lib, archive, path, err);
	while (ret == 0 && n > 0) {
		n = lib->data(archive, piece, PIECE);
		if (n < 0)
			ret = fail(lib, archive, path, err);
		else if ((uint64_t)n > left)
			ret = error_set(err, ERROR_INVALID,
					"cannot unpack '%s': it is compressed "
					"by more than %d times",
					path, RATIO_MAX);
		else if (n > 0 && fd_write(out, piece, (size_t)n) < 0)
			ret = error_errno(err, "cannot unpack '%s'", path);
		left -= ret == 0 ? (uint64_t)n : 0;
	}
	free(piece);
	return ret;
}

int tar_packed_open(int fd, const char *path, struct error *err)
{
	const struct archive_library *lib = archive_library_open(err);
	struct archive *archive;
	int out, ret;

	if (!lib)
		return -1;
	out = file_nameless("jobrun-tar", path, err);
	if (out < 0)
		return -1;
	archive = lib->read_new();
	if (!archive)
		ret = error_set(err, ERROR_FAILED, "libarchive fails");
	else if (lseek(fd, 0, SEEK_SET) < 0)
		ret = error_errno(err, "cannot read '%s'", path);
	else
		ret = unpack(lib, archive, fd, out, path, err);
	lib->free(archive);
	if (ret < 0) {
		close(out);
		return -1;
	}
	return out;
}
