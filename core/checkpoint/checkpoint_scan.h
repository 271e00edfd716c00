/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds checkpoints in a trainer's directory: each name there is one, be it a
 * file or a folder with all below it.  TensorFlow's "ckpt-3.index" and
 * "ckpt-3.data-00000-of-00001" are one, "ckpt-3".
 *
 * Hidden names, unfinished files ("x.tmp", "x.partial", "tmp-x", Orbax's
 * "x.orbax-checkpoint-tmp-1"), links and the lists of TensorFlow
 * ("checkpoint"), DeepSpeed and Megatron ("latest...") are left out.  A symbolic link within a folder is part of the checkpoint.
 */
#ifndef JOBRUN_CHECKPOINT_SCAN_H
#define JOBRUN_CHECKPOINT_SCAN_H

#include "core/checkpoint/checkpoint.h"

/* What the files of a folder say of it. */
enum checkpoint_word {
	CHECKPOINT_NO_WORD,
	/* the file that its format writes last is there */
	CHECKPOINT_LAST_FILE,
	/* a file that means "complete" is there, or a list names the folder,
	 * and no file is newer */
	CHECKPOINT_COMMITTED,
};

/* What 'jobrun checkpoint commit' puts into a folder. */
#define CHECKPOINT_COMMIT "COMPLETE"

struct checkpoint_item {
	struct checkpoint what; /* name, time, files (without CRCs), sizes */
	/* Changes with every change of the checkpoint's files, their sizes,
	 * inodes and times. */
	const char *signature;
	/* A file of a TensorFlow checkpoint is missing, or a link leads out of
	 * the checkpoint. */
	bool is_partial;
	const char *stray_link; /* such a link, or NULL */
	bool is_folder;
	enum checkpoint_word word; /* of a folder */
	int64_t first_ms;          /* the time of its oldest file or folder */
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
