/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of struct field_use of managed services serve `explain`, and plans
 * take their reasons from them: the row of a field that a service does not
 * support says so, and what to do instead.
 */
#ifndef JOBRUN_USES_H
#define JOBRUN_USES_H

#include <stdbool.h>

#include "core/provider/provider.h"

/* The prefixes of such rows: the job runs without the field, or not at all. */
#define USE_IMPOSSIBLE "not possible: "

/* The reason in the row with exactly that path, which must have one. */
const char *use_reason(const struct field_use *uses, const char *path,
		       bool *impossible);

#endif
