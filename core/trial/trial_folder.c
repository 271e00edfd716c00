/* SPDX-License-Identifier: Apache-2.0 */
#include "core/trial/trial_folder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"

char *trial_folder(const char *run_folder, int number)
{
	return mem_printf("%s/trials/%d", run_folder, number);
}

char *trial_attempt_folder(const char *run_folder, int number, int attempt)
{
	return attempt < 2 ? trial_folder(run_folder, number)
			   : mem_printf("%s/trials/%d/attempt-%d", run_folder,
					number, attempt);
}

char *trial_logs_folder(const char *run_folder, int number)
{
	char *folder = trial_attempt_folder(run_folder, number, 1);
	int attempt = 2;

	for (;;) {
		char *next =
			trial_attempt_folder(run_folder, number, attempt++);
		char *spec = path_join(next, "spec.json");
		bool is_there = access(spec, F_OK) == 0;

		free(spec);
		if (!is_there) {
			free(next);
			return folder;
		}
		free(folder);
		folder = next;
	}
}
