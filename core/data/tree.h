/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists a folder, and makes its digest: equal where the files that a program
 * could read there are equal, on every machine and at any time.
 *
 * These count: the paths below the folder; the contents of a regular file and
 * whether its owner may execute it; the target of a symbolic link (links are
 * not followed); the presence of a folder only if it is empty.  Owners, times
 * and other permissions do not count.  Sockets, devices and pipes are left out.
 *
 * The tree also leaves out `.git`, `__pycache__` and `*.pyc` anywhere, and what
 * the file `.jobrunignore` in the folder lists.  It has one pattern a line:
 *
 *	# a comment; empty lines do nothing
 *	*.log		without a slash: every such name, at any depth
 *	/data		with one before or in it: a path from the top
 *	docs/x?.md	*, ? and [...] never match a slash
 *	a / ** / b	(without the blanks) any number of folders, or none
 *	out/		with one at the end: folders only
 *	!keep.log	not left out after all
 *
 * The last line that matches decides.  Everything below an ignored folder is
 * ignored, so no pattern can take it back; a folder whose files are all ignored
 * counts as empty.  A backslash takes the meaning from the next character;
 * blanks at the end of a line do not count.
 */
#ifndef JOBRUN_TREE_H
#define JOBRUN_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/error.h"

enum tree_kind {
	TREE_FILE,
	TREE_LINK,
	TREE_FOLDER, /* an empty one */
};

struct tree_entry {
	const char *path; /* below the folder: "pkg/train.py" */
	enum tree_kind kind;
	bool executable;      /* of a file */
	uint64_t size_bytes;  /* of a file */
	const char *target;   /* of a link, else NULL */
	struct digest digest; /* of a file's contents, else "" */
};

struct tree {
	size_t count;
	struct tree_entry *entries; /* by path, bytewise */
	size_t files;               /* regular ones */
	uint64_t bytes;             /* bytes in them */
	struct digest digest;       /* of the whole tree */
};

/* Reads every file, so costs grow with the bytes there.  Entries live in
 * `mem`.  `folder` itself may be a link. */
int tree_read(const char *folder, struct arena *mem, struct tree *out,
	      struct error *err);

/* The same, and what the lines of `patterns` match is left out too, unless
 * the folder's own file takes it back in. */
int tree_read_without(const char *folder, const char *patterns,
		      struct arena *mem, struct tree *out, struct error *err);

#endif
