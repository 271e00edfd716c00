/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the objects of a bucket (ListObjectsV2). */
#ifndef JOBRUN_S3_LIST_H
#define JOBRUN_S3_LIST_H

#include "providers/s3/s3.h"

/* Valid during the call that gets it. */
struct s3_entry {
	const char *key;
	const char *tag; /* its ETag, with the quotes */
	uint64_t size;   /* bytes */
};

/* Calls `each` for all objects whose key begins with the prefix, page after
 * page; -1 from it stops. */
int s3_list(struct s3 *s3, const char *bucket, const char *prefix,
	    int (*each)(void *arg, const struct s3_entry *entry,
			struct error *err),
	    void *arg, struct error *err);

#endif
