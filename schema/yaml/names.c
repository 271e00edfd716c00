/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/yaml/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

struct names_slot {
	const char *name; /* NULL: free */
	size_t len;
	uint64_t hash;
	const void *value;
};

void names_done(struct names *names)
{
	free(names->slots);
	*names = (struct names){ 0 };
}

void names_clear(struct names *names)
{
	/* A table that was large for one map must not slow down all small
	 * ones. */
	if (names->size > 1024 && names->count < names->size / 8)
		names_done(names);
	if (names->count)
		memset(names->slots, 0, names->size * sizeof(*names->slots));
	names->count = 0;
}

static uint64_t hash_of(const char *name, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
	return hash ^ hash >> 29;
}

static struct names_slot *find(struct names *names, const char *name,
			       size_t len, uint64_t hash)
{
	size_t i = hash & (names->size - 1);

	for (;; i = (i + 1) & (names->size - 1)) {
		struct names_slot *slot = &names->slots[i];

		if (!slot->name || (slot->hash == hash && slot->len == len &&
				    memcmp(slot->name, name, len) == 0))
			return slot;
	}
}

static void grow(struct names *names)
{
	struct names old = *names;
	size_t i;

	names->size = old.size ? old.size * 2 : 32;
	names->slots = mem_alloc(names->size * sizeof(*names->slots));
	for (i = 0; i < old.size; i++)
		if (old.slots[i].name)
			*find(names, old.slots[i].name, old.slots[i].len,
			      old.slots[i].hash) = old.slots[i];
	free(old.slots);
}

const void **names_at(struct names *names, const char *name, size_t len)
{
	uint64_t hash = hash_of(name, len);
	struct names_slot *slot;

	if (names->count * 2 >= names->size)
		grow(names);
	slot = find(names, name, len, hash);
	if (!slot->name) {
		*slot = (struct names_slot){ name, len, hash, NULL };
		names->count++;
	}
	return &slot->value;
}

size_t names_list(const struct names *names, const char **out, size_t max)
{
	size_t i, n = 0;

	for (i = 0; i < names->size && n < max; i++)
		if (names->slots[i].value)
			out[n++] = names->slots[i].name;
	return n;
}
