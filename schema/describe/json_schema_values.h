/* SPDX-License-Identifier: Apache-2.0 */
/* Additions for editors: completions from the catalogue, and words that explain
 * patterns (yaml-language-server reads patternErrorMessage). */
#ifndef JOBRUN_JSON_SCHEMA_VALUES_H
#define JOBRUN_JSON_SCHEMA_VALUES_H

#include <jansson.h>

#include "core/job/catalogue.h"

/* Adds them to the result of json_schema(). */
void json_schema_values(json_t *schema, const struct catalogue *all);

#endif
