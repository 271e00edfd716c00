/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about machines that jobs refer to by name.  The data is a YAML file
 * that we ship, schema/catalogue.yaml, where every entry names its source;
 * schema/catalogue.c reads it.
 */
#ifndef JOBRUN_CATALOGUE_H
#define JOBRUN_CATALOGUE_H

#include <stddef.h>

/* What a scale tier consists of. */
struct tier {
	const char *name; /* "STANDARD_1" */
	const char *master_type;
	const char *worker_type; /* NULL if it has none */
	unsigned worker_count;
	const char *parameter_server_type;
	unsigned parameter_server_count;
	const char *accelerator_type; /* the master's or the TPU's, or NULL */
	unsigned accelerator_count;
	const char *source;
};

/* One size of a generation of TPUs. */
struct slice {
	const char *name;     /* "v3-32" */
	unsigned count;	      /* as acceleratorConfig.count says it: cores of
			       * v2, v3, v4 and v5p, chips of v5e and v6e */
	unsigned hosts;	      /* VMs */
	const char *topology; /* TPU_HOST_BOUNDS "2,2,1" or chips "2x4" */
};

struct tpu {
	const char *type;	   /* "TPU_V3" */
	const char *generation;	   /* "v3" */
	unsigned devices_per_host; /* what PyTorch/XLA calls devices */
	const struct slice *slices;
	size_t slice_count;
	const char *source;
};

struct catalogue {
	const struct tier *tiers;
	size_t tier_count;
	const struct tpu *tpus;
	size_t tpu_count;
};

/* Borrowed from the catalogue, or NULL if it has no such entry. */
const struct tier *catalogue_tier(const struct catalogue *all,
				  const char *name);
const struct tpu *catalogue_tpu(const struct catalogue *all, const char *type);
const struct slice *tpu_slice(const struct tpu *tpu, unsigned count);

#endif
