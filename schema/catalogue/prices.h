/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Price lists, which users write: what machines and accelerators cost by the
 * hour.  jobrun ships none.
 *
 *	currency: USD
 *	prices:
 *	- {machineType: n1-standard-4, region: us-central1, perHour: 0.19}
 *	- {acceleratorType: NVIDIA_TESLA_T4, perHour: 0.35}
 */
#ifndef JOBRUN_PRICES_H
#define JOBRUN_PRICES_H

#include "core/base/error.h"
#include "core/plan/estimate.h"

/* Returns new, or NULL. */
struct price_list *prices_read(const char *path, struct error *err);
void prices_free(struct price_list *list);

#endif
