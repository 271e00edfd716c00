/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the values that a plan does not have into a call: outputs of what was
 * made before, and secrets. */
#ifndef JOBRUN_FILL_OUTPUTS_H
#define JOBRUN_FILL_OUTPUTS_H

#include "core/provider/provider.h"

/*
 * Fills in the properties and the request of `it`, a copy of what is wanted;
 * fill_done() lets go of them.  Reads the resources that it refers to, so it
 * may block, and fails with ERROR_TRY_AGAIN if one has no such output yet.
 * `before` any of them is made, outputs are left out.
 */
int fill_resource(struct resource *it, void *ctx, bool before,
		  struct error *err);
void fill_done(struct resource *it);

#endif
