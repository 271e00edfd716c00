/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers the digests of the files of one folder between runs of jobrun, so
 * that a plan does not reread gigabytes that have not changed.
 *
 * A digest is valid while the file's device, inode, size, mtime and ctime are
 * unchanged.  A file that changed within two seconds before it was read is not
 * cached: another change could leave the same times (git calls such entries
 * racy).
 *
 * The cache is a file in $XDG_CACHE_HOME/jobrun/digests (else ~/.cache), named
 * by the folder's path.  Losing it costs only time: a missing, damaged or
 * foreign file gives an empty cache, never an error.
 */
#ifndef JOBRUN_DIGEST_CACHE_H
#define JOBRUN_DIGEST_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/base/digest.h"

/* The cache is written only if so many bytes, or files, were read anew. */
#define DIGEST_CACHE_BYTES (8 << 20)
#define DIGEST_CACHE_FILES 500

struct digest_cache;

/* `folder` is open as `fd`.  Returns new, or NULL if the user has no cache
 * folder; all functions accept NULL. */
struct digest_cache *digest_cache_open(const char *folder, int fd);

/* Whether the digest of the file at `path` below the folder is cached. */
bool digest_cache_find(struct digest_cache *cache, const char *path,
		       const struct stat *st, struct digest *out);

/* `st` was taken before the file was read, at `read_at_ms` since 1970. */
void digest_cache_add(struct digest_cache *cache, const char *path,
		      const struct stat *st, int64_t read_at_ms,
		      const struct digest *digest);

/* Frees the cache, after writing it if enough was added.  Entries neither found
 * nor added are dropped: their files are gone. */
void digest_cache_close(struct digest_cache *cache);

#endif
