/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one-time setup that lets AI Platform use TPUs in a project, following the
 * guide "Using TPUs to train your model": projects.getConfig names a service
 * account, which is created and gets the role roles/ml.serviceAgent.  Both are
 * resources of the plan; they belong to the project, not to a job, and stay
 * when the job is deleted.
 */
#ifndef JOBRUN_ACCESS_H
#define JOBRUN_ACCESS_H

#include "core/provider/provider.h"

extern const struct kind kind_service_identity;
extern const struct kind kind_iam_binding;

void access_desire(const struct job *job, struct resources *out);

#endif
