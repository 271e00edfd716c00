/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tpu.googleapis.com v2 as the nodes of jobs need it: where a node is, what
 * there is of it, and the calls that make and delete it.
 */
#ifndef JOBRUN_SERVICE_H
#define JOBRUN_SERVICE_H

#include "providers/google/api.h"
#include "providers/google/operation.h"
#include "providers/google/tpu/tpu.h"
#include "providers/google/tpu/tpu_ctx.h"
#include "providers/google/tpu/tpu_places.h"

#define TPU_VM_SLICES_MAX 256

struct tpu_vm_node {
	const char *path; /* "projects/P/locations/Z/nodes/N" */
	json_t *body;     /* NULL: there is none (yet) */
	struct tpu_node node;
};

/* The state of a name in one zone: a node, or the slices NAME-0 … of one queued
 * resource. */
struct tpu_vm_state {
	const char *zone; /* NULL: nothing */
	json_t *queue;    /* of the queued resource; NULL: there is none */
	struct tpu_vm_node *nodes; /* in the arena of the look */
	size_t count;
	size_t there;              /* of these */
	struct tpu_vm_node *worst; /* of those, the first that is least
				    * usable; NULL: there is none */
};

/* The labels of one of its nodes, or of what the queue will make; borrowed. */
const json_t *tpu_vm_labels(const struct tpu_vm_state *state);
void tpu_vm_state_done(struct tpu_vm_state *state);

/* The first that exists, unlost ones before others. */
int tpu_vm_look(struct tpu_ctx *ctx, const struct resource *it,
		struct arena *mem, struct tpu_vm_state *out, struct error *err);

/* All of it can be used. */
bool tpu_vm_is_usable(const struct tpu_vm_state *state);

/* It can't become usable any more; `why` says so: "PREEMPTED". */
bool tpu_vm_is_lost(const struct tpu_vm_state *state, char *why, size_t size);

/* Its zone has none, or had none in time: `err` says so. */
bool tpu_vm_is_refused(const struct tpu_vm_state *state, struct error *err);

/* The names of a node's VMs at Compute Engine, in their order, in `mem`; NULL:
 * not known yet. */
int tpu_vm_instances(struct tpu_ctx *ctx, const struct tpu_vm_node *node,
		     struct arena *mem, const char *const **out,
		     struct error *err);

/* For struct tpu_maker. */
int tpu_vm_request(void *ctx, const struct resource *want,
		   const struct tpu_places *places, const char *zone,
		   struct arena *mem, const char **operation,
		   struct error *err);

/* Deletes all of that name in all its zones, and waits until it is gone. */
int tpu_vm_remove(struct tpu_ctx *ctx, const struct resource *it,
		  struct error *err);

/* Moves the time when it is of no use any more. */
int tpu_vm_renew(struct tpu_ctx *ctx, const struct tpu_vm_state *state,
		 const struct resource *it, struct error *err);

#endif
