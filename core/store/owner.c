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

/* The first process makes the id; an existing one is used by everybody. */
static int make_id(const char *path, struct error *err)
{
	unsigned long long random;
	char text[32];

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return error_errno(err, "cannot get a random number");
	snprintf(text, sizeof(text), "%016llx", random);
	return file_create(path, 0600, text, strlen(text), err) < 0 ? -1 : 0;
}

/* Sets `out` to the user's name of this process. */
static void user_name(char *out, size_t size)
{
	char texts[1024];
	struct passwd one, *user = NULL;

	if (getpwuid_r(geteuid(), &one, texts, sizeof(texts), &user) != 0)
		user = NULL;
	snprintf(out, size, "%s", user ? user->pw_name : "?");
}

char *store_owner(const struct store *store, struct error *err)
{
	const char *given = getenv("JOBRUN_OWNER");
	char *path, *id, *out = NULL;
	char host[65] = "", user[65];
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
		user_name(user, sizeof(user));
		if (id)
			out = mem_printf("%s %s@%s", id, user, host);
		free(id);
	}
	free(path);
	return out;
}

char *store_owner_known(const struct store *store)
{
	struct error ignored;

	return *store_folder(store) || getenv("JOBRUN_OWNER")
		       ? store_owner(store, &ignored)
		       : NULL;
}

static bool is_held(const struct run_record *run)
{
	return run->state == RUN_FAILED && !run->start_time_ms &&
	       run->exit_code == ERROR_TRY_AGAIN;
}

int run_status_unbegun(const struct run_record *run)
{
	if (run->state != RUN_FAILED || run->start_time_ms ||
	    (run->exit_code != ERROR_UNREACHABLE &&
	     run->exit_code != ERROR_DENIED))
		return 0;
	return run->exit_code;
}

/* No program ends with this. */
#define REFUSED (-100)

int run_refused_as(enum error_code code)
{
	return REFUSED - (int)code;
}

int run_refusal(const struct run_record *run)
{
	if (is_held(run))
		return ERROR_TRY_AGAIN;
	return run->state == RUN_FAILED && run->exit_code < REFUSED
		       ? REFUSED - run->exit_code
		       : 0;
}
