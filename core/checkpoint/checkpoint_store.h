/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place where checkpoints are stored: a bucket, a directory, or anything
 * else that core/data/object_store.h reaches.  Layout below its URL:
 *
 *	00000012/model.pt	the files, as the trainer wrote them
 *	00000012.json		the manifest, written last and removed first
 *
 * A checkpoint counts only with its manifest and all files that the manifest
 * names, so an interrupted upload never counts.  Only one process at a time may
 * write.
 */
#ifndef JOBRUN_CHECKPOINT_STORE_H
#define JOBRUN_CHECKPOINT_STORE_H

#include "core/checkpoint/checkpoint.h"
#include "core/data/object_store.h"

struct checkpoint_store;

/* Borrows its arguments.  Does no I/O. */
struct checkpoint_store *checkpoint_store_open(struct object_store *objects,
					       const char *url);
void checkpoint_store_close(struct checkpoint_store *store);

/*
 * Lists the store; before that, nothing is known.  Calls `skipped` for every
 * checkpoint that does not count, with the reason: incomplete ones, broken
 * manifests.
 */
int checkpoint_store_read(struct checkpoint_store *store,
			  void (*skipped)(void *arg, const char *what,
					  const char *why),
			  void *arg, struct error *err);

/* The complete checkpoints.  Borrowed until the next call that changes them. */
const struct checkpoint *
checkpoint_store_all(const struct checkpoint_store *store, size_t *count);
/* The URL of a checkpoint's folder.  Returns new. */
char *checkpoint_store_place(const struct checkpoint_store *store,
			     const struct checkpoint *one);

struct checkpoint_source {
	int folder; /* the folder that the files' paths are relative to */
	/* Whether the files are still as they were when the upload was decided;
	 * called after each file. */
	bool (*is_same)(void *arg);
	/* Reports that the upload broke and will be retried after a while; or
	 * NULL. */
	void (*broken)(void *arg, const struct error *err);
	void *arg;
};

/*
 * Uploads a checkpoint and then its manifest.  Chooses its number and computes
 * the CRCs of its files.  Returns 1 if the files have changed meanwhile; then
 * the checkpoint is not stored.  Leftovers of a failure do not count.
 */
int checkpoint_store_put(struct checkpoint_store *store,
			 const struct checkpoint *one,
			 const struct checkpoint_source *from, long *number,
			 struct error *err);

/*
 * Downloads a checkpoint into a folder and checks every byte: ERROR_FAILED if
 * it is damaged.  After a failure the caller removes the leftovers.
 */
int checkpoint_store_get(struct checkpoint_store *store,
			 const struct checkpoint *one, const char *folder,
			 struct error *err);

/* Removes checkpoints that need not be kept, and leftovers of incomplete ones.
 * Returns how many complete ones it removed, or -1. */
int checkpoint_store_prune(struct checkpoint_store *store, size_t keep,
			   const struct checkpoint_order *order,
			   struct error *err);

#endif
