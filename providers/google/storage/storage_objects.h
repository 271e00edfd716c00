/* SPDX-License-Identifier: Apache-2.0 */
/* gs:// for core/data/object_store.h and core/stream/stream.h. */
#ifndef JOBRUN_STORAGE_OBJECTS_H
#define JOBRUN_STORAGE_OBJECTS_H

#include "core/data/object_store.h"
#include "core/stream/stream.h"

extern const struct object_scheme object_scheme_google;
extern const struct stream_store stream_store_google; /* storage_scheme.c */

#endif
