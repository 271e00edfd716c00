/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the manifest of a checkpoint: it is refused with a reason, or
 * its files are below a folder and stay the same when it is written and
 * read. */
#include <assert.h>
#include <limits.h>
#include <stdint.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/checkpoint/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct checkpoint *one)
{
	const struct checkpoint_order order = { .metric = one->metric };
	struct checkpoint all[] = { *one, *one };
	char clean[PATH_MAX], text[256];
	uint64_t sum = 0;
	bool kept[2];

	assert(one->name && !path_clean(one->name, clean));
	for (size_t i = 0; i < one->file_count; i++) {
		assert(!path_clean(one->files[i].path, clean) && *clean);
		assert(one->files[i].crc32c);
		sum += one->files[i].size_bytes;
	}
	assert(sum == one->size_bytes);
	checkpoint_describe(one, text, sizeof(text));
	checkpoint_name_step(one->name);
	assert(checkpoint_compare_age(one, one) == 0);
	assert(checkpoint_compare_worth(one, one, &order) == 0);
	checkpoint_keep(all, 2, 1, &order, kept);
	assert(kept[0] || kept[1]);
}

static void write_and_read(const struct checkpoint *one, struct arena *mem)
{
	json_t *first = checkpoint_json(one), *second;
	struct checkpoint again;
	struct error err;

	if (checkpoint_from_json(first, mem, &again, &err) < 0)
		abort();
	second = checkpoint_json(&again);
	assert(json_equal(first, second));
	json_decref(first);
	json_decref(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *mem = arena_new();
	struct checkpoint one;
	struct error err = { 0 };
	json_t *value = json_read((const char *)data, size, "manifest", &err);

	if (value && checkpoint_from_json(value, mem, &one, &err) == 0) {
		look_at(&one);
		write_and_read(&one, mem);
	} else {
		assert(err.text[0]);
	}
	json_decref(value);
	arena_free(mem);
	return 0;
}
