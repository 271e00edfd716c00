/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk image for the VMs beside a TPU node, made from the boot disk of a
 * stopped VM, so that its set-up need not be repeated for each run.  It is
 * deleted with the run, or kept for the next: two kinds that differ only in
 * that.
 */
#ifndef JOBRUN_IMAGE_H
#define JOBRUN_IMAGE_H

#include "core/provider/provider.h"
#include "providers/tpunode/tpunode_block.h"

/* Adds the image that `imageFrom` asks for; NULL if it is not set. */
struct resource *tpu_node_add_image(const struct job *job,
				    const struct tpu_node_block *block,
				    const char *name, struct resources *out);

#endif
