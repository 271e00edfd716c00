/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue that is compiled in: schema/catalogue.yaml. */
#ifndef JOBRUN_SCHEMA_CATALOGUE_H
#define JOBRUN_SCHEMA_CATALOGUE_H

#include "core/base/error.h"
#include "core/catalogue.h"

/*
 * Parsed at the first call, from any thread, and kept for the life of the
 * process.  Borrowed.  Fails only if the file that we ship is wrong, which
 * tests/unit/test_catalogue.c would tell.
 */
const struct catalogue *catalogue_get(struct error *err);

#endif
