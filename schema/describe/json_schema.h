/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of job files as a JSON Schema (2020-12), for editors and for
 * validators that know nothing of jobrun.  It expresses the checks of
 * `validate` as far as a JSON Schema can; tests/cli/schema.py lists the
 * differences.
 */
#ifndef JOBRUN_JSON_SCHEMA_H
#define JOBRUN_JSON_SCHEMA_H

#include "schema/describe/outline.h"

/* Returns new. */
json_t *json_schema(const struct outline *all, const char *version);

#endif
