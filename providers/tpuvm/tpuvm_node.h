/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TPU node as requested from tpu.googleapis.com v2 (projects.locations.
 * nodes): its name, its message, and the part that is compared.
 */
#ifndef JOBRUN_TPUVM_NODE_H
#define JOBRUN_TPUVM_NODE_H

#include <jansson.h>

#include "core/provider/provider.h"
#include "providers/tpuvm/tpuvm_block.h"

/* The body of the node, without values that are known only when it is sent: see
 * tpu_vm_body_complete().  `tpu` is the requested TPU.  Returns new. */
json_t *tpu_vm_body(const struct job *job, const struct tpu_vm_block *block,
		    const struct tpu *tpu, const struct slice *slice);

/* Wraps the node's message, which it takes, into that of a queued resource.
 * Returns new. */
json_t *tpu_vm_queue_body(const char *name, const struct job *job,
			  const struct tpu_vm_block *block, json_t *node);
/* How long a flex-start TPU of the job stays. */
long tpu_vm_flex_start_s(const struct job *job);
bool tpu_vm_is_queued(const struct tpu_vm_block *block);
/* The version of the API that has such a request. */
const char *tpu_vm_version(const json_t *properties);

/* The properties of the job's node that plans show and compare; returns new. */
json_t *tpu_vm_wanted(const struct job *job, const struct tpu_vm_block *block,
		      const struct slice *slice, const json_t *body);
/* The same properties of an existing node, as far as `wanted` has them. */
json_t *tpu_vm_found(const json_t *node, const json_t *wanted);

/* The node inside a queued resource; borrowed, or NULL. */
json_t *tpu_vm_queued_node(const json_t *queue);

/* The same of a message that asks for one. */
json_t *tpu_vm_sent_node(json_t *body);

/* Where and when the node is made. */
struct tpu_vm_making {
	const char *node; /* "projects/P/locations/Z/nodes/N" */
	const char *zone;
	const char *project;
	const char *user;       /* the login user, or NULL */
	const char *public_key; /* that user's key; or NULL */
	int64_t now_ms;
};

/* The message to be sent now.  Returns new. */
json_t *tpu_vm_body_complete(const struct resource *want,
			     const struct tpu_vm_making *making);

#endif
