/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cluster knows about a run beyond the run's own object: events about
 * the Jobs of a JobSet and about pods, conditions of those Jobs, and Kueue.
 */
#ifndef JOBRUN_REASONS_H
#define JOBRUN_REASONS_H

#include <jansson.h>

#include "core/base/alloc.h"
#include "providers/kubernetes/kube_follow.h"

/* Why a run waits whose pods give no reason; in `mem`.  NULL: unknown. */
const char *why_waiting(const struct kube_at *at, const json_t *object,
			const struct pods *pods, struct arena *mem);

/* How the first failed Job of a JobSet failed; in `mem`.  NULL: none has, or it
 * is not a JobSet. */
const char *why_child_failed(const struct kube_at *at, const json_t *object,
			     struct arena *mem);

#endif
