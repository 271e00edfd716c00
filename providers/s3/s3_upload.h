/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads objects: small ones in one request, others in parts. */
#ifndef JOBRUN_S3_UPLOAD_H
#define JOBRUN_S3_UPLOAD_H

#include "core/data/object_store.h"
#include "providers/s3/s3.h"

/*
 * Uploads a regular file from its start.  Each request carries a CRC-32C, which
 * the store checks; `*crc32c` becomes that of the whole file.  Returns 1 if
 * another object is there and may not be replaced.
 */
int s3_upload(struct s3 *s3, const char *bucket, const char *key, int fd,
	      const struct object_put *how, uint32_t *crc32c, uint64_t *size,
	      struct error *err);

#endif
