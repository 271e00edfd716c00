/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placeholders in the properties and the request of a resource, for values that
 * are not known yet, or must not appear:
 *  - an output of an earlier resource (the address of a machine to be made),
 *    known after apply;
 *  - a secret of the job, which is fetched for the call that needs it and
 *    then forgotten;
 *  - a sealed value: a secret of which only a keyed digest is stored, so that
 *    a change can be detected.
 *
 * Placeholders are JSON objects that no provider's API has: plans, files and
 * the store show or keep them as they are, and never the value itself.
 */
#ifndef JOBRUN_PLACEHOLDER_H
#define JOBRUN_PLACEHOLDER_H

#include <jansson.h>
#include <stdbool.h>

#include "core/base/error.h"

struct resource;

enum placeholder_type {
	PLACEHOLDER_NONE, /* an ordinary value */
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
/* Whether the value is a placeholder or contains one. */
bool placeholder_any(const json_t *value);

bool placeholder_holds(const json_t *value, enum placeholder_type type);

/* Replaces each placeholder by its text; returns new. */
json_t *placeholder_show(const json_t *value);

struct placeholder_source {
	/* Set `out` to a new value and return 0; return 1 if the value is
	 * unknown, or -1. */
	int (*output)(void *arg, const char *kind, const char *resource,
		      const char *name, json_t **out, struct error *err);
	int (*secret)(void *arg, const char *name, json_t **out,
		      struct error *err);
	void *arg;
};

/* Replaces the placeholders whose values are known; others are left.  Returns
 * new, or NULL. */
json_t *placeholder_fill(const json_t *value,
			 const struct placeholder_source *source,
			 struct error *err);

#endif
