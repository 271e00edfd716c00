/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of all runs in a namespace, in one request, or two if some have
 * pods that do not run yet: for commands about many runs.  It uses Tables of
 * the API, which have one line per object and nothing else
 * (kubernetes.io/docs/reference/using-api/api-concepts, "Receiving resources as
 * Tables").
 */
#ifndef JOBRUN_OVERVIEW_H
#define JOBRUN_OVERVIEW_H

#include "providers/kubernetes/record.h"

/* Whether the overview alone shows that nothing has changed since the run's
 * record was written. */
bool overview_is_enough(struct kube *kube, const struct kube_at *at,
			const struct kube_record *record);
void overview_free_all(struct kube_overview *all);

#endif
