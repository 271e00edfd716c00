/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How all runs of a namespace stand, in one request: for commands that ask
 * about many.  It is a Table of the API, which has a line for each object and
 * nothing else (kubernetes.io/docs/reference/using-api/api-concepts,
 * "Receiving resources as Tables").
 */
#ifndef JOBRUN_KUBERNETES_OVERVIEW_H
#define JOBRUN_KUBERNETES_OVERVIEW_H

#include "providers/kubernetes/record.h"

/*
 * Whether it is known without a look at the run itself that nothing has
 * changed since its record was written.  The first run that is asked about is
 * looked at; from the second other one on, all that can be are answered from
 * one overview.
 */
bool overview_is_enough(struct kube *kube, const struct kube_at *at,
			const struct kube_record *record);
void overview_free_all(struct kube_overview *all);

#endif
