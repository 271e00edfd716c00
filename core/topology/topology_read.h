/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where am I, and with whom?  Each platform tells its processes in a way of
 * its own.  There is a reader for each, in a file of its own; all they look at
 * is given to them, and none of them waits.
 */
#ifndef JOBRUN_TOPOLOGY_READ_H
#define JOBRUN_TOPOLOGY_READ_H

#include "core/topology/topology.h"

/* What readers look at.  Borrowed. */
struct surroundings {
	char *const *env;
	const char *host; /* this machine's name, fully qualified if it has
			   * such a one */
	const struct catalogue *catalogue;

	/* Has this machine a metadata server?  Must be quick where it has
	 * none.  NULL: it has none. */
	bool (*has_metadata)(void *arg);
	/* The value at a path below /computeMetadata/v1/, in `mem`; NULL if
	 * there is no such value. */
	int (*metadata)(void *arg, const char *path, struct arena *mem,
			const char **out, struct error *err);
	void *arg;
};

/* To add one: its row, in a file of its own, and a line in topology_read.c. */
struct topology_reader {
	const char *name;    /* "slurm" */
	const char *summary; /* what it looks at; no full stop */
	/* Does this process run there, by all that it sees? */
	bool (*detects)(const struct surroundings *at);
	/*
	 * `self` is set to the ordinal of this task.  What is missing or
	 * makes no sense is ERROR_INVALID, and names the variable.  The
	 * topology borrows from `at`, too.
	 */
	int (*read)(const struct surroundings *at, struct arena *mem,
		    struct topology *out, size_t *self, struct error *err);
};

extern const struct topology_reader reader_aiplatform;
extern const struct topology_reader reader_kubernetes;
extern const struct topology_reader reader_local;
extern const struct topology_reader reader_slurm;
extern const struct topology_reader reader_tpu_vm;
extern const struct topology_reader reader_vertexai;

/* In the order of asking, up to NULL; the last one, local, always detects. */
extern const struct topology_reader *const topology_readers[];
/* NULL, with what there is in `err`, if there is none of that name. */
const struct topology_reader *topology_reader_find(const char *name,
						   struct error *err);
const struct topology_reader *
topology_reader_detect(const struct surroundings *at);

/* ---- for readers ------------------------------------------------------ */

/* Borrowed; NULL if it is not there or empty. */
const char *surroundings_get(const struct surroundings *at, const char *name);
/* A variable that must be there, from `min` to `max`. */
int surroundings_number(const struct surroundings *at, const char *name,
			long min, long max, long *out, struct error *err);

/* The job, the trial and the file for its metric, as both of Google's services
 * call them: CLOUD_ML_JOB_ID, CLOUD_ML_TRIAL_ID, CLOUD_ML_HP_METRIC_FILE. */
void surroundings_cloud_ml(const struct surroundings *at, struct topology *out);

/* More tasks than this is a mistake. */
#define TOPOLOGY_TASK_MAX 100000

/* Places where platforms name none: tasks listen where AI Platform's did,
 * torch.distributed meets where torchrun does. */
#define TOPOLOGY_TASK_PORT 2222
#define TOPOLOGY_MASTER_PORT 29500

/*
 * The tasks of a group that has one on each host, in that order.  Of one host
 * it is the master, of several they are the workers.
 */
void topology_from_hosts(const char *const *hosts, size_t count,
			 struct arena *mem, struct topology *out);

/*
 * The cluster and the task of TF_CONFIG and CLUSTER_SPEC: a map from a task's
 * type to a list of "HOST:PORT", and {"type", "index", "trial"}.  `name` is
 * the variable's.  `type_of` says what a key means, or -1.  An evaluator need
 * not be in the cluster.  An empty cluster is one master on this host.
 */
int topology_from_cluster(const json_t *config, const char *name,
			  int (*type_of)(const char *key, enum task_type *out),
			  struct arena *mem, struct topology *out, size_t *self,
			  struct error *err);

#endif
