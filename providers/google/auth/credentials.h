/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Google's Application Default Credentials.  Looked for, in this order:
 *
 *  1. an access token in CLOUDSDK_AUTH_ACCESS_TOKEN or
 *     GOOGLE_OAUTH_ACCESS_TOKEN (gcloud's, Terraform's);
 *  2. the file named by GOOGLE_APPLICATION_CREDENTIALS;
 *  3. application_default_credentials.json in CLOUDSDK_CONFIG, else in
 *     ~/.config/gcloud: what `gcloud auth application-default login` writes;
 *  4. the metadata server of a machine of Google's.
 *
 * Tokens live in memory only, are wiped there, and are fetched anew 3 minutes
 * and 45 seconds before they end, as google-auth-library-python does.
 */
#ifndef JOBRUN_CREDENTIALS_H
#define JOBRUN_CREDENTIALS_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/net/http.h"

struct credentials;

/*
 * Reads the file, if it is one; asks nobody for a token yet.  Borrows the
 * client.  NULL with ERROR_DENIED: there are none, with what to do.
 */
struct credentials *credentials_find(struct http *http, struct error *err);
/* Whether it is worth looking for them: asks nobody. */
bool credentials_are_set_up(void);
/* From the text of a credential file, called `name`. */
struct credentials *credentials_read(struct http *http, const char *text,
				     size_t len, const char *name,
				     struct error *err);
void credentials_free(struct credentials *who);

/*
 * Adds an access token to `out`, which the caller wipes (see secret_done).
 * From any thread: one fetches, the others wait for it.  ERROR_DENIED: they
 * are refused; ERROR_UNREACHABLE: who gives tokens can't be reached.
 */
int credentials_token(struct credentials *who, struct buf *out,
		      struct error *err);
/* A service has refused this token (401): the next one will be another. */
void credentials_refused(struct credentials *who, const char *token);

/* For people: "service account a@b.example, from GOOGLE_APPLICATION_CREDENTIALS
 * (/k.json)".  Borrowed. */
const char *credentials_text(const struct credentials *who);
/* The file's project_id, or NULL.  Borrowed. */
const char *credentials_project(const struct credentials *who);
/* The project whose quota requests count for: GOOGLE_CLOUD_QUOTA_PROJECT, or
 * the file's quota_project_id, or NULL.  Borrowed. */
const char *credentials_quota_project(const struct credentials *who);

/* Do they come from the metadata server of this machine? */
bool credentials_are_machine(const struct credentials *who);

/* A buffer that held a secret. */
void secret_done(struct buf *buf);

#endif
