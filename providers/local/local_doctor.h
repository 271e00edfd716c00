/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOBRUN_LOCAL_DOCTOR_H
#define JOBRUN_LOCAL_DOCTOR_H

struct checks;
struct job;
struct provider_env;

/* The part of `doctor` about a job on this machine or on hosts: the program's
 * interpreter and modules, the container runtime, GPUs, each host. */
void local_doctor_job(const struct job *job, const struct provider_env *env,
		      struct checks *all);

#endif
