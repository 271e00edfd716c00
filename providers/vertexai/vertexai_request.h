/* SPDX-License-Identifier: Apache-2.0 */
/* `jobrun.vertex-ai.request`: parts of the request in the API's own terms, in
 * addition to jobrun's or replacing them. */
#ifndef JOBRUN_VERTEXAI_REQUEST_H
#define JOBRUN_VERTEXAI_REQUEST_H

#include <jansson.h>

#include "core/base/error.h"

/* Checks that the text, JSON, only has fields of a CustomJob or a
 * HyperparameterTuningJob, and none that jobrun must set. */
int request_check(const char *text, struct error *err);

/* Merges it into the body: maps recursively, and the items of pools, metrics
 * and parameters by index; anything else is replaced. */
void request_merge(json_t *body, const json_t *over);

#endif
