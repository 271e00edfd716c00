/* SPDX-License-Identifier: Apache-2.0 */
/* The owner that drives the runs of a store: see store_owner(). */
#include "core/store/store.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"

#define OWNER_MAX 64

static bool is_owner(const char *text)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-.@:/";
	size_t len = strlen(text);

	return len && len <= OWNER_MAX && strspn(text, chars) == len;
}

/* Whoever is first makes it: what is there already is everybody's. */
static int make_id(const char *path, struct error *err)
{
	char *own = mem_printf("%s.%ld", path, (long)getpid());
	unsigned long long random;
	char text[32];
	int ret = -1;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random)) {
		error_errno(err, "cannot get a random number");
		goto out;
	}
	snprintf(text, sizeof(text), "%016llx", random);
	ret = file_write(own, text, strlen(text), err);
	if (ret == 0 && link(own, path) < 0 && errno != EEXIST)
		ret = error_errno(err, "cannot make '%s'", path);
	unlink(own);
out:
	free(own);
	return ret;
}

char *store_owner(const struct store *store, struct error *err)
{
	const char *given = getenv("JOBRUN_OWNER");
	const struct passwd *user = getpwuid(geteuid());
	char *path, *id, *out = NULL;
	char host[65] = "";
	size_t len;

	if (given && *given && is_owner(given))
		return mem_strdup(given);
	if (given && *given) {
		error_set(err, ERROR_INVALID,
			  "JOBRUN_OWNER must be at most %d letters, digits and "
			  "_-.@:/",
			  OWNER_MAX);
		return NULL;
	}
	path = path_join(store_folder(store), "owner");
	if (access(path, F_OK) == 0 || make_id(path, err) == 0) {
		id = file_read(path, OWNER_MAX, &len, err);
		gethostname(host, sizeof(host) - 1);
		if (id)
			out = mem_printf("%s %s@%s", id,
					 user ? user->pw_name : "?", host);
		free(id);
	}
	free(path);
	return out;
}
