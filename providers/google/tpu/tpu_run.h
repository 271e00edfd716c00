/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs on TPUs that were made for them, through any of Google's APIs: the
 * tasks, and where they run.
 */
#ifndef JOBRUN_TPU_RUN_H
#define JOBRUN_TPU_RUN_H

#include <jansson.h>

#include "core/topology/topology.h"

struct arena;
struct catalogue;
struct error;
struct job;
struct provider_env;
struct resource;
struct resources;
struct run_spec;

/* Like spec_from_job(), with the name of the TPU; the hosts are not known
 * yet. */
int tpu_run_tasks(const struct job *job, const struct catalogue *catalogue,
		  enum tpu_kind kind, struct arena *mem, struct run_spec *out,
		  const char **missing, struct error *err);

/* Adds expected hosts to a forecast run, in the form of outputs
 * (core/supervise/allocation.h). */
int tpu_run_foresee(struct run_spec *spec, const struct job *job,
		    const json_t *outputs, struct arena *mem,
		    struct error *err);
/* Adds the machines made for the run to its specification: `run`, with all its
 * values.  They are checked every `interval_s`. */
int tpu_run_place(struct run_spec *spec, const struct resource *run,
		  const char *provider, long interval_s, long lease_s,
		  struct arena *mem, struct error *err);

/* The run that a job wants. */
struct tpu_run {
	struct resource *resource;
	const struct tpu *tpu;
	const struct slice *slice; /* NULL: not given in the job */
};

/* Adds the run; `missing` comes from tpu_run_tasks(). */
struct tpu_run tpu_run_add(const struct job *job,
			   const struct provider_env *env,
			   const struct run_spec *spec, const char *missing,
			   struct resources *out);

/* Checks for fields that such a run cannot have, and adds notes for the reader
 * of its plan. */
void tpu_run_check(const struct job *job, const struct run_spec *spec,
		   struct resources *out);

/* Adds a note on what VMs behind Identity-Aware Proxy need. */
void tpu_run_note_iap(struct resources *out);

/* For struct provider: "projects/P", or NULL. */
const char *tpu_run_where(const struct job *job, struct arena *mem);

#endif
