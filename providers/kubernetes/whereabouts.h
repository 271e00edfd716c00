/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a run is, resolved: the cluster by its server and its authority, the
 * context, the user and the namespace.  What a place leaves open (the current
 * context, its namespace) may mean another cluster the next day.
 */
#ifndef JOBRUN_WHEREABOUTS_H
#define JOBRUN_WHEREABOUTS_H

#include "providers/kubernetes/record.h"

/* Adds them to the properties of a run's record. */
void whereabouts_put(const struct kube_at *at, json_t *properties);
/*
 * Goes to the cluster and namespace that a run was started in, whatever the
 * current context is.  Fails, saying where the run is, if the kubeconfig leads
 * elsewhere.  `*sure`, if not NULL, says whether what is not there is gone: not
 * if somebody else looks, or by another way.
 */
int whereabouts_find(struct kube *kube, const struct kube_record *record,
		     struct kube_at *out, bool *sure, struct error *err);

/* Whether a run that goes on is elsewhere than at `at`. */
bool whereabouts_differ(const struct kube_record *record,
			const struct kube_at *at);

#endif
