/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a tar archive: the members that a scan finds are within the file
 * and have paths below a folder, all of them go into samples, and a stream of
 * it breaks off where it says.
 */
#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/data/tar_scan.h"
#include "core/shard/samples.h"
#include "core/stream/stream_tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

/* Streams pieces of a length that the bytes decide. */
static void stream_archive(const uint8_t *data, size_t size, bool leaves_end)
{
	struct stream_tar *tar = malloc(sizeof(*tar));
	size_t i, n, owed, len = size ? 1 + data[size / 2] * 9u : 1;
	uint64_t at = 0, end, skipped = 0;

	stream_tar_begin(tar, leaves_end);
	for (i = 0; i < size; i += n) {
		n = len < size - i ? len : size - i;
		end = stream_tar_skip(tar, at, (const char *)data + i, n,
				      &owed);
		assert(leaves_end || (!end && !owed));
		assert(owed < STREAM_TAR_BLOCK && owed <= skipped);
		skipped -= owed;
		if (owed) {
			static const char zeros[STREAM_TAR_BLOCK];

			tar->leaves_end = false;
			assert(stream_tar_add(tar, at, zeros, owed) == owed);
			tar->leaves_end = true;
			at += owed;
		}
		skipped += end;
		if (end) {
			n = (size_t)end;
			continue;
		}
		n = stream_tar_add(tar, at, (const char *)data + i, n);
		at += n;
		end = stream_tar_end(tar, at);
		assert(end <= at);
		assert(tar->is_tar || end == at);
	}
	assert(at + skipped == size);
	free(tar);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_archive(data, size);
	stream_archive(data, size, false);
	stream_archive(data, size, true);
	return 0;
}
