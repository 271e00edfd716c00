/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machines that a job asks for: its scale tier taken apart, its types
 * looked up.  Every provider and every estimate starts from this list.
 */
#ifndef JOBRUN_MACHINES_H
#define JOBRUN_MACHINES_H

#include <stddef.h>

#include "core/base/error.h"
#include "core/job/catalogue.h"
#include "core/job/job.h"

enum role {
	ROLE_MASTER,
	ROLE_WORKER,
	ROLE_PARAMETER_SERVER,
	ROLE_EVALUATOR,
	ROLE_COUNT,
};

/* Equal machines in one role. */
struct machine_group {
	enum role role;
	/* As the file or its tier says it: "n1-standard-4",
	 * "complex_model_m", "cloud_tpu"; NULL if neither does. */
	const char *type;
	const struct machine *machine; /* NULL: a TPU, or not known */
	long count;
	/* What each machine has, built in or not; a TPU's type and size. */
	const char *accelerator_type; /* or NULL */
	long accelerator_count;
	const struct tpu *tpu; /* of a Cloud TPU, and then its slice too */
	const struct slice *slice;
	const struct replica_config *config; /* its fields may all be unset */
};

struct machine_groups {
	struct machine_group items[ROLE_COUNT]; /* by role; those with none
						 * are left out */
	size_t count;
};

/* "master", "worker", "parameterServer", "evaluator": as fields begin. */
const char *role_name(enum role role);

/* More machines than this in one role are a mistake anywhere. */
#define MACHINE_COUNT_MAX 100000

/* Points into the job and the catalogue.  Fails for a TPU that is not in the
 * catalogue, and for too many machines. */
int machines_of(const struct job *job, const struct catalogue *catalogue,
		struct machine_groups *out, struct error *err);

/*
 * How many processes run on each machine of the group: what
 * jobrun.processesPerHost says, for its master and workers.  With `device`, one
 * for each GPU or TPU chip; 1 if it has none.
 */
long machines_processes(const struct job *job,
			const struct machine_group *group);

/* The group of a role, or NULL. */
const struct machine_group *machines_find(const struct machine_groups *all,
					  enum role role);

#endif
