/* SPDX-License-Identifier: Apache-2.0 */
#include "core/shard/shard_list.h"

#include <stdlib.h>
#include <string.h>

#include "core/data/brace.h"

static int by_name(const void *a, const void *b)
{
	const struct shard_entry *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int find_name(const void *name, const void *entry)
{
	return strcmp(name, (*(const struct shard_entry *const *)entry)->name);
}

static void describe(struct shard_list *list, size_t i,
		     const struct shard_entry *entry)
{
	struct stream_object *item = &list->items[i];

	item->size = entry->bytes;
	item->crc32c = entry->crc32c;
	item->sha256 = *entry->sha256.hex ? entry->sha256.hex : NULL;
	list->samples[i] = entry->samples;
}

/* The last part of a URL or path, in `mem`, without a query after '?'. */
static const char *last_part(const char *url, struct arena *mem)
{
	size_t len = strstr(url, "://") ? strcspn(url, "?#") : strlen(url);
	size_t from = len;

	while (from && url[from - 1] != '/')
		from--;
	return arena_strndup(mem, url + from, len - from);
}

static int describe_all(struct shard_list *list,
			const struct shard_index *index, const char *index_url,
			struct arena *mem, struct error *err)
{
	const struct shard_entry **sorted, **found;
	int ret = 0;
	size_t i;

	sorted = mem_grow(NULL, index->count, sizeof(*sorted));
	for (i = 0; i < index->count; i++)
		sorted[i] = &index->shards[i];
	qsort(sorted, index->count, sizeof(*sorted), by_name);
	for (i = 0; i < list->count && ret == 0; i++) {
		found = bsearch(last_part(list->items[i].url, mem), sorted,
				index->count, sizeof(*sorted), find_name);
		if (found)
			describe(list, i, *found);
		else
			ret = error_set(err, ERROR_INVALID,
					"'%.200s' is not in the index '%.200s'",
					list->items[i].url, index_url);
	}
	free(sorted);
	return ret;
}

static void take_names(struct shard_list *list, const char *const *names,
		       size_t count, struct arena *mem)
{
	size_t i;

	list->count = count;
	list->items = arena_alloc(mem, count * sizeof(*list->items));
	for (i = 0; i < count; i++) {
		list->items[i].url = names[i];
		list->items[i].size = STREAM_SIZE_UNKNOWN;
	}
}

/* Takes the shards of the index, which are beside it unless it has their
 * URLs. */
static void take_index(struct shard_list *list, const struct shard_index *index,
		       const char *index_url, struct arena *mem)
{
	const char *base = last_part(index_url, mem);
	size_t folder = strcspn(index_url, "?#"), i;
	const char **names = mem_grow(NULL, index->count, sizeof(*names));

	if (!strstr(index_url, "://"))
		folder = strlen(index_url);
	folder -= strlen(base);
	for (i = 0; i < index->count; i++)
		names[i] = index->shards[i].url
				   ? index->shards[i].url
				   : arena_printf(mem, "%.*s%s", (int)folder,
						  index_url,
						  index->shards[i].name);
	take_names(list, names, index->count, mem);
	free(names);
}

int shard_list_make(const char *const *patterns, size_t count,
		    const struct shard_index *index, const char *index_url,
		    struct arena *mem, struct shard_list *out,
		    struct error *err)
{
	struct shard_list list = { 0 };
	struct brace_names names = { 0 };
	int ret = 0;
	size_t i;

	for (i = 0; i < count && ret == 0; i++)
		ret = brace_expand(patterns[i], mem, &names, err);
	if (ret == 0 && count)
		take_names(&list, names.items, names.count, mem);
	else if (ret == 0 && index)
		take_index(&list, index, index_url, mem);
	if (ret == 0 && !list.count)
		ret = error_set(err, ERROR_INVALID, "no shards");
	if (ret == 0 && index) {
		list.samples =
			arena_alloc(mem, list.count * sizeof(*list.samples));
		ret = describe_all(&list, index, index_url, mem, err);
	}
	brace_names_done(&names);
	if (ret == 0)
		*out = list;
	return ret;
}

void shard_walk_done(struct shard_walk *walk)
{
	free(walk->order);
	walk->order = NULL;
}

static struct split consumer_split(const struct shard_walk *walk)
{
	return (struct split){
		.hosts = 1,
		.device = walk->consumer,
		.devices = walk->consumers ? walk->consumers : 1,
		.uneven = walk->split.uneven,
	};
}

void shard_walk_order(const struct shard_walk *walk, uint64_t epoch,
		      size_t *order)
{
	size_t count = walk->list->count, i;

	for (i = 0; i < count; i++)
		order[i] = i;
	if (walk->shuffle)
		split_shuffle(walk->seed, epoch, order, count);
}

/* Leaves out shards of which all samples were taken. */
static void leave_out(struct shard_walk *walk)
{
	const struct shard_list *list = walk->list;
	size_t i;

	walk->left = 0;
	for (i = 0; i < list->count; i++) {
		size_t one = walk->order[i];

		if (!walk->had || walk->had->samples[one] < list->samples[one])
			walk->order[walk->left++] = one;
	}
}

static int begin_epoch(struct shard_walk *walk, struct error *err)
{
	size_t count = walk->list->count;
	struct split consumers = consumer_split(walk);
	bool is_exact = walk->split.uneven == SPLIT_EXACT;

	if (!walk->order)
		walk->order = mem_grow(NULL, count, sizeof(*walk->order));
	shard_walk_order(walk, walk->epoch, walk->order);
	walk->had = shard_taken_epoch(walk->taken, walk->epoch);
	leave_out(walk);
	walk->epoch++;
	if (walk->epochs != UINT64_MAX)
		walk->epochs--;
	walk->at = 0;
	walk->share = split_length(&walk->split, walk->left);
	walk->length = split_length(&consumers, walk->share);
	if (walk->length || walk->left < count)
		return 0;
	/* An exact split may leave some with nothing, in every epoch. */
	if (is_exact)
		walk->epochs = 0;
	return is_exact ? 0
			: error_set(err, ERROR_INVALID,
				    "%zu shard%s cannot be split %ld ways when "
				    "what is uneven is dropped",
				    count, count == 1 ? "" : "s",
				    walk->split.hosts * walk->split.devices *
					    consumers.devices);
}

/* The number of the i-th shard of the epoch. */
static size_t shard_at(const struct shard_walk *walk, size_t i)
{
	struct split consumers = consumer_split(walk);
	size_t place = split_at(&walk->split, walk->left,
				split_at(&consumers, walk->share, i));

	return walk->order[place];
}

size_t shard_walk_last(const struct shard_walk *walk)
{
	return shard_at(walk, walk->at - 1);
}

int shard_walk_next(void *arg, struct stream_object *out, struct error *err)
{
	struct shard_walk *walk = arg;
	size_t one;

	while (walk->at == walk->length) {
		if (!walk->epochs)
			return 0;
		if (begin_epoch(walk, err) < 0)
			return -1;
	}
	one = shard_at(walk, walk->at++);
	*out = walk->list->items[one];
	if (walk->had)
		out->skip = walk->had->samples[one];
	return 1;
}
