/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table of small numbers, eight bytes each; the caller knows what they
 * stand for, and whether two of those are equal.  For objects that exist once
 * per file, of which there may be many.
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

/* Iterates over the numbers added with this hash, one per call; `*at` starts at
 * 0.  Returns false if there are no more. */
bool slots_next(const struct slots *slots, uint64_t hash, size_t *at,
		uint32_t *number);

uint64_t slots_hash(const void *data, size_t len);

#endif
