/* SPDX-License-Identifier: Apache-2.0 */
/* What an editor offers and says besides: names of the catalogue, and words in
 * the place of patterns (yaml-language-server reads patternErrorMessage). */
#ifndef JOBRUN_JSON_SCHEMA_VALUES_H
#define JOBRUN_JSON_SCHEMA_VALUES_H

#include <jansson.h>

#include "core/job/catalogue.h"

/* Adds them to what json_schema() has made. */
void json_schema_values(json_t *schema, const struct catalogue *all);

#endif
