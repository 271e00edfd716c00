/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpunode/vms.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/provider/provider.h"
#include "providers/google/compute.h"
#include "providers/google/tpu/tpu_ctx.h"
#include "providers/google/tpu/tpu_places.h"
#include "providers/tpunode/tpunode.h"
#include "providers/tpunode/tpunode_body.h"
#include "providers/tpunode/tpunode_place.h"

bool tpu_node_place_at(const struct resource *it,
		       const struct tpu_places *places, size_t i,
		       struct tpu_node_place *out)
{
	/* Templates and images are global. */
	bool zonal = it->kind == &kind_instance_group;
	size_t count = zonal ? places->count : 1;

	if (i >= count)
		return false;
	*out = (struct tpu_node_place){ places->project, places->zones[i] };
	return true;
}

int tpu_node_vms_get(struct tpu_ctx *ctx, const struct resource *it,
		     struct arena *mem, struct tpu_node_place *place,
		     json_t **out, struct error *err)
{
	struct tpu_places places;
	struct tpu_node_place one;
	size_t i;

	*out = NULL;
	if (tpu_places_find(ctx->google, it, mem, &places, err) < 0)
		return -1;
	tpu_node_place_at(it, &places, 0, place);
	for (i = 0; !*out && tpu_node_place_at(it, &places, i, &one); i++) {
		char *path = tpu_node_path(it, &one);
		int ret = compute_get(ctx->google, path, out, err);

		free(path);
		if (ret < 0)
			return -1;
		if (*out)
			*place = one;
	}
	return 0;
}

int tpu_node_vms_insert(struct tpu_ctx *ctx, const struct resource *want,
			const struct tpu_node_place *place, const json_t *body,
			struct error *err)
{
	char *path = tpu_node_collection(want->kind->name, place);
	int ret = compute_insert(ctx->google, want->once, path, body, err);

	free(path);
	return ret;
}

int tpu_node_vms_delete(void *arg, const struct resource *have,
			struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct tpu_places places;
	struct tpu_node_place one;
	int ret = tpu_places_find(ctx->google, have, mem, &places, err);
	size_t i;

	for (i = 0; ret == 0 && tpu_node_place_at(have, &places, i, &one);
	     i++) {
		char *path = tpu_node_path(have, &one);

		ret = compute_delete(ctx->google, have->once, path, err);
		free(path);
	}
	arena_free(mem);
	return ret;
}
