/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a request to another system that a job file gives as they are: held
 * against that system's own types, which are data, and merged into what jobrun
 * makes, key by key, as Kubernetes merges strategically.  What jobrun sets
 * itself is refused.
 */
#ifndef JOBRUN_BODY_H
#define JOBRUN_BODY_H

#include "core/job/message.h"

/*
 * One type.  `fields` has a word for each, "NAME:TYPE":
 *	none, s		text
 *	i, b, n		whole number, boolean, number
 *	w		text or whole number
 *	q		a quantity: text or number, and text when it is sent
 *	*		anything
 *	{TYPE}		a map
 *	[TYPE]		a list, which replaces another
 *	[TYPE]@KEY	one whose items are merged by what they have as KEY
 *	[TYPE]@#	one whose items are merged by their place
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

/* A path, "spec.containers[main].image", with a '*' at its end all that begin
 * so; and what to use for it. */
struct body_owned {
	const char *path;
	const char *instead;
};

struct body_form {
	const struct body_types *types;
	const char *root;               /* the type of the whole */
	const struct body_owned *owned; /* up to a row without a path */
};

/* Tells all that is wrong in it. */
void body_check(const struct body_form *form, const json_t *body,
		tree_tell *tell, void *ctx);

/* What `into` becomes with the text of a body (NULL: as it is): null takes
 * away, and so does `$patch: delete` in an item of a list.  Takes `into`. */
json_t *body_merge(const struct body_form *form, json_t *into,
		   const char *body);

#endif
