/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resumes what an earlier process began and did not end, because it was killed
 * or had no answer: compares each open intent on a job of a plan with the
 * observed resources.  Finished intents are closed; the plan does the rest, as
 * its actions adopt before they create.
 */
#ifndef JOBRUN_RESUME_H
#define JOBRUN_RESUME_H

#include "core/plan/plan.h"
#include "core/store/store.h"

struct resume_options {
	/* An open context of the provider, or NULL. */
	void *(*context)(void *arg, const struct provider *provider);
	/* `found` says what was found of it: "it exists".  May be NULL. */
	void (*say)(void *arg, const struct intent_record *intent,
		    const char *found);
	void *arg;
};

/* Needs the locks of the plan's jobs: an intent of somebody alive is not
 * open in this sense. */
int resume_look(struct store *store, const struct plan *plan,
		const struct resume_options *options, struct error *err);

/*
 * How far a saved plan has come, by its id: {ACTION ID: "done", "failed" or
 * "open"} of what was begun for it and for nothing else since.  Returns new,
 * or NULL.
 */
json_t *resume_progress(struct store *store, const char *plan,
			struct error *err);

#endif
