/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of a run: its tasks, where they are, their devices, and the TPU
 * if there is one.  Every platform describes this in its own way, and every
 * framework expects it in its own: readers fill this struct, contract.h writes
 * it.
 */
#ifndef JOBRUN_TOPOLOGY_H
#define JOBRUN_TOPOLOGY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/alloc.h"
#include "core/job/catalogue.h"
#include "core/job/job.h"

/* Sorted by their ordinals within a run. */
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
	const char *host; /* an address that its peers can reach */
	int port;         /* its own port for its peers; 0: not known yet */
	/* Another process on the machine of the task before it. */
	bool beside;
	/* the index of its machine among those the job asks for */
	size_t machine;

	/* Only for tasks of the group; see topology_rank(): */
	int group;       /* its host: 0 is that of the first task */
	int local_rank;  /* among those on its host */
	int local_world; /* the number of those */
};

/* Where a TPU's host can be reached. */
struct tpu_place {
	const char *ip;
	int port;
};

enum tpu_kind {
	TPU_NODE, /* another machine: driven through gRPC, by XRT */
	TPU_VM,   /* in the task's own machine: PJRT */
	TPU_CPU,  /* a rehearsal with CPUs instead */
};

struct topology {
	const char *job_id;
	const char *master_name; /* "master" or "chief", in TF_CONFIG */
	/* trainingInput as the service put it into TF_CONFIG: JSON with
	 * snake_case keys */
	const char *job_text;
	struct task_place *tasks; /* by ordinal */
	size_t count;
	/* The torch.distributed group consists of the master and the workers;
	 * its rendezvous is at this port of the first one's host. */
	int master_port;
	/* CLUSTER_SPEC names worker pools, as on Vertex AI, rather than roles,
	 * as on AI Platform. */
	bool names_pools;
	/* For a hyperparameter trial; else NULL. */
	const char *trial_id;
	const char *metric_file; /* where it writes its metric */
	/* GPUs on each machine of the group; 0: none, or unknown. */
	unsigned accelerators;
	/* Its torchrun must make a world of one machine. */
	bool standalone;
	/* Its machines are one host here, with separate devices: for ranks,
	 * each counts as a host. */
	bool apart;

	/* The TPU, if there is one: the tasks of the group on one host share
	 * that host's devices. */
	const char *tpu_slice; /* "v3-32", or NULL */
	unsigned tpu_slices;   /* number of slices; 0: one */
	enum tpu_kind tpu_kind;
	/* On TPU VMs: use XRT, through a server on each, instead of PJRT. */
	bool tpu_xrt;
	unsigned devices_per_host; /* as PyTorch/XLA counts them */
	unsigned chips_per_host;
	const char *tpu_bounds; /* its hosts as a grid, "2,2,1"; or NULL */
	/* For TPU_CONFIG; NULL: it has no such name. */
	const char *tpu_project;
	const char *tpu_zone;
	const char *tpu_name;
	/* Its hosts in the order of the workers, once known. */
	const struct tpu_place *tpu_hosts;
	size_t tpu_host_count;

	/* `cluster` of TF_CONFIG and CLUSTER_SPEC as JSON, or NULL: see
	 * contract_share(). */
	const char *tf_cluster;
	const char *spec_cluster;
};

/* "master", "worker", "ps" or "evaluator", as in TF_CONFIG and logs. */
extern const char *const task_type_names[]; /* NULL-terminated */
const char *task_type_name(enum task_type type);
/* Also accepts "chief" and "parameterServer"; -1 if there is no such type. */
int task_type_parse(const char *name, enum task_type *out);

/*
 * Makes the tasks of a job, all on one host and without ports.  The tasks that
 * run the program are
 *  - a master, and workers, parameter servers and evaluators by their counts;
 *  - of a job with a TPU, one task per TPU host: on AI Platform the master
 *    drove a single-host TPU, so that is the master; the hosts of a larger
 *    slice are the workers, and worker 0 is their master.
 * A master's or worker's machine that runs several processes
 * (jobrun.processesPerHost) has as many tasks; all but the first are workers.
 * Lives in `mem`.  Fails if the catalogue does not know the tier or slice.
 */
int topology_from_job(const struct job *job, const struct catalogue *catalogue,
		      const char *host, struct arena *mem, struct topology *out,
		      struct error *err);

/*
 * Fills in a slice by its name ("v3-32"): devices, chips and bounds.  For an
 * unknown slice these are zero and NULL.
 */
void topology_set_slice(struct topology *all, const struct catalogue *catalogue,
			const char *slice, struct arena *mem);

/* Replaces the slice by so many slices, 1 or more: adds as many workers for
 * each further slice after the existing tasks. */
void topology_repeat(struct topology *all, unsigned slices, struct arena *mem);

/* Replaces each task of the group by so many on its machine, 1 or more: all but
 * the first of the master's machine are workers.  `self`, an ordinal, becomes
 * that of its machine's first task. */
void topology_split(struct topology *all, unsigned processes, size_t *self,
		    struct arena *mem);

/* The number of hosts of each slice, and the slice of a task's host: hosts are
 * sorted by slice. */
unsigned topology_slice_hosts(const struct topology *all);
unsigned topology_slice_of(const struct topology *all, size_t ordinal);

/* The number of machines that the job asks for. */
size_t topology_machines(const struct topology *all);
/* The first task, at ordinal `from` or later, on a host, when machines are
 * assigned to so many hosts in turn; all->count if there is none. */
size_t topology_on_host(const struct topology *all, size_t host, size_t hosts,
			size_t from);

/* Numbers machines, hosts and the tasks on them, from the tasks' hosts.  To be
 * called again when those have changed. */
void topology_rank(struct topology *all);

/* Whether the command's torchrun makes a world of one machine: whether it has
 * --standalone, perhaps within a line for a shell. */
bool topology_is_standalone(const struct strings *command);

/* The ordinal of a task, or -1. */
int topology_find(const struct topology *all, enum task_type type, int index);

/* The number of tasks in the torch.distributed group. */
size_t topology_world_size(const struct topology *all);

/* The number of TCP ports that the run needs: one per task, and one for the
 * rendezvous; and the function that assigns them in that order. */
size_t topology_port_count(const struct topology *all);
void topology_set_ports(struct topology *all, const int *ports);

/* The number of tasks of each type, for plans: {"master": 1, "worker": 2}.
 * Returns new. */
json_t *topology_tasks_json(const struct topology *all);
/* The form in which a run's specification stores a topology.  Call
 * topology_rank() after reading. */
extern const struct message topology_message;
json_t *topology_json(const struct topology *all); /* returns new */
int topology_from_json(const json_t *value, struct arena *mem,
		       struct topology *out, struct error *err);

#endif
