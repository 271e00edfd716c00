/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds checkpoints in a trainer's directory: each name there is one, be it a
 * file or a folder with all below it.  TensorFlow's "ckpt-3.index" and
 * "ckpt-3.data-00000-of-00001" are one, "ckpt-3".
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
	/* Changes with every change of the checkpoint's files, their sizes,
	 * inodes and times. */
	const char *signature;
	/* A file of a TensorFlow checkpoint is missing. */
	bool is_partial;
};

struct checkpoint_items {
	struct checkpoint_item *items; /* by name */
	size_t count;
};

/* Whether the file is one of several of its checkpoint, which has another
 * name. */
bool checkpoint_scan_is_part(const char *file);

/* `folder` is a descriptor, `path` its name in messages.  The result lives in
 * `mem`.  Files that vanish meanwhile are left out. */
int checkpoint_scan(int folder, const char *path, struct arena *mem,
		    struct checkpoint_items *out, struct error *err);

/* The same for one name; returns 1 if it is missing. */
int checkpoint_scan_one(int folder, const char *path, const char *name,
			struct arena *mem, struct checkpoint_item *out,
			struct error *err);

#endif
