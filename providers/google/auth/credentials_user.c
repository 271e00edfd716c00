/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user who has logged in: a refresh token.  For a login through a company's
 * identity provider (external_account_authorized_user) another endpoint is
 * used, which takes the client's secret in a header.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/base64.h"
#include "core/base/json.h"
#include "core/net/http_internal.h"
#include "core/net/url.h"
#include "providers/google/auth/credentials.h"
#include "providers/google/auth/credentials_kind.h"

#define ADVICE "log in again: gcloud auth application-default login"

struct user {
	char *client_id;
	char *client_secret;
	char *refresh_token;
	char *url;
	bool external;
};

static void free_user(void *data)
{
	struct user *user = data;

	if (!user)
		return;
	free(user->client_id);
	secret_free(user->client_secret);
	secret_free(user->refresh_token);
	free(user->url);
	free(user);
}

static struct user *read_any(const json_t *file, const char *name, char *url,
			     struct error *err)
{
	struct user *user = mem_alloc(sizeof(*user));

	user->url = url;
	if (url)
		user->client_id = credential_text(file, "client_id", name, err);
	if (user->client_id)
		user->client_secret =
			credential_text(file, "client_secret", name, err);
	if (user->client_secret)
		user->refresh_token =
			credential_text(file, "refresh_token", name, err);
	if (!user->refresh_token) {
		free_user(user);
		return NULL;
	}
	return user;
}

static void *read_user(const json_t *file, const char *name, struct error *err)
{
	const char *url = json_get_text(file, "token_uri",
					"https://oauth2.googleapis.com/token");

	return read_any(file, name, mem_strdup(url), err);
}

static void *read_external_user(const json_t *file, const char *name,
				struct error *err)
{
	struct user *user = read_any(
		file, name, credential_text(file, "token_url", name, err), err);

	if (user)
		user->external = true;
	return user;
}

static char *basic_authorization(const struct user *user)
{
	char *both = mem_printf("%s:%s", user->client_id, user->client_secret);
	struct buf out = { 0 };

	buf_reserve(&out, SECRET_ROOM);
	buf_puts(&out, "Authorization: Basic ");
	base64_add(&out, both, strlen(both));
	secret_free(both);
	return buf_take(&out);
}

static int fetch(void *data, struct http *http, struct token *out,
		 struct error *err)
{
	const struct user *user = data;
	char *authorization = NULL;
	struct buf form = { 0 };
	int ret;

	buf_reserve(&form, SECRET_ROOM);
	url_add_pair(&form, "grant_type", "refresh_token");
	if (user->external) {
		authorization = basic_authorization(user);
	} else {
		url_add_pair(&form, "client_id", user->client_id);
		url_add_pair(&form, "client_secret", user->client_secret);
	}
	url_add_pair(&form, "refresh_token", user->refresh_token);
	ret = token_endpoint(http, user->url, &form, authorization, ADVICE, out,
			     err);
	secret_free(authorization);
	secret_done(&form);
	return ret;
}

static void describe(const void *data, struct buf *out)
{
	(void)data;
	buf_puts(out, "a user's login");
}

const struct credential_kind credentials_user = {
	.type = "authorized_user",
	.read = read_user,
	.free = free_user,
	.fetch = fetch,
	.describe = describe,
};

const struct credential_kind credentials_external_user = {
	.type = "external_account_authorized_user",
	.read = read_external_user,
	.free = free_user,
	.fetch = fetch,
	.describe = describe,
};
