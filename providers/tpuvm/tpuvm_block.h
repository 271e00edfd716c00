/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of `jobrun: tpu-vm:`. */
#ifndef JOBRUN_TPUVM_BLOCK_H
#define JOBRUN_TPUVM_BLOCK_H

#include "core/job/message.h"

/* How to treat PyTorch/XLA's XRT server on each VM. */
enum xrt_server {
	XRT_SERVER_NONE, /* the program uses PJRT */
	XRT_SERVER_START,
	XRT_SERVER_RESTART,
};

/* The longest that the service leaves a flex-start TPU. */
#define TPU_VM_FLEX_START_S (7 * 24 * 3600)

struct tpu_vm_block {
	struct message_head head;
	const char *runtime_version; /* NULL: the catalogue's */
	const char *topology;        /* "2x2x4", or NULL */
	struct strings zones;        /* to try, in this order */
	long wait_for_capacity_s;
	bool spot;
	bool preemptible;
	bool flex_start;
	const char *reservation;
	bool queued;                           /* as a queued resource */
	long slices;                           /* slices that train together */
	long valid_for_s;                      /* in the queue; 0: unlimited */
	const char *valid_after, *valid_until; /* RFC 3339, or NULL */
	bool external_ips;
	bool iap;
	const char *subnetwork;
	struct strings tags;
	struct strings scopes; /* of the service account */
	struct strings disks;  /* "projects/P/zones/Z/disks/D[:ro]" */
	struct pairs metadata;
	const char *startup_script; /* its contents, or NULL */
	int xrt_server;             /* enum xrt_server */
	const char *ssh_user;       /* NULL: from ssh's configuration */
	const char *ssh_key;        /* a file with a public key, or NULL */
	long ready_timeout_s;
	long ssh_timeout_s;
	long lease_s;
	long look_every_s;
};

extern const struct message tpu_vm_message;

#endif
