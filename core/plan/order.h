/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which resources are made: each after those it needs. */
#ifndef JOBRUN_ORDER_H
#define JOBRUN_ORDER_H

#include "core/provider/provider.h"

/*
 * Writes the places of all resources to `order`, which has room for them:
 * in the order of `all`, moved behind what they need.  Fails on a cycle and
 * names it: "a -> b -> a".
 */
int order_make(const struct resources *all, size_t *order, struct error *err);

#endif
