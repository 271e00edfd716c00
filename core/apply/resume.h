/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resumes what an earlier process began and did not finish, because it was
 * killed or got no answer: compares each open intent of the plan's jobs with
 * the observed resources.  Finished intents are closed.  The plan does the
 * rest, as its actions adopt before they create.
 */
#ifndef JOBRUN_RESUME_H
#define JOBRUN_RESUME_H

#include "core/plan/plan.h"
#include "core/store/store.h"

struct resume_options {
	/* Returns an open context of the provider, or NULL. */
	void *(*context)(void *arg, const struct provider *provider);
	/* Reports what was found for the intent: "it exists".  May be NULL. */
	void (*say)(void *arg, const struct intent_record *intent,
		    const char *found);
	void *arg;
};

/* Requires the locks of the plan's jobs, so that no intent of a live process is
 * taken for an open one. */
int resume_look(struct store *store, const struct plan *plan,
		const struct resume_options *options, struct error *err);

/*
 * Reports how far a saved plan has come, by its id: {ACTION ID: "done",
 * "failed" or "open"} for actions begun for this plan and for nothing else
 * since.  Returns new, or NULL.
 */
json_t *resume_progress(struct store *store, const char *plan,
			struct error *err);

#endif
