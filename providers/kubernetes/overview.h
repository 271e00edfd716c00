/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How all runs of a namespace stand, in one request, or two where some have
 * pods that do not run yet: for commands that ask about many.  They are Tables
 * of the API, which have a line for each object and nothing else
 * (kubernetes.io/docs/reference/using-api/api-concepts, "Receiving resources
 * as Tables").
 */
#ifndef JOBRUN_OVERVIEW_H
#define JOBRUN_OVERVIEW_H

#include "providers/kubernetes/record.h"

/* Whether it is known without a look at the run itself that nothing has
 * changed since its record was written. */
bool overview_is_enough(struct kube *kube, const struct kube_at *at,
			const struct kube_record *record);
void overview_free_all(struct kube_overview *all);

#endif
