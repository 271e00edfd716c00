/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the cluster whether it would admit everything that a run would make,
 * without making any of it: the cluster's admission has the last word on a
 * plan.
 */
#ifndef JOBRUN_REHEARSAL_H
#define JOBRUN_REHEARSAL_H

#include "providers/kubernetes/manifest/kube_translate.h"
#include "providers/kubernetes/manifest/objects.h"

struct rehearsal {
	const struct kube_at *at;
	const struct job *job;
	const struct kube_job *made;
	const struct kube_type *type; /* of the run */
	const json_t *body;           /* the run, as it would be applied */
	/* an earlier run has its name, and is deleted before */
	bool taken;
	json_t *outputs; /* the results */
	json_t *notes;   /* the cluster's warnings, for the reader */
};

int rehearse(const struct rehearsal *all, struct error *err);

#endif
