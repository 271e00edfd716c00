/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two JSON objects, field by field.  Paths are dotted
 * ("env.OMP_NUM_THREADS", "disks[2].size", `labels["a.b"]`).  A list of plain
 * values is one value, because it reads as one (a command line); lists that
 * hold objects or lists are compared by index.  Null equals a missing field,
 * and 8 equals 8.0.
 *
 * Changes are in the order of the keys of `after`, followed by keys only in
 * `before`, sorted.  The result depends only on the two values.
 */
#ifndef JOBRUN_DIFF_H
#define JOBRUN_DIFF_H

#include "core/base/alloc.h"
#include "core/plan/plan.h"

struct diff {
	struct change *items; /* in the arena; their values are borrowed */
	size_t count;
};

/* Either may be NULL: then all fields of the other are listed. */
void diff_json(const json_t *before, const json_t *after, struct arena *mem,
	       struct diff *out);

/* Whether the path is `field`, or is inside it, or contains it. */
bool diff_touches(const char *path, const char *field);

#endif
