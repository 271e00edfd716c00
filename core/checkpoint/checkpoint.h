/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checkpoint: the files that a trainer has written under one name, and the
 * state of the training then.  This is its description, for people and in the
 * manifest beside the uploaded files.
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
	const char *path; /* from where the name is: "step-3/model.pt" */
	uint64_t size_bytes;
	const char *crc32c; /* as crc32c_format() has it; "" if not known */
};

struct checkpoint {
	const char *name;   /* "model.pt", "step-300", of TensorFlow "ckpt-3" */
	int64_t time_ms;    /* of its last change */
	int64_t step;       /* -1: not known */
	double epoch;       /* -1: not known */
	const char *metric; /* the name of `value`, or NULL */
	double value;       /* NaN: not known */
	int attempt;        /* at the run; 0: not known */
	struct checkpoint_file *files;
	size_t file_count;
	uint64_t size_bytes; /* of all files */
	/* Where it is kept: rising from 1, 0 if it is not. */
	long number;
};

/* How checkpoints compare. */
struct checkpoint_order {
	const char *metric; /* NULL: the newer one is the better one */
	bool maximize;
};

/* The manifest.  Returns new. */
json_t *checkpoint_json(const struct checkpoint *checkpoint);
/* Refuses what is incomplete, and paths that lead elsewhere. */
int checkpoint_from_json(const json_t *value, struct arena *mem,
			 struct checkpoint *out, struct error *err);

/* < 0 if `a` is preferred to `b`: the newer first. */
int checkpoint_compare_age(const struct checkpoint *a,
			   const struct checkpoint *b);
/* The better one first; those whose value is not known come last, and of
 * equals the newer first. */
int checkpoint_compare_worth(const struct checkpoint *a,
			     const struct checkpoint *b,
			     const struct checkpoint_order *order);

/*
 * Marks in `kept` the checkpoints among `count` to keep when `keep` may stay:
 * the newest, which a run resumes from, and the best ones.
 */
void checkpoint_keep(const struct checkpoint *all, size_t count, size_t keep,
		     const struct checkpoint_order *order, bool *kept);

/* "step 300, accuracy 93.1": what is known, or "". */
void checkpoint_describe(const struct checkpoint *checkpoint, char *out,
			 size_t size);

/* The step that a name says, the last number that stands alone in it:
 * "model-300.pt" and "epoch=3-step=300.ckpt" give 300, "resnet50.pt" gives -1:
 * none. */
int64_t checkpoint_name_step(const char *name);

#endif
