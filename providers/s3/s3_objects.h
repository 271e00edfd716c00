/* SPDX-License-Identifier: Apache-2.0 */
/* s3:// for core/data/object_store.h and core/stream/stream.h. */
#ifndef JOBRUN_S3_OBJECTS_H
#define JOBRUN_S3_OBJECTS_H

#include "core/data/object_store.h"
#include "core/stream/stream.h"

extern const struct object_scheme object_scheme_s3;
extern const struct stream_store stream_store_s3; /* s3_stream.c */

#endif
