/* SPDX-License-Identifier: Apache-2.0 */
/* All kinds of object stores (core/data/object_store.h). */
#ifndef JOBRUN_STORES_H
#define JOBRUN_STORES_H

#include "core/data/object_store.h"
#include "core/stream/stream.h"

extern const struct object_scheme *const object_schemes[]; /* NULL-terminated */

extern const struct stream_store *const stream_stores[]; /* NULL-terminated */

#endif
