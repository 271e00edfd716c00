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

static const char *const flex_start_accelerators[] = {
	"NVIDIA_L4",
	"NVIDIA_TESLA_A100",
	"NVIDIA_A100_80GB",
	"NVIDIA_H100_80GB",
	"NVIDIA_H100_MEGA_80GB",
	"NVIDIA_H200_141GB",
	"NVIDIA_B200",
	NULL,
};

/* Vertex AI's documentation: schedule jobs with Dynamic Workload Scheduler,
 * 2026. */
static const struct vertex_strategy strategies[] = {
	{ .name = STANDARD },
	{ .name = SPOT },
	{
		.name = FLEX_START,
		.waits = true,
		.accelerators = flex_start_accelerators,
		.accelerators_named = "L4, A100, H100, H200 and B200",
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
