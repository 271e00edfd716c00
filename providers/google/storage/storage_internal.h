/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by storage.c and storage_transfer.c. */
#ifndef JOBRUN_STORAGE_INTERNAL_H
#define JOBRUN_STORAGE_INTERNAL_H

#include "providers/google/storage/storage.h"

/* Adds "b/BUCKET/o/OBJECT", encoded; without "/OBJECT" if `object` is NULL. */
void storage_path_add(struct buf *out, const char *bucket, const char *object);
void storage_object_read(const json_t *body, struct arena *mem,
			 struct storage_object *out);

#endif
