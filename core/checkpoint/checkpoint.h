/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checkpoint: the files that a trainer has written under one name, and the
 * state of training at that time.  This struct describes it, for people and for
 * the manifest beside the uploaded files.
 */
#ifndef JOBRUN_CHECKPOINT_H
#define JOBRUN_CHECKPOINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

/* The limits of a manifest, and of the files of one checkpoint. */
#define CHECKPOINT_MANIFEST_MAX (64 << 20)
#define CHECKPOINT_FILES_MAX 100000

struct checkpoint_file {
	/* relative to the folder that has `name`: "step-3/model.pt" */
	const char *path;
	uint64_t size_bytes;
	const char *crc32c; /* as by crc32c_format(); "" if not known */
	const char *link;   /* where a symbolic link leads; NULL: a file */
};

struct checkpoint {
	/* "model.pt", "step-300", for TensorFlow "ckpt-3" */
	const char *name;
	int64_t time_ms;    /* of the last change */
	int64_t step;       /* -1: not known */
	double epoch;       /* -1: not known */
	const char *metric; /* the name of `value`, or NULL */
	double value;       /* NaN: not known */
	int attempt;        /* of the run; 0: not known */
	struct checkpoint_file *files;
	size_t file_count;
	uint64_t size_bytes; /* of all files */
	/* Its number in the checkpoint store, counted up from 1; 0: not
	 * stored. */
	long number;
};

/* How to compare checkpoints. */
struct checkpoint_order {
	const char *metric; /* NULL: the newer one is better */
	bool maximize;
};

/* Whether a symbolic link at that path leads to something in the same
 * checkpoint, wherever that is. */
bool checkpoint_link_is_inside(const char *path, const char *link);

/* Makes the manifest.  Returns new. */
json_t *checkpoint_json(const struct checkpoint *checkpoint);
/* Refuses incomplete manifests, and paths that lead outside. */
int checkpoint_from_json(const json_t *value, struct arena *mem,
			 struct checkpoint *out, struct error *err);

/* Copies it with all that it points to. */
struct checkpoint checkpoint_copy(const struct checkpoint *from,
				  struct arena *mem);

/* < 0 if `a` is preferred to `b`: the newer first. */
int checkpoint_compare_age(const struct checkpoint *a,
			   const struct checkpoint *b);
/* Sorts the better one first; checkpoints with an unknown value come last, and
 * among equals the newer is first. */
int checkpoint_compare_worth(const struct checkpoint *a,
			     const struct checkpoint *b,
			     const struct checkpoint_order *order);

/*
 * Marks in `kept` which of `count` checkpoints to keep if `keep` may stay: the
 * newest, from which a run resumes, and the best ones.
 */
void checkpoint_keep(const struct checkpoint *all, size_t count, size_t keep,
		     const struct checkpoint_order *order, bool *kept);

/* "step 300, accuracy 93.1": the known facts, or "". */
void checkpoint_describe(const struct checkpoint *checkpoint, char *out,
			 size_t size);

/* The step in a name, which is the last number that stands alone in it:
 * "model-300.pt" and "epoch=3-step=300.ckpt" give 300, "resnet50.pt" gives -1:
 * none. */
int64_t checkpoint_name_step(const char *name);

#endif
