/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the readers of values: fill_text.c reads strings, fill_list.c lists
 * and maps, fill_value.c the rest.  On failure all of them return false, NULL
 * or -1, after reporting what is wrong, and leave `out` alone; results live as
 * long as the nodes or `fill->mem`.
 */
#ifndef JOBRUN_FILL_PART_H
#define JOBRUN_FILL_PART_H

#include "schema/read/fill_value.h"

/* The name of a value in messages: "\"args\"", or for an item "\"args\"[2]".
 * Returns `out`. */
const char *spot_name(const struct spot *at, char out[SHORT_SIZE]);
/* Reports that the value must be `wanted`: "a list". */
void spot_wrong_type(struct fill *fill, const struct spot *at,
		     const char *wanted);

/* The index of the value among the allowed ones. */
int fill_enum(struct fill *fill, const struct spot *at);
/* The text as it is written; the value must be neither a list nor a map. */
const char *fill_text(struct fill *fill, const struct spot *at);
/* The text in the form that the field requires. */
bool fill_string(struct fill *fill, const struct spot *at, const char **out);

/* Counts numbers where strings should be, in a list or a map; starts zeroed. */
struct unquoted {
	size_t count;
	struct spot first;
	struct path path; /* of `first` */
};

/* An item, like fill_string(), but without the warning. */
const char *fill_item(struct fill *fill, const struct spot *at,
		      struct unquoted *unquoted);
/* Gives one warning for all of them; does nothing if there are none. */
void unquoted_warn(struct fill *fill, const struct unquoted *unquoted,
		   const struct node *list);

bool fill_is_map(struct fill *fill, const struct spot *at);
bool fill_strings(struct fill *fill, const struct spot *at,
		  struct strings *out);
bool fill_doubles(struct fill *fill, const struct spot *at,
		  struct doubles *out);
bool fill_pairs(struct fill *fill, const struct spot *at, struct pairs *out);
/* For FIELD_TREE (fill_tree.c). */
bool fill_tree(struct fill *fill, const struct spot *at, const char **out);
/* For FIELD_MESSAGES and FIELD_NAMED. */
bool fill_messages(struct fill *fill, const struct spot *at,
		   struct messages *out);

#endif
