/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workload identity federation: the token of another provider (in a file, at a
 * URL, or GitHub Actions' OpenID Connect) is exchanged for one of Google's (RFC
 * 8693) and, if the file says so, that one for a service account's.
 *
 * GitHub: a `credential_source` of {"environment_id": "github1"} takes the
 * token that ACTIONS_ID_TOKEN_REQUEST_URL and _TOKEN give a workflow with
 * `permissions: id-token: write`.  Files written by google-github-actions/auth
 * have a `url` source and need nothing special.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/net/http.h"
#include "core/net/http_internal.h"
#include "core/net/retry.h"
#include "core/net/url.h"
#include "providers/google/auth/credentials.h"
#include "providers/google/auth/credentials_kind.h"

#define SUBJECT_MAX 65536
#define LIFETIME_S 3600

enum source {
	SOURCE_FILE,
	SOURCE_URL,
	SOURCE_GITHUB,
};

struct external {
	char *audience;
	char *subject_type;
	char *token_url;
	char *impersonation_url; /* or NULL */
	long lifetime_s;
	enum source source;
	char *where;      /* the file or URL */
	json_t *headers;  /* headers for the URL, or NULL */
	char *field_name; /* in JSON; NULL: the text is the token */
};

static void free_external(void *data)
{
	struct external *external = data;

	if (!external)
		return;
	free(external->audience);
	free(external->subject_type);
	free(external->token_url);
	free(external->impersonation_url);
	secret_free(external->where);
	json_decref(external->headers);
	free(external->field_name);
	free(external);
}

static int read_format(struct external *external, const json_t *source,
		       const char *name, struct error *err)
{
	const json_t *format = json_object_get(source, "format");
	const char *type = json_get_text(format, "type", "text");

	if (!strcmp(type, "text"))
		return 0;
	if (strcmp(type, "json") != 0)
		return error_set(err, ERROR_DENIED,
				 "'%s': the format of a subject token is text "
				 "or json, not '%.40s'",
				 name, type);
	external->field_name =
		credential_text(format, "subject_token_field_name", name, err);
	return external->field_name ? 0 : -1;
}

static int read_source(struct external *external, const json_t *source,
		       const char *name, struct error *err)
{
	const char *file = json_get_text(source, "file", NULL);
	const char *url = json_get_text(source, "url", NULL);
	const char *environment = json_get_text(source, "environment_id", "");

	if (!strcmp(environment, "github1")) {
		external->source = SOURCE_GITHUB;
		external->field_name = mem_strdup("value");
		return 0;
	}
	/* A file that starts programs or signs for another cloud would be more
	 * than a credential. */
	if (*environment || json_object_get(source, "executable") ||
	    json_object_get(source, "certificate"))
		return error_set(err, ERROR_DENIED,
				 "'%s': only a file, a URL and GitHub Actions "
				 "are taken as the source of a token; write "
				 "the token to a file, and name that in "
				 "credential_source.file",
				 name);
	if (!file && !url)
		return error_set(err, ERROR_DENIED,
				 "'%s' has no credential_source.file or .url",
				 name);
	external->source = file ? SOURCE_FILE : SOURCE_URL;
	external->where = mem_strdup(file ? file : url);
	external->headers = json_incref(json_object_get(source, "headers"));
	return read_format(external, source, name, err);
}

static void *read_external(const json_t *file, const char *name,
			   struct error *err)
{
	struct external *external = mem_alloc(sizeof(*external));
	const char *url =
		json_get_text(file, "service_account_impersonation_url", NULL);
	const json_t *impersonation =
		json_object_get(file, "service_account_impersonation");

	external->audience = credential_text(file, "audience", name, err);
	if (external->audience)
		external->subject_type =
			credential_text(file, "subject_token_type", name, err);
	if (external->subject_type)
		external->token_url =
			credential_text(file, "token_url", name, err);
	external->impersonation_url = url ? mem_strdup(url) : NULL;
	external->lifetime_s = (long)json_get_int(
		impersonation, "token_lifetime_seconds", LIFETIME_S);
	if (!external->token_url ||
	    read_source(external, json_object_get(file, "credential_source"),
			name, err) < 0) {
		free_external(external);
		return NULL;
	}
	return external;
}

/* Takes the token out of the contents of a file or URL. */
static int take_subject(const struct external *external, const char *text,
			size_t len, const char *from, struct buf *out,
			struct error *err)
{
	const char *token = text;
	json_t *body = NULL;
	int ret = 0;

	if (external->field_name) {
		body = json_loadb(text, len, 0, NULL);
		token = json_get_text(body, external->field_name, "");
		len = strlen(token);
	}
	while (len && strchr(" \t\r\n", token[len - 1]))
		len--;
	if (len)
		buf_add(out, token, len);
	else if (external->field_name)
		ret = error_set(err, ERROR_DENIED,
				"'%s' holds no token in its field '%s'", from,
				external->field_name);
	else
		ret = error_set(err, ERROR_DENIED, "'%s' holds no token", from);
	json_decref(body);
	return ret;
}

static int ask_url(const struct external *external, struct http *http,
		   const char *url, const char *const *headers, struct buf *out,
		   struct error *err)
{
	const struct http_request request = {
		.method = "GET",
		.url = url,
		.headers = headers,
		.flags = HTTP_REPEATABLE | HTTP_SECRET,
		.total_timeout_ms = 30000,
	};
	struct http_response answer = { 0 };
	char *shown = url_without_query(url);
	int ret = http_do(http, &request, &answer, err);

	if (ret == 0 && answer.status != 200)
		ret = error_set(err,
				retry_status(answer.status) == RETRY_NEVER
					? ERROR_DENIED
					: ERROR_UNREACHABLE,
				"'%s' gives no subject token: status %ld",
				shown, answer.status);
	else if (ret == 0)
		ret = take_subject(external, buf_text(&answer.body),
				   answer.body.len, shown, out, err);
	http_response_done(&answer);
	free(shown);
	return ret;
}

static int ask_source_url(const struct external *external, struct http *http,
			  struct buf *out, struct error *err)
{
	size_t count = json_object_size(external->headers), n = 0, i;
	char **headers = mem_alloc((count + 1) * sizeof(*headers));
	const char *key;
	json_t *value;
	int ret;

	json_object_foreach(external->headers, key,
			    value) if (json_is_string(value)) headers[n++] =
		mem_printf("%s: %s", key, json_string_value(value));
	ret = ask_url(external, http, external->where,
		      (const char *const *)headers, out, err);
	for (i = 0; i < n; i++)
		secret_free(headers[i]);
	free(headers);
	return ret;
}

static int ask_github(const struct external *external, struct http *http,
		      struct buf *out, struct error *err)
{
	const char *url = getenv("ACTIONS_ID_TOKEN_REQUEST_URL");
	const char *token = getenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN");
	const char *headers[] = { NULL, NULL };
	char *authorization, *audience;
	struct buf full = { 0 };
	int ret;

	if (!url || !*url || !token || !*token)
		return error_set(err, ERROR_DENIED,
				 "GitHub gives this workflow no identity: it "
				 "needs 'permissions: id-token: write' "
				 "(ACTIONS_ID_TOKEN_REQUEST_URL is not set)");
	/* Identity pools expect this audience by default. */
	audience = mem_printf(
		"%s%s", text_starts(external->audience, "//") ? "https:" : "",
		external->audience);
	authorization = mem_printf("Authorization: Bearer %s", token);
	headers[0] = authorization;
	buf_puts(&full, url);
	url_add_query(&full, "audience", audience);
	ret = ask_url(external, http, full.data, headers, out, err);
	secret_free(authorization);
	free(audience);
	buf_done(&full);
	return ret;
}

static int ask_file(const struct external *external, struct buf *out,
		    struct error *err)
{
	size_t len;
	char *text = file_read(external->where, SUBJECT_MAX, &len, err);
	int ret;

	if (!text)
		return -1;
	ret = take_subject(external, text, len, external->where, out, err);
	secret_free(text);
	return ret;
}

static int subject_token(const struct external *external, struct http *http,
			 struct buf *out, struct error *err)
{
	switch (external->source) {
	case SOURCE_FILE:
		return ask_file(external, out, err);
	case SOURCE_URL:
		return ask_source_url(external, http, out, err);
	case SOURCE_GITHUB:
		return ask_github(external, http, out, err);
	}
	return -1;
}

static int exchange(const struct external *external, struct http *http,
		    const struct buf *subject, struct token *out,
		    struct error *err)
{
	struct buf form = { 0 };
	int ret;

	buf_reserve(&form, 2 * SUBJECT_MAX);
	url_add_pair(&form, "grant_type",
		     "urn:ietf:params:oauth:grant-type:token-exchange");
	url_add_pair(&form, "audience", external->audience);
	url_add_pair(&form, "scope", CREDENTIALS_SCOPE);
	url_add_pair(&form, "requested_token_type",
		     "urn:ietf:params:oauth:token-type:access_token");
	url_add_pair(&form, "subject_token_type", external->subject_type);
	url_add_pair(&form, "subject_token", subject->data);
	ret = token_endpoint(http, external->token_url, &form, NULL,
			     "does the provider of the workload identity pool "
			     "accept this identity?",
			     out, err);
	secret_done(&form);
	return ret;
}

static int fetch(void *data, struct http *http, struct token *out,
		 struct error *err)
{
	const struct external *external = data;
	struct token federated = { 0 };
	struct buf subject = { 0 };
	int ret;

	buf_reserve(&subject, SUBJECT_MAX);
	ret = subject_token(external, http, &subject, err);
	if (ret == 0 && external->impersonation_url) {
		ret = exchange(external, http, &subject, &federated, err);
		if (ret == 0)
			ret = token_impersonate(
				http, external->impersonation_url, &federated,
				NULL, external->lifetime_s, out, err);
	} else if (ret == 0) {
		ret = exchange(external, http, &subject, out, err);
	}
	secret_done(&federated.text);
	secret_done(&subject);
	return ret;
}

static void describe(const void *data, struct buf *out)
{
	static const char *const sources[] = {
		[SOURCE_FILE] = "a file",
		[SOURCE_URL] = "a URL",
		[SOURCE_GITHUB] = "GitHub Actions",
	};
	const struct external *external = data;

	buf_printf(out, "workload identity of %s", sources[external->source]);
	if (external->impersonation_url) {
		buf_puts(out, ", as ");
		credential_describe_target(external->impersonation_url, out);
	}
}

const struct credential_kind credentials_external = {
	.type = "external_account",
	.read = read_external,
	.free = free_external,
	.fetch = fetch,
	.describe = describe,
};
