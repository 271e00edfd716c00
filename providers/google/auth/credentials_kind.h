/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the kinds of credentials.  Each kind is a table row in a file of
 * its own: how to read it from its JSON, and how to fetch a token.
 */
#ifndef JOBRUN_CREDENTIALS_KIND_H
#define JOBRUN_CREDENTIALS_KIND_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"

struct error;
struct http;
struct http_response;

#define CREDENTIALS_SCOPE "https://www.googleapis.com/auth/cloud-platform"

struct token {
	struct buf text;
	int64_t ends_ms; /* since 1970 */
};

struct credential_kind {
	const char *type; /* in the file */
	/* Returns new, or NULL.  Errors call the file `name`. */
	void *(*read)(const json_t *file, const char *name, struct error *err);
	void (*free)(void *data);
	int (*fetch)(void *data, struct http *http, struct token *out,
		     struct error *err);
	/* "service account a@b.example". */
	void (*describe)(const void *data, struct buf *out);
};

extern const struct credential_kind credentials_service_account;
extern const struct credential_kind credentials_user;
extern const struct credential_kind credentials_external_user;
extern const struct credential_kind credentials_external;
extern const struct credential_kind credentials_impersonated;
extern const struct credential_kind credentials_metadata;

/* NULL with `err` set if there is no such type, or we do not support it. */
const struct credential_kind *
credential_kind_find(const char *type, const char *name, struct error *err);

/* A required string, returned new; or NULL with an error naming it. */
char *credential_text(const json_t *file, const char *key, const char *name,
		      struct error *err);

/* Adds the service account that an impersonation URL names. */
void credential_describe_target(const char *url, struct buf *out);

/* Initial room for a buffer with a secret, as growing it would leave copies. */
#define SECRET_ROOM 16384

/* Wipes a string and frees it; accepts NULL. */
void secret_free(char *text);

/*
 * POSTs a form to an OAuth endpoint and takes the access token from the answer.
 * The caller wipes the form, which holds secrets.  `authorization` is a header
 * or NULL.  Errors never repeat what was sent; `advice` says what to do if the
 * request is refused.
 */
int token_endpoint(struct http *http, const char *url, const struct buf *form,
		   const char *authorization, const char *advice,
		   struct token *out, struct error *err);
/* Parses {"access_token", "expires_in"}; `from` names the sender. */
int token_read(const struct http_response *answer, const char *from,
	       struct token *out, struct error *err);

/*
 * Exchanges a token for one of a service account, at iamcredentials'
 * generateAccessToken `url`.  `delegates` is an array or NULL.
 */
int token_impersonate(struct http *http, const char *url,
		      const struct token *caller, const json_t *delegates,
		      long lifetime_s, struct token *out, struct error *err);

#endif
