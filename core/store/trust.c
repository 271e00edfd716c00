/* SPDX-License-Identifier: Apache-2.0 */
#include "core/store/trust.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"

static bool is_told_to(void)
{
	const char *value = getenv(TRUST_VARIABLE);

	return value && !strcmp(value, "1");
}

/* By custom, a group with the same number as its user is the user's own. */
static bool others_write(const struct stat *st)
{
	return (st->st_mode & S_IWOTH) ||
	       ((st->st_mode & S_IWGRP) && st->st_gid != st->st_uid);
}

static int check(const char *path, struct error *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	if (st.st_uid && st.st_uid != geteuid())
		return error_set(err, ERROR_DENIED,
				 "'%s' belongs to user %u, not to you (%u), "
				 "but jobrun acts on its contents: set "
				 "JOBRUN_STATE_DIR to a directory of your own, "
				 "or " TRUST_VARIABLE "=1 if you trust that "
				 "user",
				 path, (unsigned)st.st_uid,
				 (unsigned)geteuid());
	if (others_write(&st))
		return error_set(err, ERROR_DENIED,
				 "other users can write to '%s', but jobrun "
				 "acts on its contents: check them and 'chmod "
				 "go-w' it, or set " TRUST_VARIABLE
				 "=1 if you trust them",
				 path);
	return 0;
}

int trust_check(const char *folder, struct error *err)
{
	static const char *const names[] = { "jobrun.db", "runs" };
	int ret;
	size_t i;

	if (is_told_to())
		return 0;
	ret = check(folder, err);
	for (i = 0; i < COUNT(names) && ret == 0; i++) {
		char *path = path_join(folder, names[i]);

		ret = check(path, err);
		free(path);
	}
	return ret;
}
