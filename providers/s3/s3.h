/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Amazon S3 and stores that speak its protocol (Amazon S3 API reference,
 * docs.aws.amazon.com/AmazonS3/latest/API, read in 2026).  Every request is a
 * signed URL; without credentials it goes unsigned, as for public objects.
 */
#ifndef JOBRUN_S3_H
#define JOBRUN_S3_H

#include <stdint.h>

#include "core/base/alloc.h"
#include "core/net/http.h"
#include "providers/s3/xml.h"

struct s3;

/* Borrows `http`.  Reads the settings; asks nobody. */
struct s3 *s3_open(struct http *http);
void s3_close(struct s3 *s3); /* accepts NULL */
struct http *s3_http(struct s3 *s3);

/* Splits "s3://bucket/a/b" into its parts, in `mem`; `key` may become "". */
int s3_url_parse(const char *url, struct arena *mem, const char **bucket,
		 const char **key, struct error *err);

/* A request to a bucket.  Members that are zero get their default. */
struct s3_call {
	const char *method; /* "GET" */
	const char *bucket, *key;
	/* names and values in turn, NULL-terminated */
	const char *const *query;
	/* "x-amz-...:value", in lower case, sorted, NULL-terminated: what S3
	 * wants to be signed */
	const char *const *signed_headers;
	/* others, "Name: value" */
	const char *const *headers;
	const char *content_type;
	const void *body;
	size_t body_len;
	http_sink *sink;
	void *arg;
	unsigned flags; /* of enum http_flag; HTTP_REPEATABLE is added */
};

/* Adds the signed URL of the call, a secret while it works; may ask for
 * credentials. */
int s3_sign(struct s3 *s3, const struct s3_call *call, struct buf *url,
	    struct error *err);

/* Makes the call.  Any status is success; see s3_refuse(). */
int s3_do(struct s3 *s3, const struct s3_call *call,
	  struct http_response *answer, struct error *err);

/* Says why S3 has answered with such a status.  Returns -1. */
int s3_refuse(const struct http_response *answer, struct error *err);

/* The body of an answer. */
struct xml s3_body(const struct http_response *answer);

/* Whether credentials are configured; asks no store.  Returns -1 with
 * ERROR_NO_CREDENTIALS if not. */
int s3_check(struct s3 *s3, struct error *err);

#endif
