/* SPDX-License-Identifier: Apache-2.0 */
/* The packages of a managed run, as resources beside it. */
#include "providers/google/managed/managed.h"
#include "providers/google/storage/staging.h"

static int object_read(void *ctx, const struct resource *want,
		       struct resource *found, struct error *err)
{
	return staging_read(managed_google(ctx), want, found, err);
}

static int object_create(void *ctx, const struct resource *want,
			 struct error *err)
{
	return staging_create(managed_google(ctx), want, err);
}

static int object_delete(void *ctx, const struct resource *have,
			 struct error *err)
{
	return staging_delete(managed_google(ctx), have, err);
}

const struct kind managed_object = {
	.name = "storage-object",
	.read = object_read,
	.create = object_create,
	.delete = object_delete,
};
