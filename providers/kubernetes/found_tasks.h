/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the tasks of a run from its object, for a run without its job file. */
#ifndef JOBRUN_FOUND_TASKS_H
#define JOBRUN_FOUND_TASKS_H

#include <jansson.h>

#include "core/topology/topology.h"

/* In the order of the object's pods; lives in `mem`. */
void found_tasks(const json_t *object, struct arena *mem, struct topology *out);

#endif
