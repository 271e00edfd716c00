/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/auth/login.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/json.h"

#define KEY_MAX (16 << 10)

static char *read_key(const char *path)
{
	struct error ignored;
	size_t len = 0;
	char *text = file_read(path, KEY_MAX, &len, &ignored);

	if (text)
		text[strcspn(text, "\r\n")] = '\0';
	return text;
}

int login_key(const json_t *properties, char **out, struct error *err)
{
	static const char *const names[] = { "google_compute_engine",
					     "id_ed25519", "id_rsa" };
	const char *given = json_get_text(properties, "sshKey", NULL);
	const char *home = getenv("HOME");
	size_t i;

	*out = NULL;
	if (given) {
		*out = read_key(given);
		return *out ? 0
			    : error_set(err, ERROR_INVALID,
					"cannot read the public key '%s' "
					"(sshKey)",
					given);
	}
	for (i = 0; home && !*out && i < sizeof(names) / sizeof(*names); i++) {
		char *path = mem_printf("%s/.ssh/%s.pub", home, names[i]);

		*out = read_key(path);
		free(path);
	}
	return 0;
}

const char *login_user(const json_t *properties, struct arena *mem)
{
	const char *given = json_get_text(properties, "sshUser", NULL);
	struct passwd entry, *found = NULL;
	char room[4096];

	if (given)
		return given;
	if (getpwuid_r(getuid(), &entry, room, sizeof(room), &found) != 0 ||
	    !found)
		return NULL;
	return arena_strdup(mem, found->pw_name);
}
