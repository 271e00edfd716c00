/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table of small numbers, eight bytes each: which things they stand
 * for, and whether two of those are equal, is the caller's to know.  For what
 * there is one of per file, of which there may be many.
 */
#ifndef JOBRUN_SLOTS_H
#define JOBRUN_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slots { /* `= { 0 }` is empty and ready */
	struct slot *items;
	size_t size;
	size_t count;
};

void slots_done(struct slots *slots);
void slots_add(struct slots *slots, uint64_t hash, uint32_t number);

/* The numbers that were added with such a hash, one at each call; `*at` is 0
 * at the first.  False if there are no more. */
bool slots_next(const struct slots *slots, uint64_t hash, size_t *at,
		uint32_t *number);

uint64_t slots_hash(const void *data, size_t len);

#endif
