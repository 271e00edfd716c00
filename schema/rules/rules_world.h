/* SPDX-License-Identifier: Apache-2.0 */
/* Names from outside, which may be newer than the catalogue: their form, and
 * related known names. */
#ifndef JOBRUN_RULES_WORLD_H
#define JOBRUN_RULES_WORLD_H

#include <stdbool.h>
#include <stddef.h>

#include "core/job/catalogue.h"

/* "us-central1"; only the first `len` characters are examined. */
bool looks_like_region(const char *name, size_t len);

/* For a zone, "us-central1-a" or "us-central1-ai1a", the length of its region;
 * else 0. */
size_t looks_like_zone(const char *name);

/* The machine type that a name misspells; else one of the same family with the
 * nearest size.  Or NULL. */
const char *misspelt_machine(const struct catalogue *all, const char *type);
const char *machine_of_size(const struct catalogue *all, const char *type);

#endif
