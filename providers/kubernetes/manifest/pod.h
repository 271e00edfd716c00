/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of a job: their containers, their nodes, and their environment. */
#ifndef JOBRUN_POD_H
#define JOBRUN_POD_H

#include "core/job/machines.h"
#include "providers/kubernetes/manifest/kube_block.h"
#include "providers/kubernetes/manifest/kube_translate.h"

/* Paths in the container. */
#define POD_SOURCE "/jobrun/source"
#define POD_RUN "/jobrun/run"

struct pod_maker {
	const struct job *job;
	const struct kubernetes_block *block; /* or NULL */
	const struct catalogue *catalogue;
	struct arena *mem;
	struct kube_job *out;
};

/* JOBRUN_RUN_DIR; in the arena. */
const char *pod_run_folder(const struct pod_maker *maker);

/* The spec of the pods of a group of machines, without the variables about its
 * peers.  Returns new. */
json_t *pod_spec(const struct pod_maker *maker,
		 const struct machine_group *group);

/*
 * Adds those variables to the `env` of its container.  `at` is the pods' pool;
 * `in_jobset`: the pods are part of a JobSet.
 */
void pod_add_peers(const struct pod_maker *maker, const struct kube_pool *at,
		   bool in_jobset, json_t *spec);

#endif
