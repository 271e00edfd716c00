/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules between fields in the JSON Schema, so that an editor shows them at the
 * field itself: those whose conditions a JSON Schema can state.
 */
#ifndef JOBRUN_JSON_SCHEMA_RULES_H
#define JOBRUN_JSON_SCHEMA_RULES_H

#include "schema/describe/outline.h"

/* Adds them to the messages of a schema ("$defs"). */
void json_schema_rules(const struct outline *all, json_t *messages);

#endif
