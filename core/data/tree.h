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
 * Some files are no part of the source (core/data/source_rules.h):
 * - what `.jobrunignore` in the folder lists, if there is one: it then decides
 *   alone;
 * - else what the files `.gitignore` list, in the folder, below it, and above
 *   it up to the top of its repository.  What Git tracks is part of it all the
 *   same.  Lists of a user's own do not count, so that clones agree.  Folders
 *   of which nothing is left do not count either, if there is a repository;
 * - `.git`, and unless a list takes them back `__pycache__` and `*.pyc`;
 * - what jobrun itself writes: state directories, saved plans.
 *
 * Both files have one pattern a line:
 *
 *	# a comment; empty lines do nothing
 *	*.log		without a slash: every such name, at any depth
 *	/data		with one before or in it: a path from the file's folder
 *	docs/x?.md	*, ? and [...] never match a slash
 *	a / ** / b	(without the blanks) any number of folders, or none
 *	out/		with one at the end: folders only
 *	!keep.log	not left out after all
 *
 * The last line that matches decides, of the lowest file that has one.  All
 * below an ignored folder is ignored, so no pattern can take it back.  A
 * backslash takes the meaning from the next character; blanks at the end of a
 * line do not count.
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
	const char *path; /* below the folder: "pkg/train.py" */
	enum tree_kind kind;
	bool executable;      /* of a file */
	bool holds_secret;    /* of a file: it begins as keys do */
	uint64_t size_bytes;  /* of a file */
	const char *target;   /* of a link, else NULL */
	struct digest digest; /* of a file's contents, else "" */
};

/* What is no part of it; of a folder all that it holds is not looked at. */
struct tree_left_out {
	const char *path; /* with a slash at the end of a folder's */
	enum source_reason reason;
};

struct tree {
	const char *ignored; /* see source_rules_ignored() */
	const char *folder;  /* without links: see tree_open_file() */
	size_t count;
	struct tree_entry *entries; /* by path, bytewise */
	size_t files;               /* regular ones */
	uint64_t bytes;             /* bytes in them */
	struct digest digest;       /* of the whole tree */
	/* What is worth a word: see source_reason_text().  By path. */
	const struct tree_left_out *left_out;
	size_t left_out_count;
};

/* A file that is likely to be a secret, by its name or its contents. */
bool tree_entry_is_secret(const struct tree_entry *entry);

/* Costs grow with the bytes of files that changed since they were last read
 * (core/data/digest_cache.h), and with the count of the others.  Entries live
 * in `mem`.  `folder` itself may be a link.  `options` may be NULL. */
int tree_read(const char *folder, const struct source_options *options,
	      struct arena *mem, struct tree *out, struct error *err);

/* The same without what is in the files: they have no digests, and the tree
 * ends with the first of them. */
int tree_look(const char *folder, const struct source_options *options,
	      struct arena *mem, struct tree *out, struct error *err);

/* Opens a file of a tree again, by the `folder` of that and no link.  Whoever
 * ships a file opens it so. */
int tree_open_file(const char *folder, const struct tree_entry *entry,
		   struct error *err);

#endif
