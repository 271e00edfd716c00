/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an index of shards: it is refused, or stays the same when it is
 * written and read. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/shard/shard_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_index(const uint8_t *data, size_t size)
{
	struct arena *mem = arena_new();
	struct buf first = { 0 }, second = { 0 };
	struct shard_index index;
	struct error err = { 0 };

	if (shard_index_parse((const char *)data, size, "index", mem, &index,
			      &err) == 0) {
		assert(!err.text[0]);
		shard_index_print(&index, &first);
		if (shard_index_parse(first.data, first.len, "index", mem,
				      &index, &err) < 0)
			abort();
		shard_index_print(&index, &second);
		assert(first.len == second.len);
		assert(!memcmp(first.data, second.data, first.len));
	} else {
		assert(err.text[0] && err.code == ERROR_INVALID);
	}
	buf_done(&first);
	buf_done(&second);
	arena_free(mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_index(data, size);
	return 0;
}
