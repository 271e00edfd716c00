/* SPDX-License-Identifier: Apache-2.0 */
/* The resources that a job wants on a Slurm cluster, as plans show them. */
#ifndef JOBRUN_DESIRE_H
#define JOBRUN_DESIRE_H

#include "core/provider/provider.h"
#include "core/spec/spec.h"
#include "providers/slurm/request.h"

/* The run's instructions for its tasks, with paths relative to its folder, and
 * the request to Slurm. */
struct slurm_job {
	struct run_spec spec;
	struct slurm_request request;
	const char *program; /* its path on the nodes */
	const char *missing; /* or NULL */
};

int slurm_job_make(const struct job *job, const struct catalogue *catalogue,
		   struct arena *mem, struct slurm_job *out, struct error *err);

/* For provider_slurm. */
int slurm_desire(const struct job *job, const struct provider_env *env,
		 struct resources *out, struct error *err);
const char *slurm_place(const struct job *job, struct arena *mem);
const char *slurm_contacts(const struct job *job,
			   const struct boundary *boundary, struct arena *mem);

extern const struct kind slurm_kind_job;

#endif
