/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/s3/sigv4.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/sha256.h"
#include "core/net/url.h"

#define ALGORITHM "AWS4-HMAC-SHA256"
#define QUERY_MAX 32 /* names and values */

/* "20130524T000000Z"; the day is its first eight characters. */
static void format_time(int64_t time_ms, char out[17])
{
	time_t seconds = time_ms / 1000;
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(out, 17, "%Y%m%dT%H%M%SZ", &tm);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the pairs encoded and sorted by their encoded form.  '=' sorts after
 * the digits, so the form of a pair is compared with a NUL in its place. */
static void add_query(const char *const *query, struct buf *out)
{
	char *pairs[QUERY_MAX / 2];
	size_t count = 0;

	for (; query && query[0]; query += 2) {
		struct buf pair = { 0 };

		url_encode(&pair, query[0], "");
		buf_putc(&pair, '\1');
		url_encode(&pair, query[1], "");
		pairs[count++] = buf_take(&pair);
	}
	qsort(pairs, count, sizeof(*pairs), by_text);
	for (size_t i = 0; i < count; i++) {
		*strchr(pairs[i], '\1') = '=';
		buf_printf(out, "%s%s", i ? "&" : "", pairs[i]);
		free(pairs[i]);
	}
}

/* Adds "host;range", the names of the headers. */
static void add_names(const char *const *headers, struct buf *out)
{
	for (size_t i = 0; headers[i]; i++) {
		if (i)
			buf_putc(out, ';');
		buf_add(out, headers[i], strcspn(headers[i], ":"));
	}
}

static void add_scope(const struct sigv4_scope *scope, const char *time,
		      struct buf *out)
{
	buf_printf(out, "%.8s/%s/%s/aws4_request", time, scope->region,
		   scope->service);
}

static void add_canonical(const struct sigv4_request *request, struct buf *out)
{
	buf_printf(out, "%s\n", request->method);
	url_encode(out, request->path, "/");
	buf_putc(out, '\n');
	add_query(request->query, out);
	buf_putc(out, '\n');
	for (size_t i = 0; request->headers[i]; i++)
		buf_printf(out, "%s\n", request->headers[i]);
	buf_putc(out, '\n');
	add_names(request->headers, out);
	buf_printf(out, "\n%s", request->payload);
}

/* Derives the key of this day, region and service. */
static void derive(const struct sigv4_key *key, const struct sigv4_scope *scope,
		   const char *time, unsigned char out[SHA256_SIZE])
{
	const char *const steps[] = { scope->region, scope->service,
				      "aws4_request" };
	char *first = mem_printf("AWS4%s", key->secret);

	sha256_keyed(first, strlen(first), time, 8, out);
	for (size_t i = 0; i < COUNT(steps); i++)
		sha256_keyed(out, SHA256_SIZE, steps[i], strlen(steps[i]), out);
	explicit_bzero(first, strlen(first));
	free(first);
}

void sigv4_sign(const struct sigv4_key *key, const struct sigv4_scope *scope,
		const struct sigv4_request *request, char out[SIGV4_SIGNATURE])
{
	unsigned char signing[SHA256_SIZE];
	struct buf canonical = { 0 }, text = { 0 };
	struct digest digest;
	char time[17];

	format_time(scope->time_ms, time);
	add_canonical(request, &canonical);
	digest_bytes(canonical.data, canonical.len, &digest);
	buf_printf(&text, ALGORITHM "\n%s\n", time);
	add_scope(scope, time, &text);
	buf_printf(&text, "\n%s", digest.hex);
	derive(key, scope, time, signing);
	digest_keyed(signing, sizeof(signing), text.data, &digest);
	snprintf(out, SIGV4_SIGNATURE, "%s", digest.hex);
	explicit_bzero(signing, sizeof(signing));
	buf_done(&text);
	buf_done(&canonical);
}

void sigv4_encode(const struct sigv4_request *request, struct buf *out)
{
	url_encode(out, request->path, "/");
	if (request->query && request->query[0]) {
		buf_putc(out, '?');
		add_query(request->query, out);
	}
}

void sigv4_presign(const struct sigv4_key *key, const struct sigv4_scope *scope,
		   const struct sigv4_request *request, long expires_s,
		   struct buf *out)
{
	struct sigv4_request whole = *request;
	const char *query[QUERY_MAX + 1];
	struct buf who = { 0 }, names = { 0 };
	char signature[SIGV4_SIGNATURE], time[17], expires[24];
	size_t n = 0;

	format_time(scope->time_ms, time);
	snprintf(expires, sizeof(expires), "%ld", expires_s);
	buf_printf(&who, "%s/", key->id);
	add_scope(scope, time, &who);
	add_names(request->headers, &names);
	for (; request->query && request->query[n] && n < QUERY_MAX - 12; n++)
		query[n] = request->query[n];
	query[n++] = "X-Amz-Algorithm";
	query[n++] = ALGORITHM;
	query[n++] = "X-Amz-Credential";
	query[n++] = who.data;
	query[n++] = "X-Amz-Date";
	query[n++] = time;
	query[n++] = "X-Amz-Expires";
	query[n++] = expires;
	if (key->token) {
		query[n++] = "X-Amz-Security-Token";
		query[n++] = key->token;
	}
	query[n++] = "X-Amz-SignedHeaders";
	query[n++] = names.data;
	query[n] = NULL;
	whole.query = query;
	sigv4_sign(key, scope, &whole, signature);
	sigv4_encode(&whole, out);
	buf_printf(out, "&X-Amz-Signature=%s", signature);
	buf_done(&names);
	buf_done(&who);
}
