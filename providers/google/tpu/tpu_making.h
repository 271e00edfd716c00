/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TPUs being created: the operation that creates one, the zone that is tried,
 * and the deadline.  Only the process that asked for a TPU remembers this;
 * another one relies on what it finds at the service.
 */
#ifndef JOBRUN_TPU_MAKING_H
#define JOBRUN_TPU_MAKING_H

#include <pthread.h>

#include "providers/google/tpu/tpu.h"
#include "providers/google/tpu/tpu_places.h"

struct making;

/* One per provider; the caller sets the first four. */
struct tpu_maker {
	struct google *google;
	enum tpu_api api;
	/* Asks for the TPU in one zone.  `operation` is the path of the
	 * operation that this began, in `mem`; NULL if the TPU existed
	 * already. */
	int (*request)(void *arg, const struct resource *want,
		       const struct tpu_places *places, const char *zone,
		       struct arena *mem, const char **operation,
		       struct error *err);
	void *arg;

	pthread_mutex_t lock; /* for the following members */
	struct making *makings;
};

void tpu_maker_init(struct tpu_maker *maker);
void tpu_maker_done(struct tpu_maker *maker);

/* Asks for the TPU, in one zone after the other. */
int making_start(struct tpu_maker *maker, const struct resource *want,
		 struct error *err);

/* Looks at the progress; 1: still in progress, and `err` says what is waited
 * for.  0: no more progress is known than the TPU itself shows. */
int making_look(struct tpu_maker *maker, const struct resource *want,
		struct error *err);

/* Handles a TPU that disappeared while it was being created.  If another
 * process asked for it, which may have been killed, nobody checked whether it
 * was available: asks for it again, once, and returns 1. */
int making_again(struct tpu_maker *maker, const struct resource *want,
		 struct error *err);

/* Handles that the zone has no TPU after all, as `err` says: asks the next
 * zone.  -1: no zone has any. */
int making_refused(struct tpu_maker *maker, const struct resource *want,
		   const char *zone, struct error *err);

/* Since when the TPU has been unusable, as far as this process knows; and the
 * call that says that it is usable, or no longer wanted. */
int64_t making_since(struct tpu_maker *maker, const char *name);
void making_done(struct tpu_maker *maker, const char *name);

/* Notes that the TPU was looked at and is not usable yet; and whether that is
 * the last that is known of it, or it was asked for since. */
void making_pending(struct tpu_maker *maker, const char *name);
bool making_is_pending(struct tpu_maker *maker, const char *name);

/* What is to be said of zones that were passed over, as they do not offer it: ""
 * or "; ZONE does not offer it".  Borrowed. */
const char *making_passed(struct tpu_maker *maker, const char *name);

/* Whether it is time to renew something that must be renewed every
 * `every_s`. */
bool making_renews(struct tpu_maker *maker, const char *name, long every_s);

#endif
