/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the entry of an object in a cache: each block is right or
 * reported as damaged.  The first byte decides whether the checksums of header
 * and blocks are made right, as no fuzzer would find them.
 */
#include <assert.h>
#include <stdint.h>

#include "core/base/crc32c.h"
#include "core/stream/cache_internal.h"
#include "tests/support/scratch.h"

#define URL "https://host/object"
#define HEADER_SIZE 4096u
#define LINE_LEN 24u
#define BLOCKS_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes an entry of the line and the text up to a NUL, then the object. */
static size_t make_entry(const uint8_t *data, size_t size, char *out)
{
	size_t text = strnlen((const char *)data, size);
	size_t len = text < HEADER_SIZE - LINE_LEN - 1
			     ? text
			     : HEADER_SIZE - LINE_LEN - 1;
	char sum[9];

	memset(out, 0, HEADER_SIZE);
	memcpy(out + LINE_LEN, data, len);
	crc32c_format(crc32c_add(0, out + LINE_LEN, HEADER_SIZE - LINE_LEN),
		      sum);
	memcpy(out, "jobrun cache 1 ", 15);
	memcpy(out + 15, sum, 8);
	out[23] = '\n';
	text += text < size;
	memcpy(out + HEADER_SIZE, data + text, size - text);
	return HEADER_SIZE + size - text;
}

static void read_entry(struct cache *cache)
{
	struct cache_entry *entry = cache_find(cache, URL);
	const struct cache_version *version;
	static char block[CACHE_BLOCK];
	uint64_t i, at;
	size_t len;

	if (!entry)
		return;
	version = cache_entry_version(entry);
	assert(version->size && version->crc32c);
	for (i = 0, at = 0; i < BLOCKS_MAX && at < version->size; i++) {
		if (cache_entry_read(entry, i, block, &len) < 0)
			break;
		assert(len && len <= CACHE_BLOCK && len <= version->size - at);
		at += len;
	}
	cache_entry_close(entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = malloc(HEADER_SIZE + size), *folder, name[160];
	char entry[CACHE_NAME_SIZE];
	struct cache *cache;
	struct error err;
	size_t len = size;

	if (!bytes)
		abort();
	cache_name(URL, entry);
	if (size && data[0] & 1)
		len = make_entry(data + 1, size - 1, bytes);
	else
		memcpy(bytes, data, size);
	folder = path_join(scratch_folder(), "cache");
	snprintf(name, sizeof(name), "cache/%s", entry);
	scratch_file(name, bytes, len);
	cache = cache_open(folder, 1 << 20, &err);
	if (!cache)
		abort();
	read_entry(cache);
	cache_close(cache);
	if (folder_remove(folder, &err) < 0)
		abort();
	free(folder);
	free(bytes);
	return 0;
}
