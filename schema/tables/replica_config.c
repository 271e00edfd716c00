/* SPDX-License-Identifier: Apache-2.0 */
/* The machine and the image of one kind of replica: masterConfig and the
 * like. */
#include "core/job/check.h"
#include "core/job/traits.h"
#include "schema/tables/tables.h"

#include "core/job/job.h"

static const char *const disk_names[] = { "pd-ssd", "pd-standard", NULL };

static const struct field accelerator_config_fields[] = {
	{ .name = "count",
	  .type = FIELD_INT,
	  .flags = FIELD_INT64,
	  .min = 1,
	  .max = 100000,
	  .offset = offsetof(struct accelerator_config, count),
	  .doc = "How many accelerators each machine gets.  Of a TPU: its "
		 "cores, and AI Platform takes 8 only." },
	{ .name = "type",
	  .type = FIELD_STRING,
	  .unspecified = "ACCELERATOR_TYPE_UNSPECIFIED",
	  .offset = offsetof(struct accelerator_config, type),
	  .doc = "The kind of accelerator, for instance NVIDIA_TESLA_T4 or "
		 "TPU_V3.  \"jobrun explain accelerators\" and \"jobrun "
		 "explain tpus\" list those that are known; others are passed "
		 "on unchanged, with a warning." },
	{ .name = NULL },
};

static const struct message message_accelerator_config = {
	.name = "AcceleratorConfig",
	.doc = "The accelerators of each machine of this kind.",
	.size = sizeof(struct accelerator_config),
	.fields = accelerator_config_fields,
};

static const struct field disk_config_fields[] = {
	{ .name = "bootDiskType",
	  .type = FIELD_STRING,
	  .values = disk_names,
	  .offset = offsetof(struct disk_config, boot_disk_type),
	  .doc = "The kind of boot disk: pd-ssd (the service's default) or "
		 "pd-standard." },
	{ .name = "bootDiskSizeGb",
	  .type = FIELD_INT,
	  .min = 1,
	  .max = 65536,
	  .offset = offsetof(struct disk_config, boot_disk_size_gb),
	  .doc = "The size of the boot disk in GB; the service's default is "
		 "100." },
	{ .name = NULL },
};

static const struct message message_disk_config = {
	.name = "DiskConfig",
	.doc = "The boot disk of each machine of this kind.",
	.size = sizeof(struct disk_config),
	.fields = disk_config_fields,
};

static const struct field replica_config_fields[] = {
	{ .name = "imageUri",
	  .type = FIELD_STRING,
	  .check = check_image,
	  .offset = offsetof(struct replica_config, image_uri),
	  .doc = "The container image that the replica runs, for instance "
		 "gcr.io/project/image:tag.  Workers, parameter servers and "
		 "evaluators run the master's if they have none of their "
		 "own." },
	{ .name = "acceleratorConfig",
	  .type = FIELD_MESSAGE,
	  .message = &message_accelerator_config,
	  .offset = offsetof(struct replica_config, accelerator_config),
	  .doc = "The kind and the number of accelerators of each machine.  "
		 "Goes with Compute Engine machine types and with cloud_tpu; "
		 "legacy types have theirs in the name." },
	{ .name = "tpuTfVersion",
	  .type = FIELD_STRING,
	  .check = check_version,
	  .offset = offsetof(struct replica_config, tpu_tf_version),
	  .doc = "The runtime version whose TensorFlow matches the one in "
		 "the container, for instance \"2.2\".  Needed by a TPU "
		 "worker with a container, and by nothing else." },
	{ .name = "diskConfig",
	  .type = FIELD_MESSAGE,
	  .message = &message_disk_config,
	  .offset = offsetof(struct replica_config, disk_config),
	  .traits = TRAIT_MANAGED,
	  .doc = "The boot disk." },
	{ .name = "containerCommand",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct replica_config, container_command),
	  .doc = "The program to run in the container instead of its "
		 "ENTRYPOINT.  Needs imageUri, and excludes "
		 "trainingInput.args." },
	{ .name = "containerArgs",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct replica_config, container_args),
	  .doc = "The arguments of the container's program, instead of its "
		 "CMD.  Needs imageUri, and excludes trainingInput.args." },
	{ .name = NULL },
};

const struct message message_replica_config = {
	.name = "ReplicaConfig",
	.doc = "What the replicas of one kind run on and in.",
	.size = sizeof(struct replica_config),
	.fields = replica_config_fields,
};
