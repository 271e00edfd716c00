/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts of a run as one JSON object, which core/plan/diff.h compares:
 *
 *	settings	as the plan showed them, without the source
 *	source		its digest
 *	files		each with its digest
 *	revision	commit, branch
 *	machines	the host of each task
 *	outcome, metrics, time, cost
 */
#ifndef JOBRUN_RUN_FACTS_H
#define JOBRUN_RUN_FACTS_H

#include <jansson.h>

#include "cmd/jobrun/ui/run_story.h"

/* What was asked for: settings, source, files, revision.  Returns new. */
json_t *run_facts_asked(const struct run_record *run);
/* All of it; `prices` may be NULL.  Returns new. */
json_t *run_facts(const struct run_story *story,
		  const struct price_list *prices);

/* The time that its tasks, or those of one of its trials, have taken together, and
 * what that cost; false: the machines or their prices are not known. */
int64_t run_facts_task_ms(const struct run_story *story);
bool run_facts_cost(const struct run_story *story,
		    const struct price_list *prices, double *out);

#endif
