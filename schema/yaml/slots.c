/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/yaml/slots.h"

#include <stdlib.h>

#include "core/base/alloc.h"

struct slot {
	uint32_t hash;
	uint32_t number; /* plus one; 0: a free slot */
};

void slots_done(struct slots *slots)
{
	free(slots->items);
	*slots = (struct slots){ 0 };
}

uint64_t slots_hash(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t hash = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	return hash ^ hash >> 32;
}

static void put(struct slots *slots, uint32_t hash, uint32_t number)
{
	size_t i = hash & (slots->size - 1);

	while (slots->items[i].number)
		i = (i + 1) & (slots->size - 1);
	slots->items[i] = (struct slot){ hash, number };
}

void slots_add(struct slots *slots, uint64_t hash, uint32_t number)
{
	struct slots old = *slots;
	size_t i;

	if (slots->count * 2 >= slots->size) {
		slots->size = old.size ? old.size * 2 : 64;
		slots->items = mem_alloc(slots->size * sizeof(*slots->items));
		for (i = 0; i < old.size; i++)
			if (old.items[i].number)
				put(slots, old.items[i].hash,
				    old.items[i].number);
		free(old.items);
	}
	put(slots, (uint32_t)hash, number + 1);
	slots->count++;
}

bool slots_next(const struct slots *slots, uint64_t hash, size_t *at,
		uint32_t *number)
{
	size_t i;

	if (!slots->size)
		return false;
	/* `*at` is the slot after the last one found. */
	i = *at ? *at : (uint32_t)hash & (slots->size - 1);
	for (;; i = (i + 1) & (slots->size - 1)) {
		const struct slot *slot = &slots->items[i & (slots->size - 1)];

		if (!slot->number)
			return false;
		if (slot->hash != (uint32_t)hash)
			continue;
		*number = slot->number - 1;
		*at = (i & (slots->size - 1)) + 1;
		return true;
	}
}
