/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hyperparameter trials: one Indexed Job whose indexes are the trials, so that
 * the cluster starts one when another ends, even if nobody follows.  The
 * container gets the values of all indexes
 * (providers/kubernetes/manifest/launch_trial.h).
 */
#ifndef JOBRUN_KUBE_TRIALS_H
#define JOBRUN_KUBE_TRIALS_H

#include "providers/kubernetes/manifest/pod.h"

bool trials_are_wanted(const struct job *job);

/* Reports fields without a counterpart. */
void trials_check(const struct pod_maker *maker);
/* Adds the trials' values to the container's command line. */
void trials_add_command(const struct pod_maker *maker, json_t *command);
/* Changes a Job into one with an index for each trial. */
void trials_add_job(const struct job *job, json_t *spec);
/* Describes the parameters and settings, for plans. */
void trials_describe(const struct job *job, json_t *properties);

/* Removes from `command` of the properties what trials_describe() shows more
 * briefly. */
void trials_hide(json_t *properties);

/* Whether a cluster has kept the fields that make trials independent indexes:
 * an older one drops them silently. */
bool trials_are_kept(const json_t *wanted, const json_t *made);

/* Reads back the values that trials_add_command() put into a Job; new, or
 * NULL. */
json_t *trials_of_object(const json_t *object);

#endif
