/* SPDX-License-Identifier: Apache-2.0 */
/* Fills in the values of a call that a plan does not have: secrets, and outputs
 * of resources made before. */
#ifndef JOBRUN_FILL_OUTPUTS_H
#define JOBRUN_FILL_OUTPUTS_H

#include "core/provider/provider.h"

/*
 * Fills in the properties and the request of `it`, a copy of the wanted
 * resource; fill_done() releases them.  Reads the resources that it refers to,
 * so it may block; fails with ERROR_TRY_AGAIN if one has no such output yet.
 * With `before`, set before any of them is made, outputs are left out.
 */
int fill_resource(struct resource *it, void *ctx, bool before,
		  struct error *err);
void fill_done(struct resource *it);

#endif
