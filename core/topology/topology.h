/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of a run: its tasks, where they are, the devices each has, and
 * the TPU if any.  Every platform says this in its own way, and every framework
 * wants to hear it in its own: readers fill this struct, contract.h writes it.
 */
#ifndef JOBRUN_TOPOLOGY_H
#define JOBRUN_TOPOLOGY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/alloc.h"
#include "core/job/catalogue.h"
#include "core/job/job.h"

/* In the order of their ordinals within a run. */
enum task_type {
	TASK_MASTER,
	TASK_WORKER,
	TASK_PS,
	TASK_EVALUATOR,
	TASK_TYPE_COUNT,
};

struct task_place {
	enum task_type type;
	int index;        /* among the tasks of its type */
	const char *host; /* an address that its peers reach */
	int port;         /* its own, for its peers; 0: none is known yet */
	/* On the machine of the task before it, as another process there. */
	bool beside;
	size_t machine; /* that it is on, of those the job asks for */

	/* Among the tasks of the group; see topology_rank(). */
	int group;       /* its host: 0 is that of the first task */
	int local_rank;  /* among those on its host */
	int local_world; /* how many those are */
};

/* Where a TPU's host is reached. */
struct tpu_place {
	const char *ip;
	int port;
};

enum tpu_kind {
	TPU_NODE, /* another machine: driven through gRPC, by XRT */
	TPU_VM,   /* in the machine of the task: PJRT */
	TPU_CPU,  /* a rehearsal: CPUs in its stead */
};

struct topology {
	const char *job_id;
	const char *master_name;  /* "master" or "chief", in TF_CONFIG */
	const char *job_text;     /* trainingInput as the service put it into
				  * TF_CONFIG: JSON with snake_case keys */
	struct task_place *tasks; /* by ordinal */
	size_t count;
	/* The tasks that form the torch.distributed group are the master and
	 * the workers; its rendezvous is on the host of the first. */
	int master_port;
	/* CLUSTER_SPEC names worker pools, as on Vertex AI, not roles, as on
	 * AI Platform. */
	bool names_pools;
	/* For a trial of hyperparameter tuning; else NULL. */
	const char *trial_id;
	const char *metric_file; /* where it writes its metric */
	/* GPUs on each machine of the group; 0: none, or not known. */
	unsigned accelerators;
	/* Its torchrun is told to make a world of one machine. */
	bool standalone;
	/* Its machines are one host here, with devices of their own: in ranks
	 * each of them counts as a host. */
	bool apart;

	/* The TPU, if there is one: the tasks of the group on one host share
	 * that host's devices. */
	const char *tpu_slice; /* "v3-32", or NULL */
	unsigned tpu_slices;   /* so many of these; 0: one */
	enum tpu_kind tpu_kind;
	/* On TPU VMs: by XRT, through a server on each, not by PJRT. */
	bool tpu_xrt;
	unsigned devices_per_host; /* as PyTorch/XLA counts them */
	unsigned chips_per_host;
	const char *tpu_bounds; /* its hosts as a grid, "2,2,1"; or NULL */
	/* As TPU_CONFIG names it; NULL: it has no such name. */
	const char *tpu_project;
	const char *tpu_zone;
	const char *tpu_name;
	/* Its hosts in the order of the workers, once they are known. */
	const struct tpu_place *tpu_hosts;
	size_t tpu_host_count;

	/* `cluster` of TF_CONFIG and of CLUSTER_SPEC as JSON, or NULL: see
	 * contract_share(). */
	const char *tf_cluster;
	const char *spec_cluster;
};

/* "master", "worker", "ps" or "evaluator", as TF_CONFIG and logs have it. */
extern const char *const task_type_names[]; /* up to NULL */
const char *task_type_name(enum task_type type);
/* Also takes "chief" and "parameterServer"; -1 if there is no such type. */
int task_type_parse(const char *name, enum task_type *out);

/*
 * The tasks of a job, all on one host and without ports yet.  The tasks that
 * run the program are
 *  - a master, and workers, parameter servers and evaluators by their counts;
 *  - of a job with a TPU, one task per TPU host: on AI Platform the master
 *    drove a single-host TPU, so that is the master; the hosts of a larger
 *    slice are the workers, and worker 0 is their master.
 * A machine of the master or a worker that runs several processes
 * (jobrun.processesPerHost) has as many tasks, all but the first of which are
 * workers.
 * Lives in `mem`.  Fails if the catalogue does not know the tier or slice.
 */
int topology_from_job(const struct job *job, const struct catalogue *catalogue,
		      const char *host, struct arena *mem, struct topology *out,
		      struct error *err);

/*
 * Fills in a slice by its name ("v3-32"): devices, chips and bounds.  An
 * unknown slice leaves them zero and NULL.
 */
void topology_set_slice(struct topology *all, const struct catalogue *catalogue,
			const char *slice, struct arena *mem);

/* Has so many slices, 1 or more, in place of the one that there is: its tasks,
 * and behind them as many more workers for each other slice. */
void topology_repeat(struct topology *all, unsigned slices, struct arena *mem);

/* The hosts of each slice, and the slice that a task's host belongs to: they
 * are in order. */
unsigned topology_slice_hosts(const struct topology *all);
unsigned topology_slice_of(const struct topology *all, size_t ordinal);

/* How many machines the job asks for. */
size_t topology_machines(const struct topology *all);
/* The first task, at ordinal `from` or behind it, that is on a host, where
 * machines take so many hosts in turn; all->count if there is no other. */
size_t topology_on_host(const struct topology *all, size_t host, size_t hosts,
			size_t from);

/* Numbers machines, hosts and the tasks on them, from the tasks' hosts.  To be
 * called again when those have changed. */
void topology_rank(struct topology *all);

/* The ordinal of a task, or -1. */
int topology_find(const struct topology *all, enum task_type type, int index);

/* The number of tasks in the torch.distributed group. */
size_t topology_world_size(const struct topology *all);

/* The number of TCP ports that the run needs: one per task, one for the
 * rendezvous; and their placing in that order. */
size_t topology_port_count(const struct topology *all);
void topology_set_ports(struct topology *all, const int *ports);

/* How many there are of each type, for plans: {"master": 1, "worker": 2}.
 * Returns new. */
json_t *topology_tasks_json(const struct topology *all);
/* To and from the form in which a run's specification keeps it: by this table.
 * topology_rank() follows reading. */
extern const struct message topology_message;
json_t *topology_json(const struct topology *all); /* returns new */
int topology_from_json(const json_t *value, struct arena *mem,
		       struct topology *out, struct error *err);

#endif
