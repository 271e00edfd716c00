/* SPDX-License-Identifier: Apache-2.0 */
/* How Vertex AI obtains a job's machines, and what each way can supply. */
#ifndef JOBRUN_VERTEXAI_STRATEGIES_H
#define JOBRUN_VERTEXAI_STRATEGIES_H

#include <stdbool.h>

struct vertex_strategy {
	const char *name;
	bool waits; /* takes Scheduling.maxWaitDuration */
	/* It supplies machines with some accelerators only, which the catalogue
	 * marks as `flex_start`. */
	bool some_accelerators;
	long running_max_days; /* 0: no limit */
};

/* All their names, NULL-terminated: the values of the field. */
extern const char *const vertex_strategy_names[];

/* NULL, which takes nothing away, for NULL and for an unknown name. */
const struct vertex_strategy *vertex_strategy_find(const char *name);

#endif
