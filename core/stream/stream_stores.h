/* SPDX-License-Identifier: Apache-2.0 */
/* All stores of a stream, each with a scheme that reaches it. */
#ifndef JOBRUN_STREAM_STORES_H
#define JOBRUN_STREAM_STORES_H

#include "core/stream/stream.h"

struct stream_stores;

/* `list` is NULL-terminated and borrowed.  Until stream_stores_open() the
 * schemes only know their URLs. */
struct stream_stores *stream_stores_new(const struct stream_store *const *list);
void stream_stores_free(struct stream_stores *stores); /* accepts NULL */

/* Borrows `http`. */
void stream_stores_open(struct stream_stores *stores, struct http *http);

/* For struct stream_options; NULL if there is no store. */
const struct stream_scheme *
stream_stores_scheme(const struct stream_stores *stores);

#endif
