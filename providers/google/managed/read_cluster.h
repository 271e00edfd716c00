/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers of both Google services. */
#ifndef JOBRUN_READ_CLUSTER_H
#define JOBRUN_READ_CLUSTER_H

#include "core/topology/topology_read.h"

/*
 * Reads the cluster and the task of TF_CONFIG and CLUSTER_SPEC: a map from a
 * task's type to a list of "HOST:PORT", and {"type", "index", "trial"}.  `name`
 * is the variable's.  `type_of` gives the type for a key, or -1.  An evaluator
 * need not be in the cluster.  An empty cluster is one master on this host.
 */
int topology_from_cluster(const json_t *config, const char *name,
			  int (*type_of)(const char *key, enum task_type *out),
			  struct arena *mem, struct topology *out, size_t *self,
			  struct error *err);

/* Reads the job, the trial and its metric file: CLOUD_ML_JOB_ID,
 * CLOUD_ML_TRIAL_ID, CLOUD_ML_HP_METRIC_FILE. */
void surroundings_cloud_ml(const struct surroundings *at, struct topology *out);

#endif
