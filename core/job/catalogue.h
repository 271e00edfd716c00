/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about machines that jobs refer to by name.  The data are YAML files
 * that we ship, schema/catalogue/, where every entry names its source; they
 * become tables when jobrun is built, and schema/catalogue/catalogue_get.c
 * hands them out.
 *
 * The first member of each entry is its name.
 */
#ifndef JOBRUN_CATALOGUE_H
#define JOBRUN_CATALOGUE_H

#include <stdbool.h>
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

struct machine {
	const char *name; /* "n1-highcpu-16", "complex_model_m" */
	unsigned vcpus;
	double memory_gb;
	const char *accelerator_type; /* the built-in accelerator, or NULL */
	unsigned accelerator_count;
	const char *like; /* for a legacy type: the nearest of Compute Engine */
	/* If any is set, these are the only ways to have it. */
	bool by_spot, by_flex_start, by_reservation;
	bool not_at_vertex; /* Vertex AI has it not */
	/* A host of TPUs: how many chips, and of which type; NULL: not known.
	 * Its CPUs and memory may be 0: not known. */
	unsigned tpu_chips;
	const char *tpu_type;
};

/* Machines whose names begin alike.  A family can have several entries. */
struct machine_family {
	const char *name; /* "n1", or "legacy" */
	bool legacy;      /* AI Platform's own names */
	/* Compute Engine has them, AI Platform's list does not */
	bool unlisted;
	const struct machine *machines;
	size_t machine_count;
	const char *source;
	/* the catalogue it is from; NULL: the built-in one */
	const char *origin;
};

/* Which numbers of an accelerator some machines can have. */
struct fit {
	const char *const *machines;
	size_t machine_count;
	const unsigned *counts;
	size_t count_count;
};

struct accelerator {
	const char *type;           /* "NVIDIA_TESLA_T4" */
	const char *gres;           /* its name in the site's Slurm, or NULL */
	bool later;                 /* newer than AI Platform */
	bool flex_start;            /* Vertex AI has it by FLEX_START */
	const char *const *regions; /* where AI Platform offered it */
	size_t region_count;        /* 0: not known */
	const struct fit *fits;
	size_t fit_count;
	const char *source;
	/* the catalogue it is from; NULL: the built-in one */
	const char *origin;
};

/* The share that a cluster's node reserves for itself: rows add up. */
struct node_share {
	const char *of; /* "cpu", or "memory" in GiB */
	double from;
	double until; /* the end of the range; 0: no end */
	double share; /* the share of this range */
	double fixed; /* and besides */
	const char *source;
};

/* How Vertex AI gets machines. */
struct strategy {
	const char *name;       /* "FLEX_START" */
	bool waits;             /* takes a maxWaitDuration */
	bool some_accelerators; /* has only those with `flex_start` */
	bool one_machine;       /* all of a job's are alike */
	bool no_reservation;
	unsigned max_days; /* that a job has them; 0: no limit */
	const char *source;
};

/* A maker of accelerators, and how clusters name its products. */
struct maker {
	const char *name;         /* "NVIDIA": the prefix of its type names */
	const char *resource;     /* Kubernetes': "nvidia.com/gpu" */
	bool gke;                 /* GKE labels nodes with the type */
	const char *const *lines; /* words between the name and the model,
				   * "TESLA", which Slurm sites leave out */
	size_t line_count;
	const char *source;
};

/* One size of a generation of TPUs. */
struct slice {
	const char *name; /* "v3-32" */
	/* the value of acceleratorConfig.count: cores of v2, v3, v4 and v5p,
	 * chips of v5e and v6e */
	unsigned count;
	unsigned cores;
	unsigned chips;
	unsigned hosts;       /* VMs */
	const char *topology; /* TPU_HOST_BOUNDS "2,2,1" or chips "2x4" */
};

/* Where slices between two sizes exist. */
struct tpu_zone {
	const char *name;  /* "europe-west4-a" */
	unsigned min, max; /* in the unit of struct slice's `count` */
};

struct tpu {
	const char *type;          /* "TPU_V3" */
	const char *pod_type;      /* its other name, "TPU_V3_POD", or NULL */
	const char *generation;    /* "v3" */
	unsigned devices_per_host; /* the number of PyTorch/XLA devices */
	/* In the Cloud TPU API: AcceleratorConfig.type, and the usual software
	 * of its TPU VMs; NULL if the API lacks it. */
	const char *api_type;
	const char *vm_runtime;
	/* GKE's labels: of slices with several hosts or any slices, and of
	 * slices with one host, if that is another; NULL if it has none. */
	const char *gke_slice;
	const char *gke_single;
	bool flat; /* the chips of its slices have two dimensions */
	/* The most cubes of 4x4x4 chips in a slice; slices of more than one
	 * cube are not listed one by one. */
	unsigned cubes;
	/* At Vertex AI, "ct5lp-hightpu-{chips}t", where {chips} is the number
	 * of a host's chips; NULL if it has none. */
	const char *vertex_machine;
	const char *vertex_type; /* its type there; NULL: the same */
	/* where AI Platform offered it, if at all */
	const char *const *regions;
	size_t region_count;
	const struct tpu_zone *zones;
	size_t zone_count;
	const struct slice *slices;
	size_t slice_count;
	const char *source;
	/* the catalogue it is from; NULL: the built-in one */
	const char *origin;
};

struct region {
	const char *name;  /* "us-central1" */
	const char *zones; /* the letters of its zones: "abcf" */
};

