/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node on its way: the operation that makes it, the zone that is tried, and
 * until when.  This is remembered by the process that asked for it; another
 * goes on by what it finds at the service.
 */
#ifndef JOBRUN_TPU_VM_MAKING_H
#define JOBRUN_TPU_VM_MAKING_H

#include "providers/tpuvm/service.h"

/* Asks for the node, in one zone after the other. */
int making_start(struct tpu_vm *ctx, const struct resource *want,
		 struct error *err);

/* Looks how that goes; 1: it goes on, and `err` says what is waited for.  0:
 * there is nothing more to ask than the node itself. */
int making_look(struct tpu_vm *ctx, const struct resource *want,
		struct error *err);

/* Since when it is not usable, as far as this process saw; and that it is. */
int64_t making_since(struct tpu_vm *ctx, const char *name);
void making_done(struct tpu_vm *ctx, const char *name);

/* True if it is time to renew what must be renewed every `every_s`. */
bool making_renews(struct tpu_vm *ctx, const char *name, long every_s);

void makings_free(struct making *all);

#endif
