/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tpu.googleapis.com v2 for the nodes of jobs: where a node is, its state, and
 * the calls that create and delete it.
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
	json_t *body;     /* NULL: does not exist (yet) */
	struct tpu_node node;
};

/* The state of a name in one zone: a node, or the slices NAME-0 … of one queued
 * resource. */
struct tpu_vm_state {
	const char *zone; /* NULL: nothing */
	json_t *queue;    /* the queued resource; NULL: there is none */
	struct tpu_vm_node *nodes; /* in the arena of the look */
	size_t count;
	size_t there; /* of these */
	/* the first of the least usable nodes; NULL: no nodes */
	struct tpu_vm_node *worst;
};

/* The labels of one of its nodes, or of what the queue will make; borrowed. */
const json_t *tpu_vm_labels(const struct tpu_vm_state *state);
void tpu_vm_state_done(struct tpu_vm_state *state);

/* Looks in all zones and takes the first where it exists, preferring those
 * where it is not lost. */
int tpu_vm_look(struct tpu_ctx *ctx, const struct resource *it,
		struct arena *mem, struct tpu_vm_state *out, struct error *err);

/* The same for what is waited for: as long as it still has to be waited for,
 * what others have seen a moment ago does. */
int tpu_vm_look_again(struct tpu_ctx *ctx, const struct resource *it,
		      struct arena *mem, struct tpu_vm_state *out,
		      struct error *err);

/* Whether all of it can be used. */
bool tpu_vm_is_usable(const struct tpu_vm_state *state);

/* Whether it can never become usable; sets `why`: "PREEMPTED". */
bool tpu_vm_is_lost(const struct tpu_vm_state *state, char *why, size_t size);

/* Whether one of its nodes is another than the plan expects; sets `why`. */
bool tpu_vm_differs(const struct tpu_vm_state *state, const struct resource *it,
		    char *why, size_t size);

/* Whether its zone has no TPU, or had none in time: sets `err`. */
bool tpu_vm_is_refused(const struct tpu_vm_state *state, struct error *err);

/* The names of a node's VMs at Compute Engine, in order, in `mem`; NULL:
 * unknown yet. */
int tpu_vm_instances(struct tpu_ctx *ctx, const struct tpu_vm_node *node,
		     struct arena *mem, const char *const **out,
		     struct error *err);

/* For struct tpu_maker. */
int tpu_vm_request(void *ctx, const struct resource *want,
		   const struct tpu_places *places, const char *zone,
		   struct arena *mem, const char **operation,
		   struct error *err);

/* Deletes everything of that name in all its zones, and waits until it is
 * gone. */
int tpu_vm_remove(struct tpu_ctx *ctx, const struct resource *it,
		  struct error *err);

/* Extends its expiry. */
int tpu_vm_renew(struct tpu_ctx *ctx, const struct tpu_vm_state *state,
		 long lease_s, struct error *err);

#endif
