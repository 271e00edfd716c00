/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named resources of Compute Engine v1: "projects/P/global/
 * instanceTemplates/N".  An operation creates or deletes one; these functions
 * wait for it, but not for the state of the resource afterwards.  `once` is
 * that of struct resource, or NULL.
 */
#ifndef JOBRUN_COMPUTE_H
#define JOBRUN_COMPUTE_H

#include <jansson.h>

#include "providers/google/google.h"

/* Sets `out` to a new value, or to NULL if there is none. */
int compute_get(struct google *google, const char *path, json_t **out,
		struct error *err);
/* Creates it in the collection at `path`.  An existing one of that name is
 * success. */
int compute_insert(struct google *google, const char *once, const char *path,
		   const json_t *body, struct error *err);
/* Deletes it and waits for that.  Already gone is success. */
int compute_delete(struct google *google, const char *once, const char *path,
		   struct error *err);
/* Gets all items of a list; `filter` may be NULL.  Sets `out` to a new
 * array. */
int compute_list(struct google *google, const char *path, const char *filter,
		 json_t **out, struct error *err);
/* POSTs without a body, for requests answered at once; sets `out` to a new
 * value. */
int compute_ask(struct google *google, const char *path, json_t **out,
		struct error *err);
/* The same for an idempotent request that begins an operation; waits until it
 * is done. */
int compute_act(struct google *google, const char *once, const char *path,
		struct error *err);

#endif
