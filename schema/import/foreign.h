/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes job files from files of other programs.  Everything that a format's
 * function uses is removed from the file; the rest is lost, and listed with its
 * lines.
 *
 * To add a format: a function that recognizes its files, one that takes what it
 * can, and a row in foreign.c.
 */
#ifndef JOBRUN_FOREIGN_H
#define JOBRUN_FOREIGN_H

#include <jansson.h>
#include <stdbool.h>

#include "core/job/catalogue.h"
#include "schema/import/import.h"

#define FOREIGN_IN "trainingInput."
#define FOREIGN_ROLES 4

struct foreign {
	struct import *import;
	const struct catalogue *catalogue;
	const char *file;
	const char *folder; /* see import_foreign() */
	json_t *value;      /* the unused rest of a document */
	json_t *lines;      /* the lines of its values, by their paths */
	const char *block;  /* the provider's block, or NULL: no provider */
	const struct message *fields; /* of that block, or NULL */
	json_t *shared; /* what all pods have, by fields of the block; owned */
};

/* Where and how the tasks of one role run. */
struct foreign_pool {
	size_t role; /* 0: the master */
	long count;
	const char *path; /* where its pods stand in the file; may be NULL */
	double cpus, memory_gb;  /* 0: not given */
	const char *accelerator; /* the catalogue's name, or NULL */
	long accelerators;
};

struct foreign_form {
	const char *name; /* "a Kubernetes Job" */
	/* The traits of the provider that the format belongs to; 0: none. */
	unsigned traits, unless;
	bool text;    /* not YAML: `value` has one string, "text" */
	bool at_home; /* its program starts in the folder of the file */
	bool (*is)(const json_t *value);
	int (*take)(struct foreign *foreign, struct error *err);
};

extern const struct foreign_form foreign_job, foreign_jobset, foreign_trainjob,
	foreign_sbatch, foreign_sky, foreign_dstack;

/* Return new, removed from the map; NULL if it is missing.  `path` is
 * "spec.template"; the key of the second function may contain dots. */
json_t *foreign_take(json_t *map, const char *path);
json_t *foreign_take_key(json_t *map, const char *key);
/* Copies a number or a string to `out`; false if it is neither. */
bool foreign_text(const json_t *value, char *out, size_t size);

/* Moves a value to a field of the job; does nothing if it is missing. */
void foreign_move(struct foreign *foreign, json_t *map, const char *path,
		  const char *field);
/* The same for a field of the provider's block. */
void foreign_move_own(struct foreign *foreign, json_t *map, const char *path,
		      const char *field);

/* Makes a jobId from a name, which it takes. */
void foreign_name(struct foreign *foreign, json_t *name);
/* Sets a field of a pool, "Config.imageUri"; takes the value. */
void foreign_pool_set(struct foreign *foreign, size_t role, const char *field,
		      json_t *value);
/* Sets the pool's machine type, count and accelerators. */
void foreign_pool_put(struct foreign *foreign, const struct foreign_pool *pool);
/* The accelerator type for "h100", "A100-80GB", "nvidia-h100-80gb", or NULL. */
const char *foreign_accelerator(const struct foreign *foreign,
				const char *name);
/* Parses "16Gi", "500M", "16GB", "16+" into GB; 0: not a size. */
double foreign_gb(const char *text, double plain);
/* Whether the value or a part of it may be a secret, which a job file must not
 * have; `path` is its key. */
bool foreign_has_secret(const json_t *value, const char *path);

/* Takes a pod template.  What is left in it is lost. */
void foreign_take_pod(struct foreign *foreign, json_t *template,
		      struct foreign_pool *pool);
/* Returns, new, the values of a map that a tree of the provider's block allows,
 * removed from the map.  `field` is "pod" or "job"; `below` is where the values
 * stand in it: "metadata", "spec", or "main", the program's container. */
json_t *foreign_keep(const struct foreign *foreign, json_t *map,
		     const char *field, const char *below);
/* [bash, -c, text], new. */
json_t *foreign_shell(const char *text);

#endif
