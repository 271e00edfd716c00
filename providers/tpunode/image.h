/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk image for the VMs beside a TPU node, of the boot disk of a VM that
 * has been stopped: what was set up there once need not be for each run.  It
 * goes with the run, or is kept for the next: two kinds, alike but for that.
 */
#ifndef JOBRUN_IMAGE_H
#define JOBRUN_IMAGE_H

#include "core/provider/provider.h"
#include "providers/tpunode/tpunode_block.h"

/* Adds what `imageFrom` asks for: NULL if nothing. */
struct resource *tpu_node_add_image(const struct job *job,
				    const struct tpu_node_block *block,
				    const char *name, struct resources *out);

#endif
