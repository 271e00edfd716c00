/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/tar_scan.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/archive_library.h"
#include "core/data/tar_header.h"
#include "core/data/tar_packed.h"

#define BLOCK_SIZE 65536
/* How much after the end is examined: GNU tar pads to 10,240 bytes, some
 * programs to a megabyte. */
#define END_SIZE (64 << 10)

struct tar_scan_state {
	const char *path; /* for messages */
	int fd;
	uint64_t size_bytes; /* of the archive */
	const struct archive_library *lib;
	struct archive *archive;
	uint64_t end; /* where the last member ends; 0: unknown */
	char name[PATH_MAX], target[PATH_MAX];
	char shown[200]; /* the entry's name, fit for a message */
};

static int refuse(const struct tar_scan_state *scan, const char *why,
		  struct error *err)
{
	return error_set(err, ERROR_INVALID, "'%s': entry '%s' %s", scan->path,
			 scan->shown, why);
}

static int refuse_cut(const struct tar_scan_state *scan, struct error *err)
{
	return error_set(err, ERROR_INVALID, "'%s' is truncated%s%s%s",
			 scan->path, scan->shown[0] ? ", in or behind '" : "",
			 scan->shown, scan->shown[0] ? "'" : "");
}

/* Where the header that was read last begins. */
static uint64_t position(const struct tar_scan_state *scan)
{
	return (uint64_t)scan->lib->header_position(scan->archive);
}

/* ---- before and after -------------------------------------------------- */

static int check_beginning(const struct tar_scan_state *scan, struct error *err)
{
	const char *with = tar_packed_with(scan->fd);

	return with ? error_set(err, ERROR_INVALID,
				"'%s' is compressed: unpack it with '%s' first",
				scan->path, with)
		    : 0;
}

/* Only zeroes may follow the last member. */
static int check_end(const struct tar_scan_state *scan, struct error *err)
{
	uint64_t at = position(scan);
	static const char zeroes[TAR_BLOCK];
	char block[TAR_BLOCK];
	uint64_t stop = at + END_SIZE;
	ssize_t n;

	if (scan->end && at != scan->end)
		return refuse(scan, "is not where it should be", err);
	if (at + TAR_BLOCK > scan->size_bytes)
		return refuse_cut(scan, err);
	for (; at < stop; at += (uint64_t)n) {
		n = pread(scan->fd, block, sizeof(block), (off_t)at);
		if (n < 0)
			return error_errno(err, "cannot read '%s'", scan->path);
		if (n == 0)
			break;
		if (memcmp(block, zeroes, (size_t)n) != 0)
			return error_set(err, ERROR_INVALID,
					 "'%s' continues after its end: are "
					 "these several archives in one file?",
					 scan->path);
	}
	return 0;
}

/* ---- members ----------------------------------------------------------- */

static int read_member(struct tar_scan_state *scan, struct archive_entry *entry,
		       struct tar_member *out, struct error *err)
{
	const char *name = scan->lib->pathname(entry);
	const char *wrong, *target;
	char why[80];

	snprintf(scan->shown, sizeof(scan->shown), "%s", name ? name : "");
	text_make_printable(scan->shown);
	if (!name || !name[0])
		return refuse(scan, "has an unreadable name", err);
	wrong = path_clean(name, scan->name);
	if (wrong) {
		snprintf(why, sizeof(why), "has %s", wrong);
		return refuse(scan, why, err);
	}
	*out = (struct tar_member){ .name = scan->name };
	target = scan->lib->hardlink(entry);
	if (target) {
		/* The target of a hard link must be a valid member name. */
		if (path_clean(target, scan->target))
			snprintf(scan->target, sizeof(scan->target), "%s",
				 target);
		out->type = TAR_HARD_LINK;
		out->target = scan->target;
		return 0;
	}
	switch (scan->lib->filetype(entry)) {
	case AE_IFREG:
		break;
	case AE_IFDIR:
		out->type = TAR_FOLDER;
		return 0;
	case AE_IFLNK:
		out->type = TAR_LINK;
		return 0;
	default:
		out->type = TAR_SPECIAL;
		return 0;
	}
	if (!scan->name[0])
		return refuse(scan, "has no name", err);
	if (scan->lib->sparse_count(entry))
		return refuse(scan, "is a sparse file", err);
	out->size_bytes = (uint64_t)scan->lib->size(entry);
	out->offset = (uint64_t)scan->lib->filter_bytes(scan->archive, -1);
	return 0;
}

/* Finds the end of a member's contents, where the next one must begin. */
static int find_end(struct tar_scan_state *scan,
		    const struct tar_member *member, struct error *err)
{
	uint64_t left;

	scan->end = 0;
	if (member->type != TAR_FILE)
		return 0;
	left = scan->size_bytes > member->offset
		       ? scan->size_bytes - member->offset
		       : 0;
	if (member->size_bytes > left)
		return refuse_cut(scan, err);
	scan->end = member->offset + member->size_bytes +
		    tar_padding(member->size_bytes);
	return 0;
}

static int fail_read(struct tar_scan_state *scan, struct error *err)
{
	const char *why = scan->lib->error_string(scan->archive);

	error_set(err, ERROR_INVALID, "'%s' is not a readable tar archive: %s",
		  scan->path, why ? why : "it is damaged");
	text_make_printable(err->text);
	return -1;
}

static int scan_members(struct tar_scan_state *scan, tar_each *each, void *arg,
			struct error *err)
{
	struct archive_entry *entry;
	struct tar_member member;

	for (;;) {
		int code = scan->lib->next_header(scan->archive, &entry);

		if (code == ARCHIVE_EOF)
			return check_end(scan, err);
		/* libarchive warns about a name that it cannot decode. */
		if (code != ARCHIVE_OK && code != ARCHIVE_WARN)
			return fail_read(scan, err);
		if (scan->end && position(scan) != scan->end)
			return refuse(scan, "is not where it should be", err);
		if (read_member(scan, entry, &member, err) < 0 ||
		    find_end(scan, &member, err) < 0 ||
		    each(arg, &member, err) < 0)
			return -1;
	}
}

int tar_scan(int fd, const char *path, tar_each *each, void *arg,
	     struct error *err)
{
	struct tar_scan_state scan = { .path = path, .fd = fd };
	locale_t utf8, before = (locale_t)0;
	struct stat st;
	int ret = -1;

	scan.lib = archive_library_open(err);
	if (!scan.lib)
		return -1;
	if (fstat(fd, &st) < 0)
		return error_errno(err, "cannot read '%s'", path);
	scan.size_bytes = (uint64_t)st.st_size;
	if (check_beginning(&scan, err) < 0)
		return -1;
	scan.archive = scan.lib->read_new();
	if (!scan.archive)
		return error_set(err, ERROR_FAILED, "libarchive fails");
	/* Names in pax headers are UTF-8; other names are taken as they are. */
	utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (utf8)
		before = uselocale(utf8);
	scan.lib->tar(scan.archive);
	lseek(fd, 0, SEEK_SET);
	if (scan.lib->open_fd(scan.archive, fd, BLOCK_SIZE) != ARCHIVE_OK)
		fail_read(&scan, err);
	else
		ret = scan_members(&scan, each, arg, err);
	if (utf8) {
		uselocale(before);
		freelocale(utf8);
	}
	scan.lib->free(scan.archive);
	return ret;
}
