/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TPUs on their way: the operation that makes one, the zone that is tried, and
 * until when.  This is remembered by the process that asked for it; another
 * goes on by what it finds at the service.
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
	/* Asks for it in one zone.  `operation` is the path of what that
	 * began, in `mem`; NULL if it was there already. */
	int (*request)(void *arg, const struct resource *want,
		       const struct tpu_places *places, const char *zone,
		       struct arena *mem, const char **operation,
		       struct error *err);
	void *arg;

	pthread_mutex_t lock; /* of what follows */
	struct making *makings;
};

void tpu_maker_init(struct tpu_maker *maker);
void tpu_maker_done(struct tpu_maker *maker);

/* Asks for the TPU, in one zone after the other. */
int making_start(struct tpu_maker *maker, const struct resource *want,
		 struct error *err);

/* Looks how that goes; 1: it goes on, and `err` says what is waited for.  0:
 * there is nothing more to ask than the TPU itself. */
int making_look(struct tpu_maker *maker, const struct resource *want,
		struct error *err);

/* One that was on its way is gone.  If somebody else has asked for it, who may
 * have been killed, nobody looked whether it could be had: it is asked for
 * here, once, and 1 is returned. */
int making_again(struct tpu_maker *maker, const struct resource *want,
		 struct error *err);

/* The zone that was asked has none after all, as `err` says: asks the next one.
 * -1: no zone has any. */
int making_refused(struct tpu_maker *maker, const struct resource *want,
		   const char *zone, struct error *err);

/* Since when it is not usable, as far as this process saw; and that it is, or
 * is not wanted any more. */
int64_t making_since(struct tpu_maker *maker, const char *name);
void making_done(struct tpu_maker *maker, const char *name);

/* True if it is time to renew what must be renewed every `every_s`. */
bool making_renews(struct tpu_maker *maker, const char *name, long every_s);

#endif
