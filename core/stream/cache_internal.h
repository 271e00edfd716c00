/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of a cache: cache.c has the folder and manages its space,
 * cache_entry.c has the format of an object in it. */
#ifndef JOBRUN_CACHE_INTERNAL_H
#define JOBRUN_CACHE_INTERNAL_H

#include <pthread.h>

#include "core/stream/cache.h"

#define CACHE_NAME_SIZE 80

struct cache {
	char *folder;
	int fd; /* of the folder */
	uint64_t limit;

	pthread_mutex_t mutex; /* held together with the lock of the file */
	int lock_fd;

	pthread_mutex_t trouble_mutex;
	bool troubled;
	struct error trouble;
};

/* The file name of the entry for a URL. */
void cache_name(const char *url, char name[CACHE_NAME_SIZE]);

/*
 * Makes a new, locked file of that size, which counts from now on; its name
 * goes into `name`. -1: there is no room for it; if it is larger than the whole
 * cache, that is not reported.
 */
int cache_reserve(struct cache *cache, uint64_t bytes,
		  char name[CACHE_NAME_SIZE]);
/* Renames a file of cache_reserve() to the name of an entry, and replaces
 * that. */
int cache_publish(struct cache *cache, const char *from, const char *to);
/* Deletes `name` if it is still the file open as `fd`. */
void cache_delete(struct cache *cache, const char *name, int fd);

/* Records the reason, if it is the first. */
void cache_note(struct cache *cache, const struct error *why);

#endif
