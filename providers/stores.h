/* SPDX-License-Identifier: Apache-2.0 */
/* All stores of objects there are (core/data/object_store.h). */
#ifndef JOBRUN_STORES_H
#define JOBRUN_STORES_H

#include "core/data/object_store.h"
#include "core/data/stream.h"

extern const struct object_scheme *const object_schemes[]; /* up to NULL */

/* Where streams come from by more than their URLs. */
struct stream_store {
	const char *prefix; /* of its URLs: "gs://" */
	/* Returns new; `out` works until it is closed.  Borrows `http`. */
	void *(*open)(struct http *http, struct stream_scheme *out);
	void (*close)(void *ctx); /* NULL does nothing */
};

/* Cloud Storage: google/storage/storage_scheme.c. */
extern const struct stream_store stream_store_google;

#endif
