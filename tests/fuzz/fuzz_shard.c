/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an index of shards, and as a tar archive that samples are taken
 * from.  An index that is taken is the same after it was written; what a scan
 * finds lies within the file, and is named by a path below a folder.
 */
#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/shard/samples.h"
#include "core/shard/shard_index.h"
#include "core/data/tar_scan.h"

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

struct found {
	struct samples *all;
	uint64_t size;
};

static int look(void *arg, const struct tar_member *member, struct error *err)
{
	const struct found *found = arg;
	char clean[PATH_MAX];

	(void)err;
	assert(!path_clean(member->name, clean));
	assert(!strcmp(clean, member->name));
	if (member->type != TAR_FILE)
		return 0;
	assert(member->name[0]);
	assert(member->offset <= found->size);
	assert(member->size_bytes <= found->size - member->offset);
	samples_add_file(
		found->all,
		&(struct sample_file){
			.name = arena_strdup(found->all->mem, member->name),
			.size_bytes = member->size_bytes,
			.offset = member->offset });
	return 0;
}

static void read_archive(const uint8_t *data, size_t size)
{
	struct found found = { .all = samples_new(), .size = size };
	int fd = memfd_create("archive", MFD_CLOEXEC);
	struct error err = { 0 };
	size_t i, files = 0;

	if (fd < 0 || fd_write(fd, data, size) < 0)
		abort();
	samples_add_source(found.all, SOURCE_TAR, "archive", -1);
	if (tar_scan(fd, "archive", look, &found, &err) < 0)
		assert(err.text[0]);
	if (samples_order(found.all, &err) == 0) {
		samples_shuffle(found.all, size);
		for (i = 0; i < found.all->count; i++)
			files += found.all->items[i].count;
		assert(files == found.all->file_count);
	}
	samples_free(found.all);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_index(data, size);
	read_archive(data, size);
	return 0;
}
