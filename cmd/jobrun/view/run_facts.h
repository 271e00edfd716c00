/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts of a run as one JSON object, for comparison by core/plan/diff.h:
 *
 *	settings	as in the plan, without the source
 *	source		its digest
 *	files		each with its digest
 *	revision	commit, branch
 *	machines	the host of each task
 *	outcome, metrics, time, cost
 */
#ifndef JOBRUN_RUN_FACTS_H
#define JOBRUN_RUN_FACTS_H

#include <jansson.h>

#include "cmd/jobrun/view/run_story.h"

/* The requested facts: settings, source, files, revision.  Returns new. */
json_t *run_facts_asked(const struct run_record *run);
/* All facts; `prices` may be NULL.  Returns new. */
json_t *run_facts(const struct run_story *story,
		  const struct price_list *prices);

/* The total time of its tasks, or of those of one trial, and its cost; false:
 * the machines or their prices are unknown. */
int64_t run_facts_task_ms(const struct run_story *story);
bool run_facts_cost(const struct run_story *story,
		    const struct price_list *prices, double *out);

#endif
