/* SPDX-License-Identifier: Apache-2.0 */
#include "core/shard/shard_plan.h"

#include <assert.h>
#include <stdlib.h>

#include "core/data/tar_header.h"

/* The bytes that a sample takes in its shard. */
static uint64_t sample_bytes(const struct samples *all,
			     const struct sample *sample)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = sample->first; i < sample->first + sample->count; i++) {
		const struct sample_file *file = &all->files[i];
		const struct tar_head head = { .path = file->name,
					       .size_bytes = file->size_bytes };

		assert(file->size_bytes != SIZE_UNKNOWN);
		bytes += tar_header_size(&head) + file->size_bytes +
			 tar_padding(file->size_bytes);
	}
	return bytes;
}

static int divide(const struct samples *all, uint64_t shards,
		  struct shard_plan *out, struct error *err)
{
	size_t i;

	if (shards > all->count)
		return error_set(err, ERROR_INVALID,
				 "%zu sample%s cannot fill %llu shards",
				 all->count, all->count == 1 ? "" : "s",
				 (unsigned long long)shards);
	out->count = (size_t)shards;
	out->first = mem_alloc((out->count + 1) * sizeof(*out->first));
	for (i = 0; i <= out->count; i++) {
		size_t each = all->count / out->count;
		size_t over = all->count % out->count;

		out->first[i] = i * each + (i < over ? i : over);
	}
	return 0;
}

static int fill(const struct samples *all, const struct shard_limits *limits,
		struct shard_plan *out)
{
	uint64_t bytes = 0, more = 0;
	size_t size = 0, i;

	for (i = 0; i < all->count; i++) {
		if (limits->bytes)
			more = sample_bytes(all, &all->items[i]);
		if (i &&
		    !(limits->samples &&
		      i - out->first[out->count - 1] >= limits->samples) &&
		    !(limits->bytes &&
		      bytes + more + TAR_END > limits->bytes)) {
			bytes += more;
			continue;
		}
		if (out->count + 1 >= size) {
			size = size ? size * 2 : 64;
			out->first =
				mem_grow(out->first, size, sizeof(*out->first));
		}
		out->first[out->count++] = i;
		bytes = more;
	}
	out->first[out->count] = all->count;
	return 0;
}

int shard_plan_make(const struct samples *all,
		    const struct shard_limits *limits, struct shard_plan *out,
		    struct error *err)
{
	struct shard_plan plan = { 0 };
	int ret = limits->shards ? divide(all, limits->shards, &plan, err)
				 : fill(all, limits, &plan);

	if (ret == 0 && plan.count > SHARD_COUNT_MAX)
		ret = error_set(err, ERROR_INVALID,
				"that makes %zu shards; the maximum is %d",
				plan.count, SHARD_COUNT_MAX);
	if (ret == 0)
		*out = plan;
	else
		shard_plan_done(&plan);
	return ret;
}

void shard_plan_done(struct shard_plan *plan)
{
	free(plan->first);
	*plan = (struct shard_plan){ 0 };
}

void shard_plan_digest(const struct samples *all, const struct shard_plan *plan,
		       size_t i, struct digest *out)
{
	struct digester *digester = digester_new();
	size_t j, k;

	digester_add_text(digester, "shard 1");
	for (j = plan->first[i]; j < plan->first[i + 1]; j++) {
		const struct sample *sample = &all->items[j];

		for (k = sample->first; k < sample->first + sample->count;
		     k++) {
			const struct sample_file *file = &all->files[k];
			const struct sample_source *source =
				&all->sources[file->source];

			digester_add_text(digester, source->path);
			digester_add_text(digester, file->name);
			digester_add(digester, &file->size_bytes,
				     sizeof(file->size_bytes));
			digester_add(digester, &file->offset,
				     sizeof(file->offset));
		}
	}
	digester_end(digester, out);
	digester_free(digester);
}
