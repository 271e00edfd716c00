/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format in which folders go from one machine to another: a sequence of
 * entries,
 *
 *	u8 kind		ARCHIVE_FILE and so on
 *	u32 len, path	below the folder, its parts divided by single slashes
 *	u64 size, bytes	of a file; of a link its target
 *
 * (little-endian), up to one of kind ARCHIVE_END, which has no other fields.
 * Only empty folders have entries.  It is not tar, because a tar reader is ten
 * times as long, and no other program has to read it.
 *
 * Unpacking trusts nothing: it refuses absolute paths, "..", entries below a
 * link or a file, entries that exist already, and anything beyond the limits.
 * Nothing is written outside the folder: every part of a path is opened without
 * following links.  Programs become 0700, files 0600.
 */
#ifndef JOBRUN_AGENT_ARCHIVE_H
#define JOBRUN_AGENT_ARCHIVE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

enum archive_kind {
	ARCHIVE_FILE = 'f',
	ARCHIVE_PROGRAM = 'x',
	ARCHIVE_LINK = 'l',
	ARCHIVE_FOLDER = 'd',
	ARCHIVE_END = 'e',
};

#define ARCHIVE_HEADER_MAX (1 + 4 + PATH_MAX + 8)

/* Writes the header of an entry; returns its length, or 0 if the path is too
 * long. */
size_t archive_header(unsigned char to[ARCHIVE_HEADER_MAX],
		      enum archive_kind kind, const char *path, uint64_t size);

struct unpacking;

/* Unpacks into the folder open at `root`, which is borrowed; at most
 * `max_bytes` in all files, and `max_entries`. */
struct unpacking *unpacking_new(int root, uint64_t max_bytes,
				uint64_t max_entries);
void unpacking_free(struct unpacking *unpacking);
/* Adds the next bytes of the archive.  Returns -1 if they are refused or can't
 * be written; then nothing may follow. */
int unpacking_add(struct unpacking *unpacking, const void *data, size_t len,
		  struct error *err);
/* Whether ARCHIVE_END was seen, so that the archive is complete. */
bool unpacking_is_done(const struct unpacking *unpacking);

/* Writes a folder and everything below it to a descriptor, without following
 * links; leaves out sockets, pipes and devices.  A file that shrinks meanwhile
 * is padded with zeroes. */
int archive_pack(const char *folder, int to, struct error *err);

#endif
