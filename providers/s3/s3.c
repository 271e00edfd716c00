/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/s3/s3.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "providers/s3/aws_credentials.h"
#include "providers/s3/aws_profile.h"
#include "providers/s3/sigv4.h"

/* A URL works that long: a transfer may wait for others first. */
#define EXPIRES_S 3600
#define HEADERS_MAX 16
#define STALL_S 60
/* One try with a body may take that long, on a slow line. */
#define TRY_MAX_MS 3600000

struct s3 {
	struct http *http;
	struct aws_credentials *who;
	char *region;
	char *endpoint; /* NULL: AWS's own */
};

struct s3 *s3_open(struct http *http)
{
	struct s3 *s3 = mem_alloc(sizeof(*s3));

	s3->http = http;
	s3->who = aws_credentials_new(http);
	s3->region = aws_region();
	s3->endpoint = aws_endpoint("S3");
	return s3;
}

void s3_close(struct s3 *s3)
{
	if (!s3)
		return;
	aws_credentials_free(s3->who);
	free(s3->region);
	free(s3->endpoint);
	free(s3);
}

struct http *s3_http(struct s3 *s3)
{
	return s3->http;
}

int s3_url_parse(const char *url, struct arena *mem, const char **bucket,
		 const char **key, struct error *err)
{
	const char *name = url + 5;
	size_t len;

	if (!text_starts(url, "s3://") || !(len = strcspn(name, "/")))
		return error_set(err, ERROR_INVALID,
				 "'%s' is not s3://BUCKET/KEY", url);
	*bucket = arena_strndup(mem, name, len);
	*key = arena_strdup(mem, name + len + (name[len] == '/'));
	return 0;
}

/* Whether the bucket can be a part of a host's name that AWS's certificate
 * covers: without dots. */
static bool is_label(const char *bucket)
{
	size_t i;

	for (i = 0; bucket[i]; i++)
		if (!islower((unsigned char)bucket[i]) &&
		    !isdigit((unsigned char)bucket[i]) && bucket[i] != '-')
			return false;
	return i > 2 && i < 64 && bucket[0] != '-' && bucket[i - 1] != '-';
}

/* Sets the base of the URL, "https://HOST", and the path; both new. */
static void locate(const struct s3 *s3, const struct s3_call *call, char **base,
		   char **path)
{
	const char *key = call->key ? call->key : "";
	const char *end = strstr(s3->region, "cn-") == s3->region ? ".cn" : "";

	if (s3->endpoint) {
		*base = mem_strdup(s3->endpoint);
	} else if (is_label(call->bucket)) {
		*base = mem_printf("https://%s.s3.%s.amazonaws.com%s",
				   call->bucket, s3->region, end);
		*path = mem_printf("/%s", key);
		return;
	} else {
		*base = mem_printf("https://s3.%s.amazonaws.com%s", s3->region,
				   end);
	}
	*path = mem_printf("/%s/%s", call->bucket, key);
}

/* The host of "https://HOST", with its port unless that is the usual one. */
static char *host_header(const char *base)
{
	const char *host = strstr(base, "://");
	bool tls = text_starts(base, "https://");
	char *out;

	host = host ? host + 3 : base;
	out = mem_printf("host:%.*s", (int)strcspn(host, "/"), host);
	if (text_ends(out, tls ? ":443" : ":80"))
		*strrchr(out, ':') = '\0';
	return out;
}

/* The path of an endpoint is a part of what is signed. */
static char *below(const char *base, const char *path, size_t *host_len)
{
	const char *host = strstr(base, "://");

	host = host ? host + 3 : base;
	*host_len = (size_t)(host - base) + strcspn(host, "/");
	return mem_printf("%s%s", base + *host_len, path);
}

int s3_sign(struct s3 *s3, const struct s3_call *call, struct buf *url,
	    struct error *err)
{
	const char *headers[HEADERS_MAX];
	struct sigv4_request request = {
		.method = call->method ? call->method : "GET",
		.query = call->query,
		.headers = headers,
		.payload = "UNSIGNED-PAYLOAD",
	};
	struct aws_key who;
	char *base, *path, *host, *whole;
	size_t n = 0, len;
	int found = aws_credentials_get(s3->who, &who, err);

	if (found < 0)
		return -1;
	locate(s3, call, &base, &path);
	host = host_header(base);
	headers[n++] = host;
	for (size_t i = 0; call->signed_headers && call->signed_headers[i] &&
			   n < HEADERS_MAX - 1;
	     i++)
		headers[n++] = call->signed_headers[i];
	headers[n] = NULL;
	whole = below(base, path, &len);
	request.path = whole;
	buf_add(url, base, len);
	if (found) {
		const struct sigv4_key key = { who.id, who.secret, who.token };
		const struct sigv4_scope scope = { s3->region, "s3",
						   time_now_ms() };

		sigv4_presign(&key, &scope, &request, EXPIRES_S, url);
	} else {
		sigv4_encode(&request, url);
	}
	aws_key_done(&who);
	free(whole);
	free(host);
	free(path);
	free(base);
	return 0;
}

int s3_do(struct s3 *s3, const struct s3_call *call,
	  struct http_response *answer, struct error *err)
{
	const char *headers[HEADERS_MAX * 2];
	struct buf url = { 0 };
	struct http_request request = {
		.method = call->method ? call->method : "GET",
		.headers = headers,
		.content_type = call->content_type,
		.body = call->body,
		.body_len = call->body_len,
		.flags = call->flags | HTTP_REPEATABLE,
		.stall_timeout_s = STALL_S,
		.total_timeout_ms = call->body_len ? TRY_MAX_MS : 0,
		.sink = call->sink,
		.arg = call->arg,
	};
	size_t n = 0, i;
	int ret;

	for (i = 0; call->signed_headers && call->signed_headers[i]; i++)
		headers[n++] = call->signed_headers[i];
	for (i = 0; call->headers && call->headers[i]; i++)
		headers[n++] = call->headers[i];
	headers[n] = NULL;
	ret = s3_sign(s3, call, &url, err);
	request.url = url.data;
	if (ret == 0)
		ret = http_do(s3->http, &request, answer, err);
	if (url.data)
		explicit_bzero(url.data, url.size);
	buf_done(&url);
	return ret;
}

struct xml s3_body(const struct http_response *answer)
{
	return (struct xml){ buf_text(&answer->body), answer->body.len };
}

int s3_refuse(const struct http_response *answer, struct error *err)
{
	char *code = xml_text(s3_body(answer), "Code");
	char *message = xml_text(s3_body(answer), "Message");
	char *region = http_response_header(answer, "x-amz-bucket-region");
	long status = answer->status;

	error_set(err,
		  status == 401 || status == 403        ? ERROR_DENIED
		  : retry_status(status) != RETRY_NEVER ? ERROR_UNREACHABLE
							: ERROR_FAILED,
		  "the store answers with status %ld%s%.60s%s%.200s", status,
		  *code ? " " : "", code, *message ? ": " : "", message);
	if (region && (status == 301 || status == 307 || status == 400)) {
		error_append(err, "; the bucket is in the region ");
		error_append(err, region);
		error_append(err, ": set AWS_REGION");
	}
	free(region);
	free(message);
	free(code);
	return -1;
}

int s3_check(struct s3 *s3, struct error *err)
{
	struct aws_key who;
	int found = aws_credentials_get(s3->who, &who, err);

	aws_key_done(&who);
	if (found)
		return found < 0 ? -1 : 0;
	return error_set(err, ERROR_NO_CREDENTIALS,
			 "no AWS credentials: set AWS_ACCESS_KEY_ID and "
			 "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE");
}
