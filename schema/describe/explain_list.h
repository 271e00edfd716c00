/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables that `explain` lists: those of the catalogue, the rules, the
 * providers.  To add one: a function that makes its rows, and a row in
 * listing.c.
 */
#ifndef JOBRUN_EXPLAIN_LIST_H
#define JOBRUN_EXPLAIN_LIST_H

#include <jansson.h>
#include <stdbool.h>

#include "core/job/catalogue.h"
#include "schema/describe/outline.h"

struct rule;

struct explain_list {
	const char *name; /* "scale-tiers" */
	const char *doc;
	/* Returns new: a list of objects with the same keys, which are the
	 * columns. */
	json_t *(*rows)(const struct outline *all,
			const struct catalogue *catalogue);
	bool dated; /* the rows come from the catalogue, and have its date */
};

extern const struct explain_list listings[]; /* up to a row with no name */

/* Or NULL. */
const struct explain_list *listing_find(const char *name);

/* The names of the providers to which the rule applies, or "all".  Returns
 * new. */
json_t *rule_places(const struct outline *all, const struct rule *rule);

#endif
