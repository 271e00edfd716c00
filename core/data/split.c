/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/split.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

const char *const split_uneven_names[] = { "repeat", "drop", "exact", NULL };

/* "I/N" */
static bool read_share(const char *text, size_t len, long *at, long *of)
{
	char copy[32];
	int end = 0;

	if (len >= sizeof(copy) || !strchr("0123456789", *text))
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)len, text);
	return sscanf(copy, "%7ld/%7ld%n", at, of, &end) == 2 &&
	       (size_t)end == len && *at >= 0 && *at < *of && *of <= SPLIT_MAX;
}

int split_share_parse(const char *text, long *at, long *of, struct error *err)
{
	if (read_share(text, strlen(text), at, of))
		return 0;
	return error_set(err, ERROR_USAGE, "'%.60s' is not a share such as 0/2",
			 text);
}

static bool read_uneven(const char *text, size_t len, int *out)
{
	int i;

	for (i = 0; split_uneven_names[i]; i++) {
		if (strlen(split_uneven_names[i]) != len ||
		    strncmp(text, split_uneven_names[i], len) != 0)
			continue;
		*out = i;
		return true;
	}
	return false;
}

int split_parse(const char *text, struct split *out, struct error *err)
{
	struct split split = SPLIT_ALL;
	const char *at = text;
	size_t len;
	bool good;

	for (;; at += len + 1) {
		len = strcspn(at, ",");
		if (!strncmp(at, "host=", 5))
			good = read_share(at + 5, len - 5, &split.host,
					  &split.hosts);
		else if (!strncmp(at, "device=", 7))
			good = read_share(at + 7, len - 7, &split.device,
					  &split.devices);
		else
			good = !strncmp(at, "uneven=", 7) &&
			       read_uneven(at + 7, len - 7, &split.uneven);
		if (!good)
			return error_set(err, ERROR_USAGE,
					 "'%.60s' is not a split such as "
					 "host=0/2,device=3/8",
					 text);
		if (!at[len])
			break;
	}
	*out = split;
	return 0;
}

static size_t parts_of(const struct split *split)
{
	return (size_t)split->hosts * (size_t)split->devices;
}

/* The place of the reader in each round. */
static size_t turn_of(const struct split *split)
{
	return (size_t)split->host +
	       (size_t)split->hosts * (size_t)split->device;
}

size_t split_length(const struct split *split, size_t count)
{
	size_t parts = parts_of(split);
	size_t rest = split->uneven == SPLIT_REPEAT ? parts - 1
		      : split->uneven == SPLIT_DROP
			      ? 0
			      : parts - 1 - turn_of(split);

	return (count + rest) / parts;
}

size_t split_at(const struct split *split, size_t count, size_t i)
{
	size_t place = turn_of(split) + parts_of(split) * i;

	/* Only the last round may have fewer shards than readers. */
	return place < count ? place : place % count;
}

size_t split_repeated(const struct split *split, size_t count)
{
	return split->uneven == SPLIT_REPEAT
		       ? split_length(split, count) * parts_of(split) - count
		       : 0;
}

size_t split_dropped(const struct split *split, size_t count)
{
	return split->uneven == SPLIT_DROP ? count % parts_of(split) : 0;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t split_samples(const struct split *split, const uint64_t *samples,
		       size_t count)
{
	size_t i, length = split_length(split, count);
	uint64_t *sorted, sum = 0;

	if (!count)
		return 0;
	if (split->uneven == SPLIT_EXACT) {
		for (i = 0; i < length; i++)
			sum += samples[split_at(split, count, i)];
		return sum;
	}
	sorted = mem_grow(NULL, count, sizeof(*sorted));
	memcpy(sorted, samples, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_number);
	/* Nobody gets a shard twice, as length <= count. */
	for (i = 0; i < length; i++)
		sum += sorted[i];
	free(sorted);
	return sum;
}

/* SplitMix64, by Sebastiano Vigna (public domain). */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

void split_shuffle(uint64_t seed, uint64_t epoch, size_t *order, size_t count)
{
	uint64_t state = seed;
	size_t i, j, moved;

	/* Mixes the epoch in, so that epochs differ from those of the next
	 * seed. */
	state = random_next(&state) ^ epoch;
	for (i = 0; i < count; i++)
		order[i] = i;
	for (i = count; i > 1; i--) {
		j = (size_t)((__uint128_t)random_next(&state) * i >> 64);
		moved = order[i - 1];
		order[i - 1] = order[j];
		order[j] = moved;
	}
}
