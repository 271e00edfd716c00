/* SPDX-License-Identifier: Apache-2.0 */
/* Orders resources so that each is made after those it needs. */
#ifndef JOBRUN_ORDER_H
#define JOBRUN_ORDER_H

#include "core/provider/provider.h"

/*
 * Writes the indexes of all resources to `order`, which has room for them: in
 * the order of `all`, moved behind their needs.  Fails on a cycle and names it:
 * "a -> b -> a".
 */
int order_make(const struct resources *all, size_t *order, struct error *err);

#endif
