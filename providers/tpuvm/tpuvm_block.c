/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpuvm/tpuvm_block.h"

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
	  .doc = "The form of the slice in chips, for instance 2x2x4, where "
		 "its size can have several." },
	{ .name = "zones",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct tpu_vm_block, zones),
	  .doc = "Zones to try one after the other, if jobrun.zone has "
		 "no TPUs left." },
	{ .name = "waitForCapacity",
	  .type = FIELD_DURATION,
	  .fallback = "0s",
	  .fallback_1 = "0s",
	  .offset = offsetof(struct tpu_vm_block, wait_for_capacity_s),
	  .doc = "How long to go on trying all of them, if none has any." },
	{ .name = "spot",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .fallback_1 = "false",
	  .offset = offsetof(struct tpu_vm_block, spot),
	  .doc = "Whether the TPU may be taken away at any time, for "
		 "less money." },
	{ .name = "preemptible",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .fallback_1 = "false",
	  .offset = offsetof(struct tpu_vm_block, preemptible),
	  .doc = "The same as it was before spot: for 24 hours at most." },
	{ .name = "reservation",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_vm_block, reservation),
	  .doc = "The reservation to take it from." },
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
	  .doc = "How many TPUs of this type train together (multislice): "
		 "with more than one they are waited for in the service's "
		 "queue, and made and deleted together." },
	{ .name = "validFor",
	  .type = FIELD_DURATION,
	  .offset = offsetof(struct tpu_vm_block, valid_for_s),
	  .doc = "How long to wait there." },
	{ .name = "externalIps",
	  .type = FIELD_BOOL,
	  .fallback = "true",
	  .fallback_1 = "true",
	  .offset = offsetof(struct tpu_vm_block, external_ips),
	  .doc = "Whether the VMs have addresses that can be reached "
		 "from outside." },
	{ .name = "iap",
	  .type = FIELD_BOOL,
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_vm_block, iap),
	  .doc = "Whether the VMs are reached through Identity-Aware Proxy, by "
		 "jobrun itself, with its own credentials: they need no "
		 "address outside then." },
	{ .name = "subnetwork",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_vm_block, subnetwork),
	  .doc = "The subnetwork of the VMs." },
	{ .name = "tags",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct tpu_vm_block, tags),
	  .doc = "Network tags of the VMs, which firewall rules name." },
	{ .name = "scopes",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct tpu_vm_block, scopes),
	  .doc = "What the service account of the VMs may be used for; all of "
		 "Google Cloud if not set." },
	{ .name = "disks",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct tpu_vm_block, disks),
	  .doc = "Disks that exist, to attach: their names, or their paths in "
		 "the API; with :ro behind it, for reading only." },
	{ .name = "metadata",
	  .type = FIELD_PAIRS,
	  .offset = offsetof(struct tpu_vm_block, metadata),
	  .doc = "Metadata of the VMs." },
	{ .name = "startupScript",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_vm_block, startup_script),
	  .doc = "A script that runs as root when a VM starts, for instance "
		 "to install packages; jobrun does not wait for its end." },
	{ .name = "xrtServer",
	  .type = FIELD_ENUM,
	  .values = xrt_server_names,
	  .offset = offsetof(struct tpu_vm_block, xrt_server),
	  .doc = "Whether XRT's server, for programs of PyTorch/XLA before 2.1 "
		 "that do not use PJRT, is started on each VM before the "
		 "program, at every attempt; it is not if not set.  With "
		 "start, one that runs there already stays; with restart it "
		 "is ended first, as by xla_dist's "
		 "--restart-tpuvm-pod-server.  The program finds the "
		 "variables of xla_dist instead of PJRT's." },
	{ .name = "sshUser",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_vm_block, ssh_user),
	  .doc = "Who logs in on the VMs; if not set, who runs jobrun." },
	{ .name = "sshKey",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION | FIELD_PATH,
	  .offset = offsetof(struct tpu_vm_block, ssh_key),
	  .doc = "The file with the public key that the VMs let in; if not "
		 "set, ~/.ssh/google_compute_engine.pub, id_ed25519.pub or "
		 "id_rsa.pub." },
	{ .name = "readyTimeout",
	  .type = FIELD_DURATION,
	  .fallback = "30m",
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_vm_block, ready_timeout_s),
	  .doc = "How long the TPU may take to be usable, once it is being "
		 "made." },
	{ .name = "sshTimeout",
	  .type = FIELD_DURATION,
	  .fallback = "2m",
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_vm_block, ssh_timeout_s),
	  .doc = "How long its VMs may take to let jobrun in, once it is "
		 "usable: if one has not by then, the run fails." },
	{ .name = "lease",
	  .type = FIELD_DURATION,
	  .fallback = "1h",
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_vm_block, lease_s),
	  .doc = "How long the TPU stays when nothing is heard of jobrun any "
		 "more: then it deletes itself, and gc deletes it." },
	{ .name = "lookEvery",
	  .type = FIELD_DURATION,
	  .fallback = "30s",
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct tpu_vm_block, look_every_s),
	  .doc = "How often its state is asked for while the job runs." },
	{ .name = NULL },
};

const struct message tpu_vm_message = {
	.name = "TpuVmBlock",
	.doc = "What only tpu-vm has.",
	.size = sizeof(struct tpu_vm_block),
	.fields = fields,
};
