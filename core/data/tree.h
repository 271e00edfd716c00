/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists a folder and makes its digest, which is equal on every machine and at
 * any time if the files that a program could read there are equal.
 *
 * These count: the paths below the folder; the contents of a regular file and
 * whether its owner may execute it; the target of a symbolic link (links are
 * not followed); the presence of a folder only if it is empty.  Owners, times
 * and other permissions do not count.  Sockets, devices and pipes are left out.
 *
 * These files are not part of the source (core/data/source_rules.h):
 * - those that `.jobrunignore` in the folder lists; if it exists, it decides
 *   alone;
 * - else those that `.gitignore` files list, in the folder, below it, and
 *   above it up to the top of its repository.  Files that Git tracks are part
 *   of the source all the same.  A user's own ignore lists do not count, so
 *   that clones agree.  In a repository, folders left without files do not
 *   count either;
 * - `.git`, and unless a list takes them back `__pycache__` and `*.pyc`;
 * - files that jobrun itself writes: state directories, saved plans.
 *
 * Both kinds of list have one pattern a line:
 *
 *	# a comment; empty lines do nothing
 *	*.log		without a slash: every such name, at any depth
 *	/data		with one before or in it: a path from the file's folder
 *	docs/x?.md	*, ? and [...] never match a slash
 *	a / ** / b	(without the blanks) any number of folders, or none
 *	out/		with one at the end: folders only
 *	!keep.log	not left out after all
 *
 * The last matching line decides, in the deepest file with a match.  Everything
 * below an ignored folder is ignored, and no pattern can take it back.  A
 * backslash removes the special meaning of the next character; blanks at the
 * end of a line do not count.
 */
#ifndef JOBRUN_TREE_H
#define JOBRUN_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/data/source_rules.h"

enum tree_kind {
	TREE_FILE,
	TREE_LINK,
	TREE_FOLDER, /* an empty one */
};

struct tree_entry {
	const char *path; /* relative to the folder: "pkg/train.py" */
	enum tree_kind kind;
	bool executable;      /* for a file */
	bool holds_secret;    /* for a file: it begins like a key */
	uint64_t size_bytes;  /* for a file */
	const char *target;   /* for a link, else NULL */
	struct digest digest; /* of a file's contents, else "" */
};

/* A path that is not part of the source; the contents of such a folder are not
 * examined. */
struct tree_left_out {
	const char *path; /* a folder ends with a slash */
	enum source_reason reason;
};

struct tree {
	const char *ignored; /* see source_rules_ignored() */
	const char *folder;  /* without links: see tree_open_file() */
	size_t count;
	struct tree_entry *entries; /* by path, bytewise */
	size_t files;               /* regular ones */
	uint64_t bytes;             /* in all files */
	struct digest digest;       /* of the whole tree */
	/* The paths worth reporting: see source_reason_text().  Sorted by
	 * path. */
	const struct tree_left_out *left_out;
	size_t left_out_count;
};

/* Whether a file is likely to be a secret, by its name or its contents. */
bool tree_entry_is_secret(const struct tree_entry *entry);

/* The cost grows with the bytes of files that changed since they were last read
 * (core/data/digest_cache.h), and with the number of the others.  Entries live
 * in `mem`.  `folder` itself may be a link.  `options` may be NULL. */
int tree_read(const char *folder, const struct source_options *options,
	      struct arena *mem, struct tree *out, struct error *err);

/* The same without the files' contents: there are no digests, and the tree ends
 * with the first file. */
int tree_look(const char *folder, const struct source_options *options,
	      struct arena *mem, struct tree *out, struct error *err);

/* Opens a file of a tree again, from the tree's `folder` and without following
 * links.  Everything that ships a file uses this. */
int tree_open_file(const char *folder, const struct tree_entry *entry,
		   struct error *err);

#endif
