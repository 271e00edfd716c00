/* SPDX-License-Identifier: Apache-2.0 */
/* The key of a service account: a signed statement gives a token (RFC 7523). */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/net/http_internal.h"
#include "core/net/url.h"
#include "providers/google/auth/credentials.h"
#include "providers/google/auth/credentials_kind.h"
#include "providers/google/auth/jwt.h"

#define LIFE_S 3600

struct service_account {
	char *email;
	char *key;
	char *key_id;
	char *token_uri;
};

static void free_account(void *data)
{
	struct service_account *account = data;

	if (!account)
		return;
	free(account->email);
	secret_free(account->key);
	free(account->key_id);
	free(account->token_uri);
	free(account);
}

static void *read_account(const json_t *file, const char *name,
			  struct error *err)
{
	struct service_account *account = mem_alloc(sizeof(*account));

	account->email = credential_text(file, "client_email", name, err);
	if (account->email)
		account->key = credential_text(file, "private_key", name, err);
	if (account->key)
		account->token_uri =
			credential_text(file, "token_uri", name, err);
	if (!account->token_uri) {
		free_account(account);
		return NULL;
	}
	account->key_id = mem_strdup(json_get_text(file, "private_key_id", ""));
	return account;
}

static int sign(const struct service_account *account, struct buf *out,
		struct error *err)
{
	int64_t now_s = time_now_ms() / 1000;
	json_t *header = json_object(), *claims = json_object();
	int ret;

	json_put_text(header, "alg", "RS256");
	json_put_text(header, "typ", "JWT");
	if (*account->key_id)
		json_put_text(header, "kid", account->key_id);
	json_put_text(claims, "iss", account->email);
	json_put_text(claims, "aud", account->token_uri);
	json_put_text(claims, "scope", CREDENTIALS_SCOPE);
	json_put_int(claims, "iat", now_s);
	json_put_int(claims, "exp", now_s + LIFE_S);
	ret = jwt_sign(header, claims, account->key, out, err);
	json_decref(header);
	json_decref(claims);
	return ret;
}

static int fetch(void *data, struct http *http, struct token *out,
		 struct error *err)
{
	const struct service_account *account = data;
	struct buf assertion = { 0 }, form = { 0 };
	int ret;

	buf_reserve(&assertion, SECRET_ROOM);
	buf_reserve(&form, SECRET_ROOM);
	ret = sign(account, &assertion, err);
	if (ret == 0) {
		url_add_pair(&form, "grant_type",
			     "urn:ietf:params:oauth:grant-type:jwt-bearer");
		url_add_pair(&form, "assertion", assertion.data);
		ret = token_endpoint(http, account->token_uri, &form, NULL,
				     "is the key still valid, and this "
				     "machine's clock right?",
				     out, err);
	}
	secret_done(&assertion);
	secret_done(&form);
	return ret;
}

static void describe(const void *data, struct buf *out)
{
	const struct service_account *account = data;

	buf_printf(out, "service account %s", account->email);
}

const struct credential_kind credentials_service_account = {
	.type = "service_account",
	.read = read_account,
	.free = free_account,
	.fetch = fetch,
	.describe = describe,
};
