/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contracts by which training frameworks learn about their peers, as
 * environment variables.  Each has one writer, in a file of its own; those
 * that suit a task are all written, so that a program finds whichever it
 * knows.
 */
#ifndef JOBRUN_CONTRACT_H
#define JOBRUN_CONTRACT_H

#include "core/base/buf.h"
#include "core/base/environment.h"
#include "core/topology/topology.h"

/* Where the server of XRT is on each TPU VM, as xla_dist had it. */
#define CONTRACT_XRT_PORT 51011

/* To add one: its row, in a file of its own, and a line in contract.c. */
struct contract {
	const char *name;    /* "torch" */
	const char *summary; /* whose it is; no full stop */
	/* Would a program of this task look for it, without being told?
	 * NULL: of any. */
	bool (*suits)(const struct topology *all, size_t ordinal);
	/* Sets its variables; none if there is nothing to say. */
	void (*write)(const struct topology *all, size_t ordinal,
		      struct environment *env);
	/* The ports at which its peers expect the task's host whatever this
	 * run says, up to 0; NULL: none. */
	const int *(*ports)(const struct topology *all, size_t ordinal);
	/* For contracts that name all tasks to each (else NULL): makes the part
	 * that is the same for all, and keeps it in the topology. */
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

extern const struct contract *const contracts[]; /* up to NULL */
/* NULL, with what there is in `err`, if there is none of that name. */
const struct contract *contract_find(const char *name, struct error *err);

bool contract_suits(const struct contract *contract, const struct topology *all,
		    size_t ordinal);
/* Writes all contracts that suit the task at `ordinal`. */
void contract_write(const struct topology *all, size_t ordinal,
		    struct environment *env);

/* At most so many ports, in order and each once, at which peers expect the
 * host of a task by the contracts that suit it; returns how many. */
#define CONTRACT_PORTS_MAX 16
size_t contract_ports(const struct topology *all, size_t ordinal,
		      int ports[CONTRACT_PORTS_MAX]);

/* Makes what all tasks have in common once, for who writes the contracts of
 * many: to write out a thousand peers for each of a thousand tasks would take
 * seconds.  To be called again when hosts or ports have changed. */
void contract_share(struct topology *all, struct arena *mem);

/* How a contract calls a type of task. */
typedef const char *contract_name_fn(const struct topology *all,
				     enum task_type type);

/* {"TYPE": ["HOST:PORT", …], …} of all tasks, compact: what TF_CONFIG and
 * CLUSTER_SPEC call the cluster.  Returns new. */
char *contract_cluster_text(const struct topology *all, contract_name_fn *name,
			    bool evaluators);
/* The part of the contracts about the reading task: environment and task.
 * Returns new. */
json_t *contract_task(const struct topology *all, const struct task_place *self,
		      contract_name_fn *name);
/* Sets a variable to the JSON of `config` with a first member "cluster", whose
 * text is there already.  Takes `config`. */
void contract_set_cluster(struct environment *env, const char *name,
			  const char *cluster, json_t *config);

/* "HOST:PORT" of a peer, an IPv6 address in brackets.  Returns new. */
char *contract_address(const char *host, int port);

/* Is the task one of torch.distributed's group? */
bool contract_is_ranked(const struct topology *all, size_t ordinal);

/* "HOST slots=N" for each host of the group, as Open MPI and DeepSpeed read
 * it (docs.open-mpi.org, "Scheduling processes across hosts";
 * deepspeed.ai/getting-started, "Resource Configuration"): a slot for each
 * task there. */
void contract_hostfile(const struct topology *all, struct buf *out);

#endif
