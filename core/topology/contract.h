/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contracts through which training frameworks learn about their peers:
 * environment variables.  Each has one writer, in a file of its own; all
 * contracts that suit a task are written, so that a program finds whichever it
 * knows.
 */
#ifndef JOBRUN_CONTRACT_H
#define JOBRUN_CONTRACT_H

#include "core/base/buf.h"
#include "core/base/environment.h"
#include "core/topology/topology.h"

/* The port of the XRT server on each TPU VM, as in xla_dist. */
#define CONTRACT_XRT_PORT 51011

/* To add one: a row in a file of its own, and a line in contract.c. */
struct contract {
	const char *name;    /* "torch" */
	const char *summary; /* which framework uses it; no full stop */
	/* Whether a program of this task would look for it without being told.
	 * NULL: any would. */
	bool (*suits)(const struct topology *all, size_t ordinal);
	/* Sets its variables; none if there is nothing to say. */
	void (*write)(const struct topology *all, size_t ordinal,
		      struct environment *env);
	/* The ports at which peers expect the task's host whatever this run
	 * says, terminated by 0; NULL: none. */
	const int *(*ports)(const struct topology *all, size_t ordinal);
	/* For contracts that name all tasks to each (else NULL): makes the part
	 * that is the same for all, and stores it in the topology. */
	void (*share)(struct topology *all, struct arena *mem);
};

extern const struct contract contract_tf_config;
extern const struct contract contract_tpu_config;
extern const struct contract contract_cluster_spec;
extern const struct contract contract_cloud_ml;
extern const struct contract contract_torch;
extern const struct contract contract_xrt;
extern const struct contract contract_pjrt;
extern const struct contract contract_megascale;
extern const struct contract contract_jax;

extern const struct contract *const contracts[]; /* NULL-terminated */
/* NULL, with the existing names in `err`, if there is none of that name. */
const struct contract *contract_find(const char *name, struct error *err);

bool contract_suits(const struct contract *contract, const struct topology *all,
		    size_t ordinal);
/* Writes all contracts that suit the task at `ordinal`. */
void contract_write(const struct topology *all, size_t ordinal,
		    struct environment *env);

/* Lists the ports, sorted and without duplicates, at which peers expect the
 * host of a task by the contracts that suit it; at most this many.  Returns
 * their number. */
#define CONTRACT_PORTS_MAX 16
size_t contract_ports(const struct topology *all, size_t ordinal,
		      int ports[CONTRACT_PORTS_MAX]);

/* Makes the common part of all tasks' contracts once, for callers that write
 * many: writing a thousand peers for each of a thousand tasks would take
 * seconds.  To be called again when hosts or ports have changed. */
void contract_share(struct topology *all, struct arena *mem);

/* A contract's name for a type of task. */
typedef const char *contract_name_fn(const struct topology *all,
				     enum task_type type);

/* {"TYPE": ["HOST:PORT", …], …} of all tasks, compact: the cluster of TF_CONFIG
 * and CLUSTER_SPEC.  Returns new. */
char *contract_cluster_text(const struct topology *all, contract_name_fn *name,
			    bool evaluators);
/* The part of the contracts about the current task: environment and task.
 * Returns new. */
json_t *contract_task(const struct topology *all, const struct task_place *self,
		      contract_name_fn *name);
/* Sets a variable to the JSON of `config` with a first member "cluster", whose
 * text is given.  Takes `config`. */
void contract_set_cluster(struct environment *env, const char *name,
			  const char *cluster, json_t *config);

/* "HOST:PORT" of a peer, with brackets around an IPv6 address.  Returns new. */
char *contract_address(const char *host, int port);

/* Whether the task belongs to torch.distributed's group. */
bool contract_is_ranked(const struct topology *all, size_t ordinal);

/* "HOST slots=N" for each host of the group, as Open MPI and DeepSpeed read it
 * (docs.open-mpi.org, "Scheduling processes across hosts";
 * deepspeed.ai/getting-started, "Resource Configuration"), with a slot for each
 * task on the host. */
void contract_hostfile(const struct topology *all, struct buf *out);

#endif
