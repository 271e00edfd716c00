/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/stores.h"

#include "providers/google/storage/storage_objects.h"
#include "providers/s3/s3_objects.h"

const struct object_scheme *const object_schemes[] = {
	&object_scheme_google,
	&object_scheme_s3,
	&object_scheme_folder,
	NULL,
};

const struct stream_store *const stream_stores[] = {
	&stream_store_google,
	&stream_store_s3,
	NULL,
};
