/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpunode/block.h"

#include "core/check.h"

static const struct field fields[] = {
	{ .name = "runtimeVersion",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, runtime_version),
	  .doc = "The software of the TPU node, for instance "
		 "pytorch-1.13 or 2.12.0." },
	{ .name = "machineType",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, machine_type),
	  .doc = "The type of the VMs, if it is not "
		 "trainingInput.masterType: one VM for each 8 cores." },
	{ .name = "image",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, image),
	  .doc = "The disk image of the VMs." },
	{ .name = "imageProject",
	  .type = FIELD_STRING,
	  .check = check_project,
	  .offset = offsetof(struct tpu_node_block, image_project),
	  .doc = "The project that the image is in." },
	{ .name = "condaEnv",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, conda_env),
	  .doc = "The conda environment to run the program in." },
	{ .name = "dockerImage",
	  .type = FIELD_STRING,
	  .check = check_image,
	  .offset = offsetof(struct tpu_node_block, docker_image),
	  .doc = "The container image to run the program in, on each VM." },
	{ .name = "preemptible",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .offset = offsetof(struct tpu_node_block, preemptible),
	  .doc = "Whether the TPU may be taken away at any time, for "
		 "less money." },
	{ .name = "cidrBlock",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, cidr_block),
	  .doc = "The addresses that the TPU takes in the network, a free /29 "
		 "for one host; the service chooses them if not set." },
	{ .name = "externalIps",
	  .type = FIELD_BOOL,
	  .fallback = "true",
	  .offset = offsetof(struct tpu_node_block, external_ips),
	  .doc = "Whether the VMs have addresses that can be reached "
		 "from outside." },
	{ .name = "subnetwork",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, subnetwork),
	  .doc = "The subnetwork of the VMs." },
	{ .name = "diskGb",
	  .type = FIELD_INT,
	  .offset = offsetof(struct tpu_node_block, disk_gb),
	  .doc = "The size of the VMs' boot disks in GB; as large as the image "
		 "if not set." },
	{ .name = "startupScript",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, startup_script),
	  .doc = "A script that runs as root when a VM starts, for instance "
		 "to install packages; jobrun does not wait for its end." },
	{ .name = "sshUser",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_node_block, ssh_user),
	  .doc = "Who logs in on the VMs; if not set, who runs jobrun." },
	{ .name = "sshKey",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION | FIELD_PATH,
	  .offset = offsetof(struct tpu_node_block, ssh_key),
	  .doc = "The file with the public key that the VMs let in; if not "
		 "set, ~/.ssh/google_compute_engine.pub, id_ed25519.pub or "
		 "id_rsa.pub." },
	{ .name = "readyTimeout",
	  .type = FIELD_DURATION,
	  .fallback = "30m",
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_node_block, ready_timeout_s),
	  .doc = "How long the TPU may take to be usable, once it is being "
		 "made." },
	{ .name = "sshTimeout",
	  .type = FIELD_DURATION,
	  .fallback = "2m",
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_node_block, ssh_timeout_s),
	  .doc = "How long its VMs may take to let jobrun in, once it is "
		 "usable: if one has not by then, the run fails." },
	{ .name = "lease",
	  .type = FIELD_DURATION,
	  .fallback = "1h",
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_node_block, lease_s),
	  .doc = "How long TPU and VMs stay when nothing is heard of jobrun "
		 "any more: then the VMs delete both." },
	{ .name = "lookEvery",
	  .type = FIELD_DURATION,
	  .fallback = "30s",
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_node_block, look_every_s),
	  .doc = "How often its state is asked for while the job runs." },
	{ .name = NULL },
};

const struct message tpu_node_message = {
	.name = "TpuNodeBlock",
	.doc = "What only tpu-node has.",
	.size = sizeof(struct tpu_node_block),
	.fields = fields,
};
