/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table of names with a pointer each, for cases with many comparisons:
 * keys of a map, anchors, job ids. */
#ifndef JOBRUN_NAMES_H
#define JOBRUN_NAMES_H

#include <stddef.h>

struct names {
	struct names_slot *slots;
	size_t size;
	size_t count;
};

void names_done(struct names *names);
void names_clear(struct names *names); /* keeps the memory */

/* The location of the name's pointer, which is NULL if the name is new.  Valid
 * until the next call.  Borrows the name. */
const void **names_at(struct names *names, const char *name, size_t len);

/* The names that have a pointer, at most `max` of them; returns how many. */
size_t names_list(const struct names *names, const char **out, size_t max);

#endif
