/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machines that a job asks for: its scale tier expanded, its types looked
 * up.  Every provider and every estimate starts from this list.
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

/* Identical machines in one role. */
struct machine_group {
	enum role role;
	/* As in the file or its tier: "n1-standard-4", "complex_model_m",
	 * "cloud_tpu"; NULL if neither names one. */
	const char *type;
	const struct machine *machine; /* NULL: a TPU, or unknown */
	long count;
	/* What each machine has, built in or not; for a TPU its type, as the
	 * catalogue calls it, and its size. */
	const char *accelerator_type; /* or NULL */
	long accelerator_count;
	const struct tpu *tpu; /* set for a Cloud TPU, then with its slice */
	const struct slice *slice;
	const struct replica_config *config; /* its fields may all be unset */
};

struct machine_groups {
	/* by role; roles without machines are left out */
	struct machine_group items[ROLE_COUNT];
	size_t count;
};

/* "master", "worker", "parameterServer", "evaluator": the prefixes of
 * fields. */
const char *role_name(enum role role);

/* The fields of a role, as the file has them, and the image that it runs: its
 * own, or the master's.  There is one master. */
const char *role_type(const struct training_input *in, enum role role);
long role_count(const struct training_input *in, enum role role);
const struct replica_config *role_config(const struct training_input *in,
					 enum role role);
const char *role_image(const struct training_input *in, enum role role);

/* More machines than this in one role are always a mistake. */
#define MACHINE_COUNT_MAX 100000

/* The result points into the job and the catalogue.  Fails for a TPU that is
 * not in the catalogue, and for too many machines. */
int machines_of(const struct job *job, const struct catalogue *catalogue,
		struct machine_groups *out, struct error *err);

/*
 * The number of processes on each machine of the group: for master and workers
 * the value of jobrun.processesPerHost.  `device` means one for each GPU or TPU
 * chip, or 1 without any.
 */
long machines_processes(const struct job *job,
			const struct machine_group *group);

/* The group of a role, or NULL. */
const struct machine_group *machines_find(const struct machine_groups *all,
					  enum role role);

#endif
