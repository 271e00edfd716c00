/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of a set of shards: the file `shards.json` beside them, which
 * `jobrun shard` writes last, so that a set with an index is complete.
 *
 *	{
 *	  "formatVersion": 1,
 *	  "samples": 2,
 *	  "files": 4,
 *	  "bytes": 30720,
 *	  "classes": ["cat", "dog"],
 *	  "shards": [
 *	    {
 *	      "name": "train-000000.tar",
 *	      "samples": 2,
 *	      "files": 4,
 *	      "bytes": 30720,
 *	      "crc32c": "yZRlqg==",
 *	      "sha256": "9f86d081..."
 *	    }
 *	  ]
 *	}
 *
 * Shards are listed in order.  `classes` is present if samples have a class
 * (`.cls`), whose number is an index into that list; `sha256` if it was asked
 * for.  A shard that is not beside the index has its `url`, as in a set over
 * several buckets, which others put together from several.  Equal shards give an
 * identical index.  Unknown keys are ignored.
 */
#ifndef JOBRUN_SHARD_INDEX_H
#define JOBRUN_SHARD_INDEX_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/digest.h"
#include "core/base/error.h"

#define SHARD_INDEX_NAME "shards.json"
/* The largest index that is read: about 400,000 shards. */
#define SHARD_INDEX_MAX (64 << 20)

struct shard_entry {
	/* of a file, beside the index unless `url` says where it is, so without
	 * a slash */
	const char *name;
	const char *url;      /* or NULL; ends in `name` */
	uint64_t samples;     /* in the shard; never 0 */
	uint64_t files;       /* in the shard; each sample has at least one */
	uint64_t bytes;       /* the size of the tar file */
	char crc32c[9];       /* of the tar file, as by crc32c_format() */
	struct digest sha256; /* of the tar file; "" if not asked for */
};

struct shard_index {
	struct shard_entry *shards;
	size_t count; /* never 0 in an index that was read */
	const char **classes;
	size_t class_count; /* 0: samples have no class */
	/* The sums over all shards, set by shard_index_sum(). */
	uint64_t samples, files, bytes;
};

/* Sets the three sums; -1 if they don't fit into 63 bits. */
int shard_index_sum(struct shard_index *index);

/*
 * Reads an index of `len` bytes; errors, which are ERROR_INVALID, call it
 * `name`.  Refuses shard names with a slash or used twice, and sums that do not
 * match the shards.  The result lives in `mem`.
 */
int shard_index_parse(const char *text, size_t len, const char *name,
		      struct arena *mem, struct shard_index *out,
		      struct error *err);
/* Reads the index from a file. */
int shard_index_read(const char *root, const char *path, struct arena *mem,
		     struct shard_index *out, struct error *err);

/* Adds the contents of the index file. */
void shard_index_print(const struct shard_index *index, struct buf *out);

/* Convert one shard; shard_entry_json() returns new. */
json_t *shard_entry_json(const struct shard_entry *entry);
int shard_entry_read(const json_t *json, struct arena *mem,
		     struct shard_entry *out, struct error *err);

#endif
