/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds AWS credentials where AWS's own tools do, in their order ("Standardized
 * credential providers" of the AWS SDKs reference guide, docs.aws.amazon.com/
 * sdkref/latest/guide/standardized-credentials.html, read in 2026):
 * environment, web identity, profile, container, instance metadata (version 2).
 */
#ifndef JOBRUN_AWS_CREDENTIALS_H
#define JOBRUN_AWS_CREDENTIALS_H

#include "core/base/error.h"
#include "core/net/http.h"

/* Strings are owned. */
struct aws_key {
	char *id, *secret;
	char *token;        /* or NULL */
	int64_t expires_ms; /* since 1970; 0: never */
};

void aws_key_done(struct aws_key *key); /* wipes it */

struct aws_credentials;

/* Borrows `http`. */
struct aws_credentials *aws_credentials_new(struct http *http);
void aws_credentials_free(struct aws_credentials *credentials);

/*
 * Gets a copy of the credentials, renewed if they are about to expire; may
 * block.  Returns 1, 0 if none are configured (objects may be public), or -1.
 * Thread-safe.
 */
int aws_credentials_get(struct aws_credentials *credentials,
			struct aws_key *out, struct error *err);

#endif
