/* SPDX-License-Identifier: Apache-2.0 */
/* What a namespace asks of the pods in it. */
#ifndef JOBRUN_NAMESPACE_H
#define JOBRUN_NAMESPACE_H

#include <stdbool.h>

struct kube;
struct kube_at;

/* Whether a namespace enforces 'restricted' or warns about violations, as far
 * as its labels can be read.  Asked once for each. */
bool namespace_is_restricted(struct kube *kube, const struct kube_at *at);

#endif
