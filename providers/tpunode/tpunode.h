/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cloud TPU nodes: the TPU is another machine, and a group of VMs, one for each
 * of its hosts, drives it through gRPC.  A template, the group and the node are
 * made, the job's tasks run on the VMs over ssh, and all of it is deleted after
 * the run.
 */
#ifndef JOBRUN_TPUNODE_H
#define JOBRUN_TPUNODE_H

#include "core/provider/provider.h"
#include "providers/google/tpu/tpu_ctx.h"

/* For struct tpu_maker. */
int tpu_node_request(void *ctx, const struct resource *want,
		     const struct tpu_places *places, const char *zone,
		     struct arena *mem, const char **operation,
		     struct error *err);

extern const struct provider provider_tpu_node;
extern const struct kind kind_disk_image;
extern const struct kind kind_kept_image;
extern const struct kind kind_instance_template;
extern const struct kind kind_instance_group;
extern const struct kind kind_tpu_node;
extern const struct field_use tpu_node_uses[];

#endif
