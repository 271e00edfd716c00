/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/auth/login.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base64.h"
#include "core/base/beneath.h"
#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/base/text.h"

#define KEY_MAX (16 << 10)

/* Whether the text is a public key of OpenSSH, "TYPE BASE64 COMMENT", where the
 * base 64 repeats the type.  No private key has this form. */
static bool is_public_key(const char *text)
{
	static const char *const types[] = { "ssh-", "ecdsa-sha2-", "sk-ssh-",
					     "sk-ecdsa-sha2-" };
	size_t type = strcspn(text, " "), i, len;
	const char *coded = text + type + (text[type] == ' ');
	struct buf data = { 0 };
	bool known = false, ok;

	for (i = 0; i < COUNT(types); i++)
		if (text_starts(text, types[i]))
			known = true;
	len = strcspn(coded, " ");
	ok = known && base64_decode(&data, coded, len) && data.len > type + 4 &&
	     !data.data[0] && !data.data[1] && !data.data[2] &&
	     (unsigned char)data.data[3] == type &&
	     !memcmp(data.data + 4, text, type);
	for (i = 0; ok && text[i]; i++)
		ok = (unsigned char)text[i] >= ' ' && text[i] != 0x7f;
	buf_done(&data);
	return ok;
}

static char *read_key(const char *root, const char *path)
{
	struct error ignored;
	size_t len = 0;
	char *text = beneath_read(root, path, KEY_MAX, &len, &ignored);

	if (!text)
		return NULL;
	text[strcspn(text, "\r\n")] = '\0';
	if (is_public_key(text))
		return text;
	/* Any other text could be a private key, so wipe it. */
	explicit_bzero(text, len);
	free(text);
	return NULL;
}

int login_key(const json_t *properties, const char *root, char **out,
	      struct error *err)
{
	static const char *const names[] = { "google_compute_engine",
					     "id_ed25519", "id_rsa" };
	const char *given = json_get_text(properties, "sshKey", NULL);
	const char *home = getenv("HOME");
	size_t i;

	*out = NULL;
	if (given) {
		*out = read_key(root, given);
		return *out ? 0
			    : error_set(err, ERROR_INVALID,
					"'%s' is not an ssh public key file "
					"(sshKey)",
					given);
	}
	for (i = 0; home && !*out && i < sizeof(names) / sizeof(*names); i++) {
		char *path = mem_printf("%s/.ssh/%s.pub", home, names[i]);

		*out = read_key(NULL, path);
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
