/* SPDX-License-Identifier: Apache-2.0 */
/* `jobrun.vertex-ai.request`: what a job says of its request in the API's own
 * words, besides or instead of what jobrun would say. */
#ifndef JOBRUN_VERTEXAI_REQUEST_H
#define JOBRUN_VERTEXAI_REQUEST_H

#include <jansson.h>

#include "core/base/error.h"

/* Whether the text, JSON, has fields of a CustomJob or a
 * HyperparameterTuningJob only, and none that jobrun answers for. */
int request_check(const char *text, struct error *err);

/* Merges it into the body: maps in one another, and the items of pools, metrics
 * and parameters by their positions; all else is replaced. */
void request_merge(json_t *body, const json_t *over);

#endif
