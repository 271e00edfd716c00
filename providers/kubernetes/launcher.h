/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobrun in the pods of a job: a container of the image that has it puts it
 * into an empty volume before the program's own begins, which then starts with
 * 'jobrun launch'.  The program's image needs nothing of jobrun, and its tasks
 * have their variables, checkpoints and data as everywhere else.
 */
#ifndef JOBRUN_LAUNCHER_H
#define JOBRUN_LAUNCHER_H

#include "providers/kubernetes/pod.h"

/* Where it is in the program's container. */
#define LAUNCHER_FOLDER "/jobrun/bin"
#define LAUNCHER_VOLUME "jobrun-bin"

bool launcher_is_used(const struct pod_maker *maker);

/* How long a pod has from SIGTERM to SIGKILL: the program its grace, and then
 * its last checkpoint as long. */
long launcher_grace_s(const struct job *job);

/* Has the program of a container started by it, and adds the container that
 * puts it there to the spec of the pods; the volume is there.  Says what has
 * no place. */
void launcher_add(const struct pod_maker *maker, json_t *spec,
		  json_t *container);

/* Describes checkpoints and data, for plans. */
void launcher_describe(const struct pod_maker *maker, json_t *properties);

#endif
