/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobrun in the pods of a job: a container with jobrun's image copies it to an
 * empty volume before the program's container begins, which then starts with
 * 'jobrun launch'.  The program's image needs nothing of jobrun, and its tasks
 * have their variables, checkpoints and data as everywhere else.
 */
#ifndef JOBRUN_LAUNCHER_H
#define JOBRUN_LAUNCHER_H

#include "providers/kubernetes/manifest/pod.h"

/* jobrun's folder in the program's container. */
#define LAUNCHER_FOLDER "/jobrun/bin"
#define LAUNCHER_PROGRAM LAUNCHER_FOLDER "/jobrun"
#define LAUNCHER_VOLUME "jobrun-bin"

bool launcher_is_used(const struct pod_maker *maker);

/* Reports what is in the way of several processes in each pod of the master and
 * the workers (jobrun.processesPerHost). */
void launcher_check_processes(const struct pod_maker *maker);

/* The time between SIGTERM and SIGKILL of a pod: the program's grace period,
 * and the same again for its last checkpoint. */
long launcher_grace_s(const struct job *job);

/* Makes jobrun start the container's program, and adds the container that
 * installs it to the pods' spec, which already has the volume.  Reports what
 * has no counterpart. */
void launcher_add(const struct pod_maker *maker, json_t *spec,
		  json_t *container);

/* Describes checkpoints and data, for plans. */
void launcher_describe(const struct pod_maker *maker, json_t *properties);

#endif
