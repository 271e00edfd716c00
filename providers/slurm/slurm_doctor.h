/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOBRUN_SLURM_DOCTOR_H
#define JOBRUN_SLURM_DOCTOR_H

struct checks;
struct job;
struct provider_env;

/* The part of `doctor` about Slurm on this machine. */
void slurm_doctor(const struct provider_env *env, struct checks *all);

/* The same for a job: its cluster, its partition, what sbatch says to its
 * request, and its directory; through its login host if it names one. */
void slurm_doctor_job(const struct job *job, const struct provider_env *env,
		      struct checks *all);

#endif
