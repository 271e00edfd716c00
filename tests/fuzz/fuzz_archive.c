/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an archive of a folder, in the agent's format and in
 * libarchive's: it is unpacked, or refused with a reason, within its limits.
 * Nothing is written outside the folder, which appears whole or not at all.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/data/archive.h"
#include "core/ssh/agent_archive.h"
#include "tests/support/scratch.h"

#define PIECE_MAX 97

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Counts folders by the links that each adds to its parent; there are few
 * files. */
static nlink_t folders_in(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		abort();
	return st.st_nlink;
}

/* Unpacks in pieces of a length that the bytes decide. */
static void unpack_agent(const char *above, const uint8_t *data, size_t size)
{
	char *in = path_join(above, "in");
	struct unpacking *unpacking;
	struct error err = { 0 };
	size_t at = 0, len = size ? 1 + data[0] % PIECE_MAX : 1;
	int root, ret = 0;

	if (mkdir(in, 0700) < 0)
		abort();
	root = open(in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unpacking = unpacking_new(root, 1 << 20, 100);
	for (; ret == 0 && at < size; at += len)
		ret = unpacking_add(unpacking, data + at,
				    len < size - at ? len : size - at, &err);
	assert(ret == 0 || err.text[0]);
	unpacking_free(unpacking);
	close(root);
	assert(folders_in(above) == 3);
	free(in);
}

static void unpack_package(const char *above, const uint8_t *data, size_t size)
{
	static const struct archive_limits limits = { 1 << 20, 100 };
	const char *path = scratch_file("package", data, size);
	char *out = path_join(above, "out");
	struct error err = { 0 };

	if (archive_unpack(path, NULL, out, &limits, &err) == 0) {
		assert(folders_in(above) == 4);
	} else {
		assert(err.text[0] && access(out, F_OK) < 0);
		assert(folders_in(above) == 3);
	}
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *above = path_join(scratch_folder(), "above");
	struct error err;

	if (mkdir(above, 0700) < 0)
		abort();
	unpack_agent(above, data, size);
	unpack_package(above, data, size);
	if (folder_remove(above, &err) < 0)
		abort();
	free(above);
	return 0;
}
