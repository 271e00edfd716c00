/* SPDX-License-Identifier: Apache-2.0 */
/* A folder for what a fuzzer writes, in memory if there is such a place; gone
 * when the process exits. */
#ifndef JOBRUN_SCRATCH_H
#define JOBRUN_SCRATCH_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"

static char scratch_path[64];

static inline void scratch_remove(void)
{
	struct error ignored;

	folder_remove(scratch_path, &ignored);
}

static inline const char *scratch_folder(void)
{
	if (*scratch_path)
		return scratch_path;
	strcpy(scratch_path, access("/dev/shm", W_OK)
				     ? "/tmp/jobrun-fuzz-XXXXXX"
				     : "/dev/shm/jobrun-fuzz-XXXXXX");
	if (!mkdtemp(scratch_path) || atexit(scratch_remove))
		abort();
	return scratch_path;
}

/* The bytes as a file below it; borrowed until the next call. */
static inline const char *scratch_file(const char *name, const void *data,
				       size_t size)
{
	static char path[PATH_MAX];
	char *folder;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", scratch_folder(), name);
	file = fopen(path, "w");
	if (!file) {
		folder = path_folder(path);
		if (folder_make(folder, &(struct error){ 0 }) < 0)
			abort();
		free(folder);
		file = fopen(path, "w");
	}
	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		abort();
	return path;
}

#endif
