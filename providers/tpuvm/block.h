/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of `jobrun: tpu-vm:`. */
#ifndef JOBRUN_TPU_VM_BLOCK_H
#define JOBRUN_TPU_VM_BLOCK_H

#include "core/message.h"

struct tpu_vm_block {
	struct message_head head;
	const char *runtime_version; /* NULL: the catalogue's */
	struct strings zones;        /* to try, in this order */
	bool spot;
	const char *reservation;
	bool queued;      /* as a queued resource */
	long valid_for_s; /* in the queue; 0: for ever */
	bool external_ips;
	const char *subnetwork;
	struct pairs metadata;
};

extern const struct message tpu_vm_message;

#endif
