/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in the properties and the request of a resource for a value
 * that is not there yet, or must not be there:
 *  - an output of a resource before it (the address of a machine to be made),
 *    known after apply;
 *  - a secret of the job, which is fetched for the call that needs it and
 *    then forgotten;
 *  - a sealed value: a secret of which only a keyed digest is kept, so that a
 *    change of it can be seen.
 *
 * They are JSON objects that no provider's API has: plans, files and the
 * store show or keep them as they are, and never the value itself.
 */
#ifndef JOBRUN_PLACEHOLDER_H
#define JOBRUN_PLACEHOLDER_H

#include <jansson.h>
#include <stdbool.h>

#include "core/base/error.h"

struct resource;

enum placeholder_type {
	PLACEHOLDER_NONE, /* it is a value */
	PLACEHOLDER_OUTPUT,
	PLACEHOLDER_SECRET,
	PLACEHOLDER_SEALED,
};

/* All return new. */
json_t *placeholder_output(const struct resource *of, const char *name);
json_t *placeholder_secret(const char *name);
json_t *placeholder_sealed(const char *digest);

enum placeholder_type placeholder_type(const json_t *value);
/* "(known after apply)", "(sensitive)"; NULL for a value. */
const char *placeholder_text(const json_t *value);
const char *placeholder_unknown(void); /* "(known after apply)" */
/* True if the value is one or holds one. */
bool placeholder_any(const json_t *value);

bool placeholder_holds(const json_t *value, enum placeholder_type type);

/* The value with each placeholder as its text; returns new. */
json_t *placeholder_show(const json_t *value);

struct placeholder_source {
	/* Set `out` to a new value and return 0, or return 1 if it is not
	 * known, or -1. */
	int (*output)(void *arg, const char *kind, const char *resource,
		      const char *name, json_t **out, struct error *err);
	int (*secret)(void *arg, const char *name, json_t **out,
		      struct error *err);
	void *arg;
};

/* The value with what is known in place; what is not stays as it is.  Returns
 * new, or NULL. */
json_t *placeholder_fill(const json_t *value,
			 const struct placeholder_source *source,
			 struct error *err);

#endif
