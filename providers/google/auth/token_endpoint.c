/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for access tokens, to OAuth endpoints and to iamcredentials. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/net/url.h"
#include "providers/google/base/api_error.h"
#include "providers/google/auth/credentials.h"
#include "providers/google/auth/credentials_kind.h"

/* A message that contains this many characters of a secret repeats it. */
#define ECHO_LEN 16
#define TOKEN_MAX 16384

/* 3 tries in all, from 1 s doubling, as google-auth-library-python. */
static const struct retry_policy policy = {
	.first_ms = 1000,
	.max_ms = 4000,
	.total_ms = 10000,
};

void secret_done(struct buf *buf)
{
	if (buf->data)
		explicit_bzero(buf->data, buf->size);
	buf_done(buf);
}

void secret_free(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

/* Whether `text` repeats a part of the secret. */
static bool secret_echoed(const char *text, const char *secret)
{
	size_t len = strlen(secret), i;

	if (len < ECHO_LEN)
		return len && strstr(text, secret);
	for (i = 0; i + ECHO_LEN <= len; i++)
		if (memmem(text, strlen(text), secret + i, ECHO_LEN))
			return true;
	return false;
}

/* Judges an answer: some 400s, such as {"error": "server_error"}, are
 * temporary. */
static enum retry_verdict judge(const struct http_response *response)
{
	static const char *const passing[] = {
		"internal_failure",
		"server_error",
		"temporarily_unavailable",
	};
	enum retry_verdict verdict = retry_status(response->status);
	const char *name;
	json_t *body;
	size_t i;

	if (verdict != RETRY_NEVER || response->status / 100 != 4)
		return verdict;
	body = json_loadb(buf_text(&response->body), response->body.len, 0,
			  NULL);
	name = json_get_text(body, "error", "");
	for (i = 0; i < COUNT(passing); i++)
		if (!strcmp(name, passing[i]))
			verdict = RETRY_REPEATABLE;
	json_decref(body);
	return verdict;
}

static long long seconds_of(const json_t *body)
{
	const json_t *value = json_object_get(body, "expires_in");

	/* Some of Google's endpoints write the number as a string. */
	if (json_is_string(value))
		return atoll(json_string_value(value));
	return json_is_integer(value) ? json_integer_value(value) : 3600;
}

int token_read(const struct http_response *answer, const char *from,
	       struct token *out, struct error *err)
{
	json_t *body =
		json_loadb(buf_text(&answer->body), answer->body.len, 0, NULL);
	const char *text = json_get_text(body, "access_token", NULL);
	long long life_s = seconds_of(body);
	int ret = 0;

	if (!text || !*text || strlen(text) > TOKEN_MAX ||
	    text[strcspn(text, "\r\n\t ")])
		ret = error_set(err, ERROR_FAILED,
				"the response of '%s' holds no access token",
				from);
	else if (life_s < 0 || life_s > 366 * 86400)
		ret = error_set(err, ERROR_FAILED,
				"the token from '%s' has no valid expiry",
				from);
	if (ret == 0) {
		buf_reserve(&out->text, strlen(text));
		buf_puts(&out->text, text);
		out->ends_ms = time_now_ms() + life_s * 1000;
	}
	json_decref(body);
	return ret;
}

/* Reports the error in the endpoint's words, without our request. */
static int refused(const struct http_response *answer, const char *url,
		   const struct buf *form, const char *advice,
		   struct error *err)
{
	json_t *body =
		json_loadb(buf_text(&answer->body), answer->body.len, 0, NULL);
	const char *name = json_get_text(body, "error", "");
	const char *text = json_get_text(body, "error_description", "");
	enum error_code code = answer->status == 429 ? ERROR_TRY_AGAIN
			       : answer->status >= 500 || answer->status == 408
				       ? ERROR_UNREACHABLE
				       : ERROR_DENIED;

	if (secret_echoed(text, buf_text(form)))
		text = "";
	if (secret_echoed(name, buf_text(form)))
		name = "";
	error_set(err, code, "'%s' gives no token: %ld%s%.100s%s%.200s%s%s",
		  url, answer->status, *name ? " " : "", name,
		  *text ? ": " : "", text, code == ERROR_DENIED ? "; " : "",
		  code == ERROR_DENIED ? advice : "");
	json_decref(body);
	return -1;
}

int token_endpoint(struct http *http, const char *url, const struct buf *form,
		   const char *authorization, const char *advice,
		   struct token *out, struct error *err)
{
	const char *const headers[] = { authorization, NULL };
	const struct http_request request = {
		.method = "POST",
		.url = url,
		.headers = headers,
		.content_type = "application/x-www-form-urlencoded",
		.body = form->data,
		.body_len = form->len,
		.flags = HTTP_REPEATABLE | HTTP_SECRET,
		.retry = &policy,
		.judge = judge,
		.total_timeout_ms = 30000,
	};
	struct http_response answer = { 0 };
	char *shown = url_without_query(url);
	int ret = http_do(http, &request, &answer, err);

	if (ret == 0 && answer.status != 200)
		ret = refused(&answer, shown, form, advice, err);
	else if (ret == 0)
		ret = token_read(&answer, shown, out, err);
	http_response_done(&answer);
	free(shown);
	return ret;
}

static int read_impersonated(const struct http_response *answer,
			     const char *url, struct token *out,
			     struct error *err)
{
	json_t *body =
		json_loadb(buf_text(&answer->body), answer->body.len, 0, NULL);
	const char *text = json_get_text(body, "accessToken", "");
	int64_t ends_ms = time_parse(json_get_text(body, "expireTime", ""));
	int ret = 0;

	if (!*text || strlen(text) > TOKEN_MAX ||
	    text[strcspn(text, "\r\n\t ")] || ends_ms < 0) {
		ret = error_set(err, ERROR_FAILED,
				"the response of '%s' holds no access token",
				url);
	} else {
		buf_puts(&out->text, text);
		out->ends_ms = ends_ms;
	}
	json_decref(body);
	return ret;
}

int token_impersonate(struct http *http, const char *url,
		      const struct token *caller, const json_t *delegates,
		      long lifetime_s, struct token *out, struct error *err)
{
	char *authorization =
		mem_printf("Authorization: Bearer %s", caller->text.data);
	char *body = json_array_size(delegates)
			     ? json_dumps(delegates, JSON_COMPACT)
			     : NULL;
	char *sent = mem_printf("{\"scope\":[\"" CREDENTIALS_SCOPE
				"\"],\"lifetime\":\"%lds\"%s%s}",
				lifetime_s, body ? ",\"delegates\":" : "",
				body ? body : "");
	const char *const headers[] = { authorization, NULL };
	const struct http_request request = {
		.method = "POST",
		.url = url,
		.headers = headers,
		.content_type = "application/json",
		.body = sent,
		.body_len = strlen(sent),
		.flags = HTTP_REPEATABLE | HTTP_SECRET,
		.retry = &policy,
		.total_timeout_ms = 30000,
	};
	struct http_response answer = { 0 };
	int ret = http_do(http, &request, &answer, err);

	if (ret == 0 && answer.status != 200) {
		api_error_set(&answer, err);
		ret = error_prefix(err, "cannot act as a service account");
	} else if (ret == 0) {
		ret = read_impersonated(&answer, url, out, err);
	}
	http_response_done(&answer);
	secret_free(authorization);
	free(body);
	free(sent);
	return ret;
}
