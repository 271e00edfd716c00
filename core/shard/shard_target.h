/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where shards go: a directory (shard_folder.c), or objects in a store
 * (shard_objects.c).  A shard gets its name when it is complete; the index
 * comes last.  The next process uses or replaces what a killed one left.
 */
#ifndef JOBRUN_SHARD_TARGET_H
#define JOBRUN_SHARD_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/data/object_store.h"
#include "core/shard/shard_index.h"

struct shard_target {
	const struct shard_target_calls *calls;
};

/* A shard that is to be written. */
struct shard_want {
	const char *name;
	struct digest plan; /* shard_plan_digest(), and the settings */
};

/* One thread makes one shard; several threads make shards in parallel. */
struct shard_target_calls {
	/* Refuses a target written by others. */
	int (*prepare)(struct shard_target *target, const char *prefix,
		       struct error *err);
	/*
	 * Whether an earlier process has completed the shard: then fills `out`,
	 * and sets `begun_ns` to when that process began it (since 1970).
	 * NULL: the target cannot tell.
	 */
	bool (*has)(struct shard_target *target, const struct shard_want *want,
		    struct shard_entry *out, int64_t *begun_ns);
	/* Returns an empty regular file for the shard. */
	int (*begin)(struct shard_target *target, const struct shard_want *want,
		     struct error *err);
	/* Gives the complete shard its name.  The caller still owns the
	 * descriptor; a file that is closed without a commit is gone. */
	int (*commit)(struct shard_target *target,
		      const struct shard_want *want, int fd,
		      const struct shard_entry *entry, int64_t begun_ns,
		      struct error *err);
	/* To be called when all shards are written: writes the index, removes
	 * leftovers. */
	int (*finish)(struct shard_target *target,
		      const struct shard_index *index, struct error *err);
	void (*free)(struct shard_target *target);
};

struct shard_target_how {
	bool force; /* replace existing shards */
	bool sync;  /* sync a file to the disk before it gets its name */
};

/* Return new.  The directory is made; ERROR_TRY_AGAIN: another process writes
 * shards to it. */
struct shard_target *shard_folder_open(const char *folder,
				       const struct shard_target_how *how,
				       struct error *err);
/* Borrows the store.  Shards are made in $TMPDIR, one for each thread. */
struct shard_target *shard_objects_open(struct object_store *store,
					const char *url,
					const struct shard_target_how *how);

/* Whether `name` is PREFIX-000000.tar, with any six digits. */
bool shard_name_is(const char *name, const char *prefix);

#endif
