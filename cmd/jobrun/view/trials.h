/* SPDX-License-Identifier: Apache-2.0 */
/* Shows hyperparameter trials to people and programs. */
#ifndef JOBRUN_TRIALS_H
#define JOBRUN_TRIALS_H

#include <jansson.h>

#include "cmd/jobrun/ui/session.h"

/* How the trials of a run are judged; NULL if it has none.  In `mem`. */
const struct hyperparameter_spec *trials_spec(struct session *session,
					      const struct run_record *run,
					      struct arena *mem);

/* The trial with the best value so far, or NULL. */
const struct trial_record *trials_best(const struct trial_list *trials,
				       const struct hyperparameter_spec *spec);

/* "--lr=0.1 --layers=2" */
void trial_put_arguments(const struct trial_record *trial, struct buf *out);

/* Adds a table; the best trial is marked. */
void trials_text(const struct trial_list *trials,
		 const struct hyperparameter_spec *spec, struct buf *out);
json_t *trials_json(const struct trial_list *trials); /* returns new */

/* "trial 3 SUCCEEDED: accuracy 0.93 with --lr=0.1", for a trial that has
 * ended. */
void trial_describe(const struct trial_record *trial,
		    const struct hyperparameter_spec *spec, struct buf *out);

#endif
