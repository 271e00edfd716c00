/* SPDX-License-Identifier: Apache-2.0 */
/* Everything known about a run: its attempts, tasks, trials and metrics, and
 * the job's previous run. */
#ifndef JOBRUN_RUN_STORY_H
#define JOBRUN_RUN_STORY_H

#include "cmd/jobrun/view/run_metrics.h"
#include "cmd/jobrun/ui/session.h"

/* An attempt, or a trial. */
struct story_part {
	const struct run_record *run;
	const struct trial_record *trial; /* or NULL */
	struct run_metrics metrics;
	bool read; /* its logs could be read */
};

struct run_story {
	struct run_record *attempts; /* one per restart, oldest first */
	struct task_list *tasks;     /* of each */
	size_t attempt_count;
	const struct run_record *run;    /* the last of them */
	const struct run_record *before; /* of the previous run, or NULL */
	struct trial_list trials;
	const struct hyperparameter_spec *tuning; /* NULL: no trials */
	int trial; /* the only trial requested; 0: all */
	struct story_part *parts;
	size_t part_count;
};

/* `name` as for run_name_find().  Lives in `mem`, except for what
 * run_story_done() releases, which must be called after a failure, too. */
int run_story_read(struct session *session, const char *name, struct arena *mem,
		   struct run_story *out, struct error *err);
void run_story_done(struct run_story *story);

/* "restarts.3", "trials.1/7", in `mem`. */
const char *run_story_name(const struct run_story *story, struct arena *mem);
const struct trial_record *run_story_trial(const struct run_story *story,
					   int number); /* or NULL */

#endif
