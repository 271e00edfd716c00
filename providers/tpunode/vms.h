/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the Compute Engine resources of a job: they have names, and
 * operations create and delete them. */
#ifndef JOBRUN_VMS_H
#define JOBRUN_VMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct error;
struct resource;
struct tpu_ctx;
struct tpu_node_place;
struct tpu_places;

/* The i-th possible place; false: there are no more. */
bool tpu_node_place_at(const struct resource *it,
		       const struct tpu_places *places, size_t i,
		       struct tpu_node_place *out);

/* Sets `out` to a new value, or to NULL if there is none.  `place` is where it
 * is, or the first possible place; lives in `mem`. */
int tpu_node_vms_get(struct tpu_ctx *ctx, const struct resource *it,
		     struct arena *mem, struct tpu_node_place *place,
		     json_t **out, struct error *err);

int tpu_node_vms_insert(struct tpu_ctx *ctx, const struct resource *want,
			const struct tpu_node_place *place, const json_t *body,
			struct error *err);

/* For the kinds: in whichever place it may be. */
int tpu_node_vms_delete(void *ctx, const struct resource *have,
			struct error *err);

#endif
