/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOBRUN_SLURM_DOCTOR_H
#define JOBRUN_SLURM_DOCTOR_H

struct checks;
struct provider_env;

/* The part of `doctor` about Slurm on this machine. */
void slurm_doctor(const struct provider_env *env, struct checks *all);

#endif
