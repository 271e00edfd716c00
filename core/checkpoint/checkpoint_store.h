/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place where checkpoints are kept: a bucket or a directory, anything that
 * core/data/object_store.h reaches.  Below its URL:
 *
 *	00000012/model.pt	the files, as the trainer wrote them
 *	00000012.json		the manifest, written last and removed first
 *
 * What has no manifest, or not the files that it names, is no checkpoint: so
 * an interrupted upload never counts.  One process at a time may write.
 */
#ifndef JOBRUN_CHECKPOINT_STORE_H
#define JOBRUN_CHECKPOINT_STORE_H

#include "core/checkpoint/checkpoint.h"
#include "core/data/object_store.h"

struct checkpoint_store;

/* Borrows all.  No I/O. */
struct checkpoint_store *checkpoint_store_open(struct object_store *objects,
					       const char *url);
void checkpoint_store_close(struct checkpoint_store *store);

/*
 * Looks what is there.  Before that, nothing is known.  `skipped` is told of
 * every one that does not count, and why: half ones, broken manifests.
 */
int checkpoint_store_read(struct checkpoint_store *store,
			  void (*skipped)(void *arg, const char *what,
					  const char *why),
			  void *arg, struct error *err);

/* The whole ones.  Borrowed until the next call that changes them. */
const struct checkpoint *
checkpoint_store_all(const struct checkpoint_store *store, size_t *count);
/* Where one of them is: the URL of its folder.  Returns new. */
char *checkpoint_store_place(const struct checkpoint_store *store,
			     const struct checkpoint *one);

struct checkpoint_source {
	int folder; /* in which the paths of the files are */
	/* Whether the files are still as they were when the upload was decided:
	 * asked after each. */
	bool (*is_same)(void *arg);
	/* The upload has broken and goes on after a while; or NULL. */
	void (*broken)(void *arg, const struct error *err);
	void *arg;
};

/*
 * Uploads a checkpoint, and then its manifest.  Chooses its number, and
 * computes the CRCs of its files.  Returns 1 if the files have changed
 * meanwhile: it is not there then.  The remains of a failure do not count.
 */
int checkpoint_store_put(struct checkpoint_store *store,
			 const struct checkpoint *one,
			 const struct checkpoint_source *from, long *number,
			 struct error *err);

/*
 * Fetches one into a folder, and checks each byte: ERROR_FAILED if it is
 * broken.  The caller removes the remains of a failure.
 */
int checkpoint_store_get(struct checkpoint_store *store,
			 const struct checkpoint *one, const char *folder,
			 struct error *err);

/* Removes those that need not be kept, and what is left of half ones.
 * Returns how many whole ones went, or -1. */
int checkpoint_store_prune(struct checkpoint_store *store, size_t keep,
			   const struct checkpoint_order *order,
			   struct error *err);

#endif
