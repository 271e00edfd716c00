/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/secret_like.h"

#include <fnmatch.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/text.h"

bool secret_is_named(const char *path)
{
	static const char *const names[] = {
		".env",
		".env.*",
		"*.env",
		"*.pem",
		"*.key",
		"*.p12",
		"*.pfx",
		"id_rsa",
		"id_dsa",
		"id_ecdsa",
		"id_ed25519",
		"*_sk",
		"*.kdbx",
		".netrc",
		".pgpass",
		"*.keystore",
		"*.jks",
		".npmrc",
		".pypirc",
		"credentials.json",
		"*service*account*.json",
		"*-key.json",
		"application_default_credentials.json",
	};
	const char *base = path_base(path);
	size_t i;

	if (text_ends(base, ".example") || text_ends(base, ".sample") ||
	    text_ends(base, ".template"))
		return false;
	for (i = 0; i < COUNT(names); i++)
		if (fnmatch(names[i], base, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

static bool holds(const char *start, size_t len, const char *text)
{
	return memmem(start, len, text, strlen(text));
}

/* The key must begin a line of its own: programs that search for keys contain
 * the words within a line. */
static bool holds_private_key(const char *start, size_t len)
{
	static const char head[] = "-----BEGIN ";
	static const char tail[] = "PRIVATE KEY-----";
	const char *at = start, *end = start + len, *stop;

	while ((at = memmem(at, (size_t)(end - at), head, strlen(head)))) {
		stop = memchr(at, '\n', (size_t)(end - at));
		if (!stop)
			return false;
		if (stop > at && stop[-1] == '\r')
			stop--;
		if ((at == start || at[-1] == '\n') &&
		    (size_t)(stop - at) >= strlen(head) + strlen(tail) - 1 &&
		    !memcmp(stop - strlen(tail), tail, strlen(tail)))
			return true;
		at++;
	}
	return false;
}

bool secret_is_in(const char *start, size_t len)
{
	size_t i = 0;

	while (i < len && strchr(" \t\r\n", start[i]) && start[i])
		i++;
	if (i < len && start[i] == '{' &&
	    (holds(start, len, "\"private_key\"") ||
	     (holds(start, len, "\"refresh_token\"") &&
	      holds(start, len, "\"client_secret\""))))
		return true;
	return holds_private_key(start, len);
}
