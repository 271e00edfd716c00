/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpunode/tpunode_block.h"

#include "core/job/check.h"
#include "providers/google/tpu/tpu_fields.h"

static const struct field image_fields[] = {
	{ .name = "vm",
	  .type = FIELD_STRING,
	  .check = check_compute,
	  .flags = FIELD_REQUIRED,
	  .offset = offsetof(struct tpu_node_image, vm),
	  .doc = "The VM, which must be stopped: jobrun first makes an image "
		 "of its boot disk." },
	{ .name = "zone",
	  .type = FIELD_STRING,
	  .check = check_compute,
	  .offset = offsetof(struct tpu_node_image, zone),
	  .doc = "Its zone, by default jobrun.zone." },
	{ .name = "stop",
	  .type = FIELD_BOOL,
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_node_image, stop),
	  .doc = "Whether to stop it if it is running; jobrun does not start "
		 "it again." },
	{ .name = "family",
	  .type = FIELD_STRING,
	  .check = check_compute,
	  .offset = offsetof(struct tpu_node_image, family),
	  .doc = "The family that the image joins." },
	{ .name = "keep",
	  .type = FIELD_BOOL,
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_node_image, keep),
	  .doc = "Whether to keep the image for later runs of the job, until "
		 "'jobrun delete'." },
	{ .name = NULL },
};

static const struct message image_message = {
	.name = "TpuNodeImage",
	.doc = "A disk image of a VM.",
	.size = sizeof(struct tpu_node_image),
	.fields = image_fields,
};

static const struct field fields[] = {
	{ .name = "runtimeVersion",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, runtime_version),
	  .doc = "The software of the TPU node, for instance "
		 "pytorch-1.13 or 2.12.0." },
	{ .name = "machineType",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, machine_type),
	  .doc = "The machine type of the VMs, by default "
		 "trainingInput.masterType; one VM for each 8 cores." },
	{ .name = "image",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, image),
	  .doc = "The disk image of the VMs." },
	{ .name = "imageProject",
	  .type = FIELD_STRING,
	  .check = check_project,
	  .offset = offsetof(struct tpu_node_block, image_project),
	  .doc = "The image's project." },
	{ .name = "imageFrom",
	  .type = FIELD_MESSAGE,
	  .message = &image_message,
	  .offset = offsetof(struct tpu_node_block, image_from),
	  .doc = "A VM to make their image from, instead: one on which you "
		 "have tried data, packages and program." },
	{ .name = "condaEnv",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, conda_env),
	  .doc = "The conda environment to run the program in." },
	{ .name = "dockerImage",
	  .type = FIELD_STRING,
	  .check = check_image,
	  .offset = offsetof(struct tpu_node_block, docker_image),
	  .doc = "The container image to run the program in, on each VM." },
	{ .name = "zones",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct tpu_node_block, zones),
	  .doc = "More zones to try, in this order, when jobrun.zone has no "
		 "TPUs left; the VMs follow the TPU." },
	TPU_FIELD_WAIT(struct tpu_node_block),
	{ .name = "preemptible",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .fallback_1 = "false",
	  .offset = offsetof(struct tpu_node_block, preemptible),
	  .doc = "Whether to take a cheaper TPU that the service may take away "
		 "at any time." },
	{ .name = "reserved",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .fallback_1 = "false",
	  .offset = offsetof(struct tpu_node_block, reserved),
	  .doc = "Whether to take it from a reservation of the project." },
	{ .name = "cidrBlock",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, cidr_block),
	  .doc = "The TPU's address range in the network, a free /29 for one "
		 "host; by default the service chooses." },
	TPU_FIELDS_REACH(struct tpu_node_block),
	{ .name = "diskGb",
	  .type = FIELD_INT,
	  .offset = offsetof(struct tpu_node_block, disk_gb),
	  .doc = "The size of the VMs' boot disks in GB; by default that of "
		 "the image." },
	TPU_FIELDS_RIGHTS(struct tpu_node_block),
	{ .name = "disks",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct tpu_node_block, disks),
	  .doc = "Existing disks of the zone to attach to each VM, by name; "
		 "NAME:ro is read-only, which several VMs can share." },
	TPU_FIELDS_BOOT(struct tpu_node_block),
	TPU_FIELDS_SSH(struct tpu_node_block),
	{ .name = "lease",
	  .type = FIELD_DURATION,
	  .fallback = "1h",
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_node_block, lease_s),
	  .doc = "How long the TPU and the VMs stay without hearing from "
		 "jobrun; then the VMs delete both." },
	TPU_FIELD_LOOK(struct tpu_node_block),
	{ .name = NULL },
};

const struct message tpu_node_message = {
	.name = "TpuNodeBlock",
	.doc = "Settings for Cloud TPU nodes.",
	.size = sizeof(struct tpu_node_block),
	.fields = fields,
};
