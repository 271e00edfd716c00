/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the members of a tar archive and the offsets of their contents: reads
 * the headers and skips the contents. libarchive reads them; its offsets are
 * checked, since others will read the contents there.
 */
#ifndef JOBRUN_TAR_SCAN_H
#define JOBRUN_TAR_SCAN_H

#include <stdint.h>

#include "core/base/error.h"

enum tar_type {
	TAR_FILE,
	TAR_FOLDER,
	TAR_LINK,      /* symbolic */
	TAR_HARD_LINK, /* another name of an earlier member */
	TAR_SPECIAL,   /* a device, a pipe */
};

struct tar_member {
	const char *name; /* below a folder, without "." parts */
	enum tar_type type;
	uint64_t size_bytes, offset; /* of a file's contents */
	const char *target; /* for a hard link: a member's name, or none */
};

/* Takes the next member, valid during the call.  Returns -1 to stop. */
typedef int tar_each(void *arg, const struct tar_member *member,
		     struct error *err);

/*
 * Reads the regular file at `fd`, called `path` in errors.  ERROR_INVALID: the
 * file is compressed, no tar archive, damaged, cut off (even at the end of a
 * member), followed by something else, or has a sparse file or a name that
 * leads out of a folder.
 */
int tar_scan(int fd, const char *path, tar_each *each, void *arg,
	     struct error *err);

#endif
