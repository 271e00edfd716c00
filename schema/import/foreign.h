/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job files from files of other programs.  What a form takes from the file is
 * removed from it; what is left at the end is lost, and listed with its line.
 *
 * To add a form: a function that says whether a file has it and one that takes
 * what it can, and a row in foreign.c.
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
	json_t *value;     /* what is left of a document */
	json_t *lines;     /* of its values, by their paths */
	const char *block; /* the provider's, or NULL: none is named */
};

/* Where and how tasks of one kind run. */
struct foreign_pool {
	size_t role; /* 0: the master */
	long count;
	double cpus, memory_gb;  /* 0: nothing was said */
	const char *accelerator; /* as the catalogue calls it, or NULL */
	long accelerators;
};

struct foreign_form {
	const char *name; /* "a Kubernetes Job" */
	/* The traits of the provider it is of; 0: it is of none. */
	unsigned traits, unless;
	bool text; /* it is no YAML: `value` has one text, "text" */
	bool (*is)(const json_t *value);
	int (*take)(struct foreign *foreign, struct error *err);
};

extern const struct foreign_form foreign_job, foreign_jobset, foreign_trainjob,
	foreign_sbatch, foreign_sky, foreign_dstack;

/* Return new, and take it from the map; NULL if it is not there.  `path` is
 * "spec.template"; the key of the second may have dots. */
json_t *foreign_take(json_t *map, const char *path);
json_t *foreign_take_key(json_t *map, const char *key);
/* A number or a text, as a text in `out`; false if it is neither. */
bool foreign_text(const json_t *value, char *out, size_t size);

/* Moves a value to a field of the job; nothing if it is not there. */
void foreign_move(struct foreign *foreign, json_t *map, const char *path,
		  const char *field);
/* The same for a field of the provider's block. */
void foreign_move_own(struct foreign *foreign, json_t *map, const char *path,
		      const char *field);

/* A jobId from a name, taken. */
void foreign_name(struct foreign *foreign, json_t *name);
/* A field of a pool: "Config.imageUri"; the value is taken. */
void foreign_pool_set(struct foreign *foreign, size_t role, const char *field,
		      json_t *value);
/* The pool's machine type, count and accelerators. */
void foreign_pool_put(struct foreign *foreign, const struct foreign_pool *pool);
/* The type that "h100", "A100-80GB", "nvidia-h100-80gb" is, or NULL. */
const char *foreign_accelerator(const struct foreign *foreign,
				const char *name);
/* "16Gi", "500M", "16GB", "16+" in GB; 0: it is none. */
double foreign_gb(const char *text, double plain);
/* [bash, -c, text], new. */
json_t *foreign_shell(const char *text);

#endif
