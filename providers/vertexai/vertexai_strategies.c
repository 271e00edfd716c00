/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/vertexai/vertexai_strategies.h"

#include <stddef.h>
#include <string.h>

#include "core/base/alloc.h"

#define STANDARD "STANDARD"
#define SPOT "SPOT"
#define FLEX_START "FLEX_START"

const char *const vertex_strategy_names[] = { STANDARD, SPOT, FLEX_START,
					      NULL };

/* Vertex AI's documentation: schedule jobs with Dynamic Workload Scheduler,
 * 2026. */
static const struct vertex_strategy strategies[] = {
	{ .name = STANDARD },
	{ .name = SPOT },
	{
		.name = FLEX_START,
		.waits = true,
		.some_accelerators = true,
		.running_max_days = 7,
	},
};

const struct vertex_strategy *vertex_strategy_find(const char *name)
{
	size_t i;

	for (i = 0; name && i < COUNT(strategies); i++)
		if (!strcmp(strategies[i].name, name))
			return &strategies[i];
	return NULL;
}
