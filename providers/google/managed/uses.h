/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of struct field_use of managed services, which `explain` shows, are
 * also where plans have their reasons from: what a service has no place for
 * says so in its row, with what to do instead.
 */
#ifndef JOBRUN_USES_H
#define JOBRUN_USES_H

#include <stdbool.h>

#include "core/provider/provider.h"

/* How such a row begins: the job runs without it, or not at all. */
#define USE_LEFT_OUT "left out: "
#define USE_IMPOSSIBLE "not possible: "

/* The reason in the row of exactly that path, which must have one. */
const char *use_reason(const struct field_use *uses, const char *path,
		       bool *impossible);

#endif
