/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AWS Signature Version 4, as the "Signature Version 4 signing process" of the
 * S3 API reference has it (docs.aws.amazon.com/AmazonS3/latest/API/
 * sig-v4-authenticating-requests.html, read in 2026).  Signs queries: a signed
 * URL works for its own request only, and for a limited time.
 */
#ifndef JOBRUN_SIGV4_H
#define JOBRUN_SIGV4_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"

struct sigv4_key {
	const char *id;
	const char *secret;
	const char *token; /* of a session; NULL: none */
};

/* What a signature is good for. */
struct sigv4_scope {
	const char *region;  /* "us-east-1" */
	const char *service; /* "s3" */
	int64_t time_ms;     /* since 1970 */
};

struct sigv4_request {
	const char *method; /* "GET" */
	const char *path;   /* not encoded, from its '/' on */
	/* names and values in turn, not encoded, NULL-terminated; or NULL */
	const char *const *query;
	/* "name:value", names in lower case, sorted, with `host`; all are
	 * signed; NULL-terminated */
	const char *const *headers;
	/* the SHA-256 of the body in hex, or "UNSIGNED-PAYLOAD" */
	const char *payload;
};

#define SIGV4_SIGNATURE 65 /* hex digits and a NUL */

/* The signature of a request as it stands. */
void sigv4_sign(const struct sigv4_key *key, const struct sigv4_scope *scope,
		const struct sigv4_request *request, char out[SIGV4_SIGNATURE]);

/* Adds the encoded path and query of the request, signed for `expires_s`
 * seconds.  What is added is a secret, as long as it works. */
void sigv4_presign(const struct sigv4_key *key, const struct sigv4_scope *scope,
		   const struct sigv4_request *request, long expires_s,
		   struct buf *out);

/* Adds path and query encoded in the same way, without a signature. */
void sigv4_encode(const struct sigv4_request *request, struct buf *out);

#endif
