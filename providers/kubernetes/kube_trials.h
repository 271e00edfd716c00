/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials of hyperparameters: one Indexed Job whose indexes are the trials, so
 * that the cluster starts them as others end, even if nobody follows.  The
 * container gets the values of all indexes (providers/kubernetes/launch_trial.h).
 */
#ifndef JOBRUN_KUBE_TRIALS_H
#define JOBRUN_KUBE_TRIALS_H

#include "providers/kubernetes/pod.h"

bool trials_are_wanted(const struct job *job);

/* Says what has no place. */
void trials_check(const struct pod_maker *maker);
/* Adds to the words of the container that start the program which values the
 * trials have. */
void trials_add_command(const struct pod_maker *maker, json_t *command);
/* Makes of a Job one with an index for each trial. */
void trials_add_job(const struct job *job, json_t *spec);
/* Describes the parameters and settings, for plans. */
void trials_describe(const struct job *job, json_t *properties);

/* Leaves out of the `command` of properties what trials_describe() says in
 * fewer words. */
void trials_hide(json_t *properties);

/* Whether a cluster has left in a Job what makes indexes of their own of its
 * trials: an older one drops it in silence. */
bool trials_are_kept(const json_t *wanted, const json_t *made);

/* Reads back the values that trials_add_command() put into a Job; new, or
 * NULL. */
json_t *trials_of_object(const json_t *object);

#endif
