/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of `jobrun: kubernetes:`. */
#ifndef JOBRUN_KUBERNETES_BLOCK_H
#define JOBRUN_KUBERNETES_BLOCK_H

#include "core/message.h"

struct kubernetes_block {
	struct message_head head;
	const char *kubeconfig; /* a file, or NULL */
	const char *context;
	const char *name_space;
	const char *queue; /* of Kueue */
	const char *priority_class;
	const char *service_account;
	struct strings image_pull_secrets;
	struct pairs node_selector;
	long ttl_s; /* after its end; 0: until deleted */
};

extern const struct message kubernetes_message;

#endif
