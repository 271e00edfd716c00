/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/http_mask.h"

#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/base/text.h"

/* Longer bodies are not shown, as traces are meant to be read. */
#define SHOWN_MAX 65536

static const char *const secret_headers[] = {
	"authorization",
	"proxy-authorization",
	"cookie",
	"set-cookie",
	"x-goog-iam-authorization-token",
	"x-goog-encryption-key",
	"x-goog-copy-source-encryption-key",
	"x-goog-api-key",
	NULL,
};

static const char *const harmless_headers[] = {
	"content-length", "content-type", "date", "metadata-flavor",
	"server",         "retry-after",  NULL,
};

/* Secret members of queries, forms and JSON.  GitHub calls its token
 * `value`. */
static const char *const secret_names[] = {
	"access_token",
	"accessToken",
	"id_token",
	"idToken",
	"refresh_token",
	"refreshToken",
	"token",
	"oauth_token",
	"assertion",
	"client_secret",
	"clientSecret",
	"subject_token",
	"actor_token",
	"private_key",
	"privateKeyData",
	"password",
	"secret",
	"key",
	"api_key",
	"upload_id",
	"signedJwt",
	"signedBlob",
	"Signature",
	"X-Goog-Signature",
	"X-Goog-Credential",
	"X-Goog-Security-Token",
	"X-Amz-Signature",
	"X-Amz-Credential",
	"X-Amz-Security-Token",
	NULL,
};

/* Members that may be shown in an exchange about secrets. */
static const char *const harmless_names[] = {
	"grant_type",
	"audience",
	"scope",
	"scopes",
	"lifetime",
	"requested_token_type",
	"subject_token_type",
	"issued_token_type",
	"expires_in",
	"expireTime",
	"token_type",
	"error",
	"error_subtype",
	"code",
	"status",
	"count",
	NULL,
};

static bool is_in(const char *const *names, const char *name, size_t len)
{
	for (; *names; names++)
		if (strlen(*names) == len && !strncasecmp(*names, name, len))
			return true;
	return false;
}

static bool is_hidden(const char *name, size_t len, bool all)
{
	return is_in(secret_names, name, len) ||
	       (all && !is_in(harmless_names, name, len));
}

static void mask_pairs(struct buf *out, const char *text, size_t len, bool all)
{
	const char *end = text + len;

	while (text < end) {
		const char *stop = memchr(text, '&', (size_t)(end - text));
		const char *equals;

		if (!stop)
			stop = end;
		equals = memchr(text, '=', (size_t)(stop - text));
		if (equals && is_hidden(text, (size_t)(equals - text), all)) {
			buf_add(out, text, (size_t)(equals - text) + 1);
			buf_puts(out, HTTP_MASKED);
		} else if (all && !equals) {
			buf_puts(out, HTTP_MASKED);
		} else {
			buf_add(out, text, (size_t)(stop - text));
		}
		if (stop < end)
			buf_putc(out, '&');
		text = stop + 1;
	}
}

void http_mask_url(struct buf *out, const char *url, bool all)
{
	const char *slashes = strstr(url, "://");
	const char *host = slashes ? slashes + 3 : url;
	const char *path = host + strcspn(host, "/?#");
	const char *at = memrchr(host, '@', (size_t)(path - host));
	size_t rest;

	buf_add(out, url, (size_t)(host - url));
	if (at)
		host = at + 1;
	rest = strcspn(host, "?");
	buf_add(out, host, rest);
	if (host[rest]) {
		buf_putc(out, '?');
		mask_pairs(out, host + rest + 1, strlen(host + rest + 1), all);
	}
}

void http_mask_header(struct buf *out, const char *name, const char *value,
		      bool all)
{
	size_t word = strcspn(value, " ");

	buf_printf(out, "%s: ", name);
	if (is_in(secret_headers, name, strlen(name)) ||
	    (all && !is_in(harmless_headers, name, strlen(name)))) {
		/* "Bearer" and "Basic" are not secret. */
		if (value[word] && !strncasecmp(value, "b", 1) && word <= 6)
			buf_printf(out, "%.*s ", (int)word, value);
		buf_puts(out, HTTP_MASKED);
	} else if (!strcasecmp(name, "location") ||
		   !strcasecmp(name, "content-location")) {
		http_mask_url(out, value, all);
	} else {
		buf_puts(out, value);
	}
}

/* In place. */
static void mask_json(json_t *value, bool all)
{
	const char *key;
	json_t *item;
	void *next;
	size_t i;

	json_array_foreach(value, i, item)
	{
		if (all && !json_is_object(item) && !json_is_array(item))
			json_array_set_new(value, i, json_string(HTTP_MASKED));
		else
			mask_json(item, all);
	}
	json_object_foreach_safe(value, next, key, item)
	{
		bool hidden = is_hidden(key, strlen(key), all);

		if (json_is_object(item))
			mask_json(item, all);
		else if (json_is_array(item)) /* mask each of several tokens */
			mask_json(item, all || hidden);
		else if (hidden)
			json_object_set_new(value, key,
					    json_string(HTTP_MASKED));
	}
}

static json_t *size_only(size_t len)
{
	char *text = mem_printf("(%zu bytes)", len);
	json_t *value = json_string(text);

	free(text);
	return value;
}

json_t *http_mask_body(const char *content_type, const char *data, size_t len,
		       bool all)
{
	struct buf form = { 0 };
	struct error why;
	json_t *value;

	if (!len)
		return json_string("");
	if (!content_type || len > SHOWN_MAX)
		return size_only(len);
	if (text_starts(content_type, "application/json")) {
		value = json_read(data, len, "", &why);
		if (!value)
			return size_only(len);
		mask_json(value, all);
		return value;
	}
	if (text_starts(content_type, "application/x-www-form-urlencoded")) {
		mask_pairs(&form, data, len, all);
		value = json_text(buf_text(&form));
		buf_done(&form);
		return value;
	}
	if (!all && text_starts(content_type, "text/")) {
		buf_add(&form, data, len);
		value = json_text(buf_text(&form));
		buf_done(&form);
		return value;
	}
	return size_only(len);
}
