/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages that create a TPU node and the VMs beside it, for Compute Engine
 * v1 and tpu.googleapis.com v1.  All resources of a job have the same name.
 */
#ifndef JOBRUN_TPUNODE_BODY_H
#define JOBRUN_TPUNODE_BODY_H

#include <jansson.h>

#include "core/provider/provider.h"
#include "providers/google/tpu/tpu_places.h"
#include "providers/tpunode/tpunode_block.h"

/* The request bodies; all return new. */
json_t *tpu_node_template(const struct job *job,
			  const struct tpu_node_block *block, const char *name);
json_t *tpu_node_group(const struct job *job, const char *name, unsigned hosts);
json_t *tpu_node_node(const struct job *job, const struct tpu_node_block *block,
		      const struct slice *slice);

/* Labels the resource with the longest time that the job may need it. */
void tpu_node_expire(json_t *labels, const struct job *job, int64_t now_ms);

/* The place of one of them. */
struct tpu_node_place {
	const char *project;
	const char *zone;
};

/* The template to be sent now, for VMs in any of these places; `key` is the
 * public key of `user`; either may be NULL. */
json_t *tpu_node_template_now(const struct resource *want,
			      const struct tpu_places *places, const char *user,
			      const char *key, int64_t now_ms);
/* The labels of a node with the expiry moved to the longest time that it may be
 * needed. */
json_t *tpu_node_node_now(const struct resource *want, int64_t now_ms);

/* "projects/P/zones/Z/instanceGroupManagers" and so on; returns new. */
char *tpu_node_collection(const char *kind, const struct tpu_node_place *place);

#endif
