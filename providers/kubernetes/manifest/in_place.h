/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restarts in place: when the program fails, the containers of all pods start
 * again where they are.  An agent beside the program, which JobSet's sources
 * make, tells its pod when to (site/static/examples/in-place-restart of
 * sigs.k8s.io/jobset; its webhook checks the rest).
 */
#ifndef JOBRUN_IN_PLACE_H
#define JOBRUN_IN_PLACE_H

#include "providers/kubernetes/manifest/pod.h"

/* Whether the file asks for that, and for restarts. */
bool in_place_is_wanted(const struct pod_maker *maker);
/* Reports what is missing, or has no effect, of jobrun.kubernetes.restart. */
void in_place_check(const struct pod_maker *maker);
/* Changes the spec of a Job of a JobSet, with its pods. */
void in_place_add(const struct pod_maker *maker, json_t *job_spec);

#endif
