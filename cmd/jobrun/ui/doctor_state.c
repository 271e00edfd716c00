/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the state directory: whether runs can be recorded and found again. */
#include <unistd.h>

#include "cmd/jobrun/ui/doctor_state.h"
#include "core/store/store.h"

#define GROUP "state"
#define NAME "directory"

void doctor_state(struct checks *all)
{
	struct error err;
	struct store *store = store_open_to_read(&err);
	const char *folder;

	if (!store) {
		checks_fail(all, GROUP, NAME, &err);
		return;
	}
	folder = arena_strdup(all->mem, store_folder(store));
	store_close(store);
	if (access(folder, F_OK) < 0) {
		checks_add(all, GROUP, NAME, CHECK_MISSING, NULL)->advice =
			"nothing has run here yet; the first 'jobrun apply' "
			"creates it";
	} else if (access(folder, W_OK) < 0) {
		error_errno(&err, "cannot write to '%s'", folder);
		checks_fail(all, GROUP, NAME, &err);
	} else {
		checks_add(all, GROUP, NAME, CHECK_OK, folder);
	}
}
