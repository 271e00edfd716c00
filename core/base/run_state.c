/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/run_state.h"

#include <string.h>

#include "core/base/alloc.h"

static const char *const names[] = {
	[RUN_QUEUED] = "QUEUED",       [RUN_PREPARING] = "PREPARING",
	[RUN_RUNNING] = "RUNNING",     [RUN_SUCCEEDED] = "SUCCEEDED",
	[RUN_FAILED] = "FAILED",       [RUN_CANCELLING] = "CANCELLING",
	[RUN_CANCELLED] = "CANCELLED",
};

const char *run_state_name(enum run_state state)
{
	return names[state];
}

int run_state_parse(const char *name, enum run_state *out)
{
	size_t i;

	for (i = 0; i < COUNT(names); i++) {
		if (strcmp(names[i], name) == 0) {
			*out = (enum run_state)i;
			return 0;
		}
	}
	return -1;
}

bool run_state_is_final(enum run_state state)
{
	return state == RUN_SUCCEEDED || state == RUN_FAILED ||
	       state == RUN_CANCELLED;
}
