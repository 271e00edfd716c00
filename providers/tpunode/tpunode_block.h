/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of `jobrun: tpu-node:`. */
#ifndef JOBRUN_TPUNODE_BLOCK_H
#define JOBRUN_TPUNODE_BLOCK_H

#include "core/job/message.h"

/* The source of the VMs' image. */
struct tpu_node_image {
	struct message_head head;
	const char *vm;   /* a stopped VM; NULL: no image is made */
	const char *zone; /* its zone, or NULL: the job's */
	const char *family;
	bool stop; /* stop the VM if it runs */
	bool keep; /* keep the image for other runs of the job */
};

struct tpu_node_block {
	struct message_head head;
	const char *runtime_version; /* "pytorch-1.13" */
	const char *machine_type;    /* of the VMs, or NULL */
	const char *image;
	const char *image_project;
	struct tpu_node_image image_from;
	const char *conda_env;
	const char *docker_image;
	struct strings zones; /* to try, in this order */
	long wait_for_capacity_s;
	bool preemptible;
	bool reserved;
	const char *cidr_block; /* of the TPU, or NULL */
	bool external_ips;
	bool iap;
	const char *subnetwork;
	long disk_gb; /* 0: the size of the image */
	struct strings tags;
	struct strings scopes; /* of the service account */
	struct strings disks;  /* "NAME[:ro]" */
	struct pairs metadata;
	const char *startup_script;
	const char *ssh_user;
	const char *ssh_key;
	long ready_timeout_s;
	long ssh_timeout_s;
	long lease_s;
	long look_every_s;
};

extern const struct message tpu_node_message;

#endif
