/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resolved place of a run: the cluster by its server and its CA, the
 * context, the user and the namespace.  A place may leave out the context or
 * its namespace, and the current ones may be others the next day.
 */
#ifndef JOBRUN_WHEREABOUTS_H
#define JOBRUN_WHEREABOUTS_H

#include "providers/kubernetes/record.h"

/* The place for people, in `mem`: "cluster 'x' (context 'y'), namespace 'z'". */
const char *whereabouts_words(const struct kube_at *at, struct arena *mem);
/* Adds the place to the properties of a run's record. */
void whereabouts_put(const struct kube_at *at, json_t *properties);
/*
 * Finds the cluster and namespace in which a run was started, whatever the
 * current context is.  Fails, saying where the run is, if the kubeconfig leads
 * elsewhere.  `*sure`, if not NULL, says whether missing objects are really
 * gone: they may not be if the user or the way differs.
 */
int whereabouts_find(struct kube *kube, const struct kube_record *record,
		     struct kube_at *out, bool *sure, struct error *err);

/* Whether a run in progress is elsewhere than at `at`. */
bool whereabouts_differ(const struct kube_record *record,
			const struct kube_at *at);

#endif
