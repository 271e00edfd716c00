/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a Git repository tracks, as its index lists them: versions 2
 * to 4, SHA-1 and SHA-256.  Never runs git nor reads the repository's
 * configuration: either may belong to a stranger.
 */
#ifndef JOBRUN_GIT_INDEX_H
#define JOBRUN_GIT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define GIT_HASH_MAX 32

struct git_entry {
	const char *path; /* relative to the top of the work tree */
	uint32_t mode;    /* GIT_MODE_ type and permissions */
	unsigned flags;   /* GIT_ENTRY_ */
	/* The file's stat data when it was last known to be equal; zero if
	 * unknown. */
	uint32_t mtime_s, mtime_ns, size;
	const unsigned char *hash; /* of its contents, as a blob */
};

#define GIT_MODE_TYPE 0170000
#define GIT_MODE_FILE 0100000
#define GIT_MODE_LINK 0120000
#define GIT_MODE_MODULE 0160000 /* the commit of a submodule */
#define GIT_MODE_FOLDER 0040000 /* excluded by a sparse checkout */

enum git_entry_flag {
	GIT_ENTRY_UNCHECKED = 1 << 0, /* the user marked it as unchanged */
	GIT_ENTRY_ABSENT = 1 << 1,    /* excluded by a sparse checkout */
	GIT_ENTRY_CONFLICT = 1 << 2,  /* in a merge in progress */
	GIT_ENTRY_ADDED = 1 << 3,     /* without contents so far */
};

struct git_index; /* opaque */

/* Reads GIT/index; `git` is the work tree's own folder.  A missing index tracks
 * nothing.  Returns new, or NULL. */
struct git_index *git_index_read(const char *git, struct error *err);
void git_index_free(struct git_index *index);

/* Entries are sorted by path, bytewise. */
size_t git_index_count(const struct git_index *index);
const struct git_entry *git_index_at(const struct git_index *index, size_t i);
size_t git_index_hash_size(const struct git_index *index);
/* The time when the index was written: a file as new as that may have changed
 * since. */
int64_t git_index_time_ns(const struct git_index *index);
/* Whether an entry was changed, mostly by `git add`, since all of them last
 * equalled a tree.  False if the writer of the index does not record that. */
bool git_index_is_ahead(const struct git_index *index);

/* The first entry of that path, or NULL. */
const struct git_entry *git_index_find(const struct git_index *index,
				       const char *path);
/* Whether anything below the folder is tracked, or the folder is a
 * submodule. */
bool git_index_has_folder(const struct git_index *index, const char *path);

#endif
