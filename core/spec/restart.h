/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens after an attempt at a run has ended badly: jobrun.restart.
 * The first rule that holds for its end decides; where none does it is
 * restarted.  In any case only while the counts allow it: one for failures,
 * another for hosts that were lost.
 */
#ifndef JOBRUN_RESTART_H
#define JOBRUN_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "core/job/job.h"
#include "core/spec/attempt_outcome.h"

/* How often the run was restarted already. */
struct restart_counts {
	int failures;
	int preemptions;
};

struct restart_decision {
	bool again;
	int64_t delay_ms;             /* before the next attempt */
	struct restart_counts counts; /* as they are then */
	/* Why not, where a restart was to be expected: "it was restarted 3
	 * times already (jobrun.restart.maxRestarts)"; else "". */
	char why_not[96];
};

/* Decides what follows a failure; changes nothing. */
void restart_decide(const struct restart *policy,
		    const struct restart_counts *so_far,
		    const struct attempt_outcome *outcome,
		    struct restart_decision *out);

#endif
