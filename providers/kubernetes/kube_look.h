/* SPDX-License-Identifier: Apache-2.0 */
/* One look at a run: follow.c, and for its trials follow_trials.c. */
#ifndef JOBRUN_KUBE_LOOK_H
#define JOBRUN_KUBE_LOOK_H

#include "core/spec/spec.h"
#include "providers/kubernetes/kube_follow.h"
#include "providers/kubernetes/manifest/kube_translate.h"
#include "providers/kubernetes/manifest/objects.h"
#include "providers/kubernetes/record.h"

struct kube_look {
	struct kube *kube;
	struct kube_at at;
	struct kube_record record;
	char *folder;
	bool follow; /* more looks will follow */
	bool sure;   /* what is missing is really gone: whereabouts.h */
	struct arena *mem;
	json_t *object;       /* NULL: it is gone */
	struct kube_job job;  /* its pools, from the object */
	struct run_spec spec; /* from the run's folder */
	struct pods pods;
};

/* How a task ended: "master 0 exited with 3"; `mem` is the look's. */
const char *look_end_words(const struct kube_look *look,
			   const struct task_place *place,
			   const struct pod_task *task);

/* ---- trials: each pod is one, and each index of the Job ---- */

bool look_has_trials(const struct kube_look *look);
/* Adds records of trials that have begun, which is needed before their logs are
 * written. */
int look_begin_trials(struct kube_look *look, struct error *err);
/* Updates the trials.  A trial has ended only when its log, which has its
 * metric, is complete. */
int look_put_trials(struct kube_look *look, struct error *err);
/* Decides the state of a run whose trials have all ended. */
int look_judge_trials(struct kube_look *look, enum run_state *state,
		      const char **why, struct error *err);
/* Cancels the trials that have not ended. */
int look_cancel_trials(struct kube_look *look, struct error *err);

#endif
