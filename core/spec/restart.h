/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens after an attempt at a run has failed: jobrun.restart.  The first
 * rule that matches decides; without a match the run is restarted.  Either way
 * only within the limits: one for failures, another for lost hosts.
 */
#ifndef JOBRUN_RESTART_H
#define JOBRUN_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "core/job/job.h"
#include "core/spec/attempt_outcome.h"

/* How often the run has been restarted. */
struct restart_counts {
	int failures;
	int preemptions;
};

struct restart_decision {
	bool again;
	int64_t delay_ms;             /* before the next attempt */
	struct restart_counts counts; /* the counts after this decision */
	/* Why the run is not restarted, if one would expect it to be: "it was
	 * restarted 3 times already (jobrun.restart.maxRestarts)"; else "". */
	char why_not[96];
};

/* Decides what follows a failure; changes nothing. */
void restart_decide(const struct restart *policy,
		    const struct restart_counts *so_far,
		    const struct attempt_outcome *outcome,
		    struct restart_decision *out);

#endif
