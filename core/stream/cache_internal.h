/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of a cache: cache.c has the folder and divides its space,
 * cache_entry.c has the form of an object in it. */
#ifndef JOBRUN_CACHE_INTERNAL_H
#define JOBRUN_CACHE_INTERNAL_H

#include <pthread.h>

#include "core/stream/cache.h"

#define CACHE_NAME_SIZE 80

struct cache {
	char *folder;
	int fd; /* of the folder */
	uint64_t limit;

	pthread_mutex_t mutex; /* held with the lock of the file */
	int lock_fd;

	pthread_mutex_t trouble_mutex;
	bool troubled;
	struct error trouble;
};

/* The file name of the entry for a URL. */
int cache_name(const char *url, char name[CACHE_NAME_SIZE], struct error *err);

/*
 * A new file of that size, which counts from now on, locked; its name goes into
 * `name`.  -1: there is no room for it, which is no trouble if it is larger
 * than the cache may be.
 */
int cache_reserve(struct cache *cache, uint64_t bytes,
		  char name[CACHE_NAME_SIZE]);
/* Renames a file of cache_reserve() to that of an entry, whose place it takes.
 */
int cache_publish(struct cache *cache, const char *from, const char *to);
/* Deletes `name` if it is still the file that `fd` is of. */
void cache_delete(struct cache *cache, const char *name, int fd);

/* Keeps the first reason only. */
void cache_note(struct cache *cache, const struct error *why);

#endif
