/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that came over the network, cached in a folder of this machine.
 *
 *	DIR/KEY.object	   one object; KEY is the SHA-256 of its URL
 *	DIR/NUMBER.new	   one being written, locked by its writer
 *	DIR/lock	   the number of bytes; locked while that changes
 *
 * Any number of processes may use a folder at once, and each may be killed at
 * any instant.  An object appears complete, by a rename; a reader of one that
 * is deleted or replaced keeps reading the old one.  Each block has a checksum,
 * so nothing has to be synced: a block that the disk lost or changed is
 * noticed, and fetched again.  Nothing else in the folder is touched.
 *
 * A cache never makes a stream fail: it skips what it cannot keep, and
 * cache_trouble() says why.
 */
#ifndef JOBRUN_CACHE_H
#define JOBRUN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define CACHE_BLOCK (256u << 10)

struct cache;
struct cache_entry;  /* being read */
struct cache_writer; /* being written */

/* The version of an object; strings are NULL if unknown. */
struct cache_version {
	uint64_t size; /* bytes */
	const char *etag, *modified, *generation;
	/* as by crc32c_format(); always known for an entry */
	const char *crc32c;
};

/*
 * Makes the folder if it is missing.  `limit` is the most bytes that all
 * objects there may have together, including unfinished ones; beyond it, the
 * least recently used are evicted.  The folder must belong to this user, and be
 * writable by nobody else.
 */
struct cache *cache_open(const char *folder, uint64_t limit, struct error *err);
/* All of its entries and writers must be closed. */
void cache_close(struct cache *cache);
/* Returns true with the first reason why an object was not kept, if there is
 * one. */
bool cache_trouble(struct cache *cache, struct error *why);

/* All of the following may be called from several threads, each with its own
 * entries and writers. */

/* Returns new, or NULL if the object is missing or damaged.  Counts as a
 * use. */
struct cache_entry *cache_find(struct cache *cache, const char *url);
void cache_entry_close(struct cache_entry *entry);
/* Borrowed from the entry. */
const struct cache_version *
cache_entry_version(const struct cache_entry *entry);
/* Reads the block at `number` * CACHE_BLOCK, of `*len` bytes; -1: it is
 * damaged. */
int cache_entry_read(struct cache_entry *entry, uint64_t number,
		     char data[CACHE_BLOCK], size_t *len);
/* Deletes a damaged entry. */
void cache_entry_discard(struct cache_entry *entry);

/* Makes room for an object.  Returns new, or NULL: the cache will not keep the
 * object. */
struct cache_writer *cache_writer_new(struct cache *cache, const char *url,
				      uint64_t size);
void cache_writer_add(struct cache_writer *writer, const void *data,
		      size_t len);
/* To be called when the object is complete and correct: it replaces the entry
 * of this URL.  `version->crc32c` is ignored.  The caller still frees the
 * writer. */
void cache_writer_end(struct cache_writer *writer,
		      const struct cache_version *version);
/* Frees the writer, and discards an object that was not ended. */
void cache_writer_free(struct cache_writer *writer);

#endif
