/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds checkpoints in the directory that a trainer writes to: each name there
 * is one, a file or a folder with all below it.  TensorFlow's "ckpt-3.index"
 * and "ckpt-3.data-00000-of-00001" are one, "ckpt-3".
 *
 * Hidden names, unfinished files ("x.tmp", "x.partial", "tmp-x", Orbax's
 * "x.orbax-checkpoint-tmp-1"), links and TensorFlow's list "checkpoint" are
 * left out.
 */
#ifndef JOBRUN_CHECKPOINT_SCAN_H
#define JOBRUN_CHECKPOINT_SCAN_H

#include "core/checkpoint/checkpoint.h"

struct checkpoint_item {
	struct checkpoint what; /* name, time, files (without CRCs), sizes */
	/* Another one after every change: of its files, their sizes, inodes
	 * and times. */
	const char *signature;
	/* A file of a TensorFlow checkpoint is missing. */
	bool is_partial;
};

struct checkpoint_items {
	struct checkpoint_item *items; /* by name */
	size_t count;
};

/* Whether it is one of several files, and its checkpoint has another name. */
bool checkpoint_scan_is_part(const char *file);

/* `folder` is a descriptor, `path` its name for messages.  Lives in `mem`.
 * Files that vanish meanwhile are left out. */
int checkpoint_scan(int folder, const char *path, struct arena *mem,
		    struct checkpoint_items *out, struct error *err);

/* The same of one name; 1 if it is not there. */
int checkpoint_scan_one(int folder, const char *path, const char *name,
			struct arena *mem, struct checkpoint_item *out,
			struct error *err);

#endif
