/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over the files of a folder, without libFuzzer: what was
 * once found stays found, with any compiler. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"

#define INPUT_MAX (64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	struct error err;
	struct dirent *entry;
	unsigned count = 0;
	DIR *dir;

	if (argc != 2 || !(dir = opendir(argv[1]))) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 64;
	}
	while ((entry = readdir(dir))) {
		char *path = path_join(argv[1], entry->d_name);
		size_t len;
		char *data = entry->d_name[0] == '.'
				     ? NULL
				     : file_read(path, INPUT_MAX, &len, &err);

		if (data) {
			LLVMFuzzerTestOneInput((const uint8_t *)data, len);
			count++;
		}
		free(data);
		free(path);
	}
	closedir(dir);
	printf("%s: %u inputs passed\n", argv[0], count);
	return count ? 0 : 1;
}
