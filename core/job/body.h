/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a request to another system that a job file gives verbatim: checked
 * against that system's own types, which are data, and merged key by key into
 * what jobrun makes, as in Kubernetes' strategic merge.  Keys that jobrun sets
 * itself are refused.
 */
#ifndef JOBRUN_BODY_H
#define JOBRUN_BODY_H

#include "core/job/message.h"

/*
 * One type.  `fields` has a word for each field, "NAME:TYPE":
 *	none, s		text
 *	i, b, n		whole number, boolean, number
 *	w		text or whole number
 *	q		a quantity: text or number, and text when it is sent
 *	*		anything
 *	{TYPE}		a map
 *	[TYPE]		a list, which replaces another
 *	[TYPE]@KEY	one whose items are merged by their value of KEY
 *	[TYPE]@#	one whose items are merged by their index
 *	NAME		another type
 */
struct body_type {
	const char *name;
	const char *fields;
};

struct body_types {
	const struct body_type *items;
	size_t count;
};

/* A path that jobrun sets, "spec.containers[main].image" (a '*' at its end
 * matches all that begin so), and what to use instead. */
struct body_owned {
	const char *path;
	const char *instead;
};

struct body_form {
	const struct body_types *types;
	const char *root;               /* the type of the whole */
	const struct body_owned *owned; /* up to a row without a path */
};

/* Reports all that is wrong in the body. */
void body_check(const struct body_form *form, const json_t *body,
		tree_tell *tell, void *ctx);

/* Merges a body, given as text (NULL: none), into `into` and returns the
 * result: null removes a key, `$patch: delete` an item of a list.  Takes
 * `into`. */
json_t *body_merge(const struct body_form *form, json_t *into,
		   const char *body);

#endif
