/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpuvm/block.h"

static const struct field fields[] = {
	{ .name = "runtimeVersion",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_vm_block, runtime_version),
	  .doc = "The software of the TPU VMs, for instance "
		 "tpu-ubuntu2204-base." },
	{ .name = "zones",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct tpu_vm_block, zones),
	  .doc = "Zones to try one after the other, if jobrun.zone has "
		 "no TPUs left." },
	{ .name = "spot",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .offset = offsetof(struct tpu_vm_block, spot),
	  .doc = "Whether the TPU may be taken away at any time, for "
		 "less money." },
	{ .name = "reservation",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_vm_block, reservation),
	  .doc = "The reservation to take it from." },
	{ .name = "queued",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .offset = offsetof(struct tpu_vm_block, queued),
	  .doc = "Whether to wait in the service's queue for it." },
	{ .name = "validFor",
	  .type = FIELD_DURATION,
	  .offset = offsetof(struct tpu_vm_block, valid_for_s),
	  .doc = "How long to wait there." },
	{ .name = "externalIps",
	  .type = FIELD_BOOL,
	  .fallback = "true",
	  .offset = offsetof(struct tpu_vm_block, external_ips),
	  .doc = "Whether the VMs have addresses that can be reached "
		 "from outside." },
	{ .name = "subnetwork",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_vm_block, subnetwork),
	  .doc = "The subnetwork of the VMs." },
	{ .name = "metadata",
	  .type = FIELD_PAIRS,
	  .offset = offsetof(struct tpu_vm_block, metadata),
	  .doc = "Metadata of the VMs." },
	{ .name = NULL },
};

const struct message tpu_vm_message = {
	.name = "TpuVmBlock",
	.doc = "What only tpu-vm has.",
	.size = sizeof(struct tpu_vm_block),
	.fields = fields,
};