struct region_group {
	bool training; /* had AI Platform Training */
	const struct region *regions;
	size_t region_count;
	const char *source;
	/* the catalogue it is from; NULL: the built-in one */
	const char *origin;
};

enum tpu_support {
	TPU_SUPPORT_NO,
	TPU_SUPPORT_YES,
	TPU_SUPPORT_ENDED, /* for some time only */
	TPU_SUPPORT_SEEN,  /* seen in use, but in no release note */
};

/* A runtime version of AI Platform Training. */
struct runtime {
	const char *version;        /* "2.11" */
	const char *released;       /* "2019-12", or NULL if it is not known */
	const char *const *pythons; /* "3.7", those known */
	size_t python_count;
	bool open; /* later ones than those may exist */
	enum tpu_support tpu;
	bool retired; /* no longer accepted from 2020-03-17 on */
	const char *source;
	/* the catalogue it is from; NULL: the built-in one */
	const char *origin;
};

enum device_kind {
	DEVICE_CPU,
	DEVICE_GPU,
	DEVICE_TPU,
};

/* A prebuilt training container of Vertex AI. */
struct container {
	const char *runtime; /* "2.11" */
	const char *python;  /* "3.10" */
	enum device_kind device;
	const char *image; /* "tf-cpu.2-11.py310" */
	const char *until; /* the end of its support, "2024-11-15" */
	const char *source;
};

/* The price of one machine, or of one accelerator in units of
 * acceleratorConfig.count (TPUs: cores or chips). */
struct price {
	const char *machine_type;     /* or NULL */
	const char *accelerator_type; /* or NULL */
	/* NULL: every region without a price of its own */
	const char *region;
	double per_hour;
};

/* A price list, part of a catalogue or a file of its own. */
struct price_list {
	const char *currency; /* "USD" */
	const struct price *prices;
	size_t price_count;
	const char *origin; /* the catalogue, or NULL */
};

struct catalogue {
	const char *date; /* "2026-11-22": it has no later prices */
	const struct tier *tiers;
	size_t tier_count;
	const struct machine_family *families;
	size_t family_count;
	const struct accelerator *accelerators;
	size_t accelerator_count;
	const struct strategy *strategies;
	size_t strategy_count;
	const struct maker *makers;
	size_t maker_count;
	const struct node_share *nodes;
	size_t node_count;
	const struct tpu *tpus;
	size_t tpu_count;
	const struct region_group *region_groups;
	size_t region_group_count;
	const struct runtime *runtimes;
	size_t runtime_count;
	const struct container *containers;
	size_t container_count;
	struct price_list prices; /* no currency: no prices */
};

/* Borrowed from the catalogue, or NULL if it has no such entry. */
const struct tier *catalogue_tier(const struct catalogue *all,
				  const char *name);
/* `family` may be NULL. */
const struct machine *catalogue_machine(const struct catalogue *all,
					const char *name,
					const struct machine_family **family);
const struct accelerator *catalogue_accelerator(const struct catalogue *all,
						const char *type);
/* NULL for NULL, and for one that is not known. */
const struct strategy *catalogue_strategy(const struct catalogue *all,
					  const char *name);

/* The maker of an accelerator, which itself need not be known. */
const struct maker *catalogue_maker(const struct catalogue *all,
				    const char *type);
/* The part of a node's "cpu", or of the GiB of its "memory", that pods can
 * use. */
double catalogue_allocatable(const struct catalogue *all, const char *of,
			     double capacity);
/* "t4", "h100", "rtx_pro_6000": the type without its maker, in lower case, up
 * to its first word with a digit.  Cut to `size`. */
void catalogue_model(const struct catalogue *all, const char *type, char *out,
		     size_t size);
/* The TPU of a type, by either of its names. */
const struct tpu *catalogue_tpu(const struct catalogue *all, const char *type);
const struct slice *tpu_slice(const struct tpu *tpu, unsigned count);
/* The slice of one host that the TPUs of a machine are, or NULL; `machine` may
 * be NULL, `tpu` is set to its generation. */
const struct slice *catalogue_host_slice(const struct catalogue *all,
					 const struct machine *machine,
					 const struct tpu **tpu);
/* Whether slices of the TPU exist in a topology in chips, "2x2x4". */
bool tpu_has_topology(const struct tpu *tpu, const char *topology);
/* Looks up a slice by name ("v3-32", "v5litepod-16"); `tpu` is set to its
 * generation. */
const struct slice *catalogue_slice(const struct catalogue *all,
				    const char *name, const struct tpu **tpu);
/* `training` may be NULL. */
const struct region *catalogue_region(const struct catalogue *all,
				      const char *name, bool *training);
const struct runtime *catalogue_runtime(const struct catalogue *all,
					const char *version);

/* `python` may be NULL: the first container of that runtime. */
const struct container *catalogue_container(const struct catalogue *all,
					    const char *runtime,
					    const char *python,
					    enum device_kind device);

/* Which numbers of the accelerator the machine can have, or NULL if none.
 * Built-in ones do not count. */
const struct fit *accelerator_fit(const struct accelerator *accelerator,
				  const char *machine);
bool fit_has(const struct fit *fit, long count);

/* The region of a zone ("us-central1-a" and "us-central1-ai1a" give
 * us-central1), or NULL if the text is not a zone of a known region. */
const struct region *catalogue_zone(const struct catalogue *all,
				    const char *zone);

#endif
