/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpuvm/tpuvm_block.h"

#include "providers/google/tpu/tpu_fields.h"
#include "providers/tpuvm/tpuvm_fit.h"

static const char *const xrt_server_names[] = {
	[XRT_SERVER_NONE] = "none",
	[XRT_SERVER_START] = "start",
	[XRT_SERVER_RESTART] = "restart",
	NULL,
};

static const struct field fields[] = {
	{ .name = "runtimeVersion",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_vm_block, runtime_version),
	  .doc = "The software of the TPU VMs, for instance "
		 "tpu-ubuntu2204-base." },
	{ .name = "topology",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_vm_block, topology),
	  .doc = "The topology of the slice in chips, for instance 2x2x4, "
		 "where its size allows several." },
	{ .name = "zones",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct tpu_vm_block, zones),
	  .doc = "More zones to try, in this order, when jobrun.zone has no "
		 "TPUs left." },
	TPU_FIELD_WAIT(struct tpu_vm_block),
	{ .name = "spot",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .fallback_1 = "false",
	  .offset = offsetof(struct tpu_vm_block, spot),
	  .doc = "Whether to take a cheaper TPU that the service may take away "
		 "at any time." },
	{ .name = "preemptible",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .fallback_1 = "false",
	  .offset = offsetof(struct tpu_vm_block, preemptible),
	  .deprecated = "use spot",
	  .doc = "The older form of spot: for at most 24 hours." },
	{ .name = "flexStart",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct tpu_vm_block, flex_start),
	  .doc = "Whether to wait in the service's queue for a cheaper TPU "
		 "that stays for scheduling.maxRunningTime, by default and at "
		 "most a week; the service then deletes it." },
	{ .name = "reservation",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_vm_block, reservation),
	  .doc = "The reservation to take it from, by name in the zone or by "
		 "path in the API." },
	{ .name = "queued",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .fallback_1 = "false",
	  .offset = offsetof(struct tpu_vm_block, queued),
	  .doc = "Whether to wait in the service's queue for it." },
	{ .name = "slices",
	  .type = FIELD_INT,
	  .fallback = "1",
	  .fallback_1 = "1",
	  .offset = offsetof(struct tpu_vm_block, slices),
	  .doc = "How many TPUs of this type train together (multislice); more "
		 "than one wait in the service's queue, and are created and "
		 "deleted together." },
	{ .name = "validFor",
	  .type = FIELD_DURATION,
	  .offset = offsetof(struct tpu_vm_block, valid_for_s),
	  .doc = "How long to wait there." },
	{ .name = "validAfter",
	  .type = FIELD_STRING,
	  .check = check_time,
	  .offset = offsetof(struct tpu_vm_block, valid_after),
	  .doc = "The earliest time at which the queue may create the TPU, for "
		 "instance 2026-12-01T08:00:00Z." },
	{ .name = "validUntil",
	  .type = FIELD_STRING,
	  .check = check_time,
	  .offset = offsetof(struct tpu_vm_block, valid_until),
	  .doc = "The latest time at which it may; after that jobrun tries the "
		 "next zone, or the run fails." },
	TPU_FIELDS_REACH(struct tpu_vm_block),
	TPU_FIELDS_RIGHTS(struct tpu_vm_block),
	{ .name = "disks",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct tpu_vm_block, disks),
	  .doc = "Existing disks to attach, by name or by path in the API; "
		 "NAME:ro is read-only." },
	TPU_FIELDS_BOOT(struct tpu_vm_block),
	{ .name = "xrtServer",
	  .type = FIELD_ENUM,
	  .values = xrt_server_names,
	  .offset = offsetof(struct tpu_vm_block, xrt_server),
	  .doc = "Whether to start XRT's server on each VM before every "
		 "attempt, for programs of PyTorch/XLA before 2.1 that do not "
		 "use PJRT.  start keeps one that already runs there; restart "
		 "ends it first, like xla_dist's --restart-tpuvm-pod-server.  "
		 "The program gets the variables of xla_dist instead of "
		 "PJRT's." },
	TPU_FIELDS_SSH(struct tpu_vm_block),
	{ .name = "lease",
	  .type = FIELD_DURATION,
	  .fallback = "1h",
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_vm_block, lease_s),
	  .doc = "How long the TPU stays without hearing from jobrun; then it "
		 "deletes itself, and gc deletes it." },
	TPU_FIELD_LOOK(struct tpu_vm_block),
	{ .name = NULL },
};

const struct message tpu_vm_message = {
	.name = "TpuVmBlock",
	.doc = "Settings for Cloud TPU VMs.",
	.size = sizeof(struct tpu_vm_block),
	.fields = fields,
	.fit = tpu_vm_fit,
};
