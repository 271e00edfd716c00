/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists that many looks share.  From the third thing on that is looked for in
 * one place, the whole place is listed, and no longer each thing asked for.
 * The threads of a process share the lists, or, with a folder, all processes
 * that use this folder.  A place that may not be listed, or has too much in it,
 * is left alone for some minutes.
 */
#ifndef JOBRUN_SHARED_LIST_H
#define JOBRUN_SHARED_LIST_H

#include <jansson.h>
#include <pthread.h>
#include <stdint.h>

#include "core/base/error.h"

struct shared_lists {
	char *folder;         /* owned; NULL: the lists are in `places` */
	pthread_mutex_t lock; /* for the following member */
	json_t *places;
};

/* The folder, which is copied, is made when it is needed. */
void shared_lists_init(struct shared_lists *lists, const char *folder);
void shared_lists_done(struct shared_lists *lists);
/* Something has changed: all lists of this process are out of date. */
void shared_lists_forget(struct shared_lists *lists);

struct shared_look {
	const char *place; /* what is listed: its URL */
	const char *name;  /* what is looked for there */
	int64_t recent_ms; /* earlier looks for other things count; 0: all do */
	int64_t fresh_ms;  /* the greatest age of a list; 0: any */
	/* Sets `out`, new, to whatever the caller keeps of the place.  1: too
	 * much is there.  With a folder it is written to a file. */
	int (*list)(void *arg, json_t **out, struct error *err);
	void *arg;
};

/* Returns the list, new, or NULL: ask for the thing by itself.  Waits while
 * another thread or process lists the place, for a few seconds at most. */
json_t *shared_lists_look(struct shared_lists *lists,
			  const struct shared_look *look);

#endif
