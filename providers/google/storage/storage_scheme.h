/* SPDX-License-Identifier: Apache-2.0 */
/* gs:// URLs for core/stream/stream.h. */
#ifndef JOBRUN_STORAGE_SCHEME_H
#define JOBRUN_STORAGE_SCHEME_H

#include "core/stream/stream.h"
#include "providers/google/google.h"

#define STORAGE_PREFIX "gs://"

/* Borrows `google` for as long as `out` is used. */
void storage_scheme_init(struct google *google, struct stream_scheme *out);

#endif
