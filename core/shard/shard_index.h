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
 * Shards stand in their order.  `classes` is there if samples were given a
 * class (`.cls`), whose number is the place in that list; `sha256` if it was
 * asked for.  Equal shards give an index that is equal to the byte.  Unknown
 * keys are ignored.
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
	const char *name;     /* of a file beside the index: it has no slash */
	uint64_t samples;     /* in it; never 0 */
	uint64_t files;       /* in it: of each sample one or more */
	uint64_t bytes;       /* of the whole tar file */
	char crc32c[9];       /* of the tar file, as crc32c_format() has it */
	struct digest sha256; /* of the tar file; "" if it was not asked for */
};

struct shard_index {
	struct shard_entry *shards;
	size_t count; /* never 0 in an index that was read */
	const char **classes;
	size_t class_count; /* 0: samples have no class */
	/* The sums over all shards, by shard_index_sum(). */
	uint64_t samples, files, bytes;
};

/* Sets the three sums; -1 if they don't fit into 63 bits. */
int shard_index_sum(struct shard_index *index);

/*
 * Reads an index of `len` bytes; `name` is what it is called in errors, which
 * are ERROR_INVALID.  Names of shards with a slash, or twice the same, and
 * sums that are not those of the shards are refused.  All lives in `mem`.
 */
int shard_index_parse(const char *text, size_t len, const char *name,
		      struct arena *mem, struct shard_index *out,
		      struct error *err);
/* Reads the index from a file. */
int shard_index_read(const char *root, const char *path, struct arena *mem,
		     struct shard_index *out, struct error *err);

/* Adds the text of the file. */
void shard_index_print(const struct shard_index *index, struct buf *out);

/* Converts one shard: shard_entry_json() returns new. */
json_t *shard_entry_json(const struct shard_entry *entry);
int shard_entry_read(const json_t *json, struct arena *mem,
		     struct shard_entry *out, struct error *err);

#endif
