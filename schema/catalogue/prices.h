/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Price lists, written by users: the hourly cost of machines and accelerators.
 * jobrun ships none.
 *
 *	currency: USD
 *	prices:
 *	- {machineType: n1-standard-4, region: us-central1, perHour: 0.19}
 *	- {acceleratorType: NVIDIA_TESLA_T4, perHour: 0.35}
 */
#ifndef JOBRUN_PRICES_H
#define JOBRUN_PRICES_H

#include <cyaml/cyaml.h>

#include "core/base/error.h"
#include "core/job/catalogue.h"

/* Returns new, or NULL. */
struct price_list *prices_read(const char *path, struct error *err);
/* Checks what the form alone does not ensure: one price each, none below 0. */
int prices_check(const struct price_list *list, struct error *err);
extern const cyaml_schema_value_t price_item; /* a struct price */
void prices_free(struct price_list *list);

#endif
