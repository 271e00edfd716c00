/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Google's Application Default Credentials, searched in this order:
 *
 *  1. an access token in CLOUDSDK_AUTH_ACCESS_TOKEN or
 *     GOOGLE_OAUTH_ACCESS_TOKEN (gcloud's, Terraform's);
 *  2. the file named by GOOGLE_APPLICATION_CREDENTIALS;
 *  3. application_default_credentials.json in CLOUDSDK_CONFIG, else in
 *     ~/.config/gcloud: what `gcloud auth application-default login` writes;
 *  4. the metadata server of a Google machine.
 *
 * Tokens exist in memory only, are wiped there, and are fetched again 3 minutes
 * and 45 seconds before they expire, as in google-auth-library-python.
 */
#ifndef JOBRUN_CREDENTIALS_H
#define JOBRUN_CREDENTIALS_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/net/http.h"

struct credentials;

/*
 * Reads the file, if there is one, but requests no token yet.  Borrows the
 * client.  NULL with ERROR_DENIED: there are none; the error says what to do.
 */
struct credentials *credentials_find(struct http *http, struct error *err);
/* Whether credentials seem to be configured; makes no request. */
bool credentials_are_set_up(void);
/* From the contents of a credential file, called `name`. */
struct credentials *credentials_read(struct http *http, const char *text,
				     size_t len, const char *name,
				     struct error *err);
void credentials_free(struct credentials *who);

/*
 * Adds an access token to `out`, which the caller wipes (see secret_done).
 * Thread-safe: one thread fetches, the others wait for it.  ERROR_DENIED: the
 * credentials were refused; ERROR_UNREACHABLE: the token server can't be
 * reached.
 */
int credentials_token(struct credentials *who, struct buf *out,
		      struct error *err);
/* Reports that a service has refused this token (401): the next one will be
 * another. */
void credentials_refused(struct credentials *who, const char *token);

/* For people: "service account a@b.example, from GOOGLE_APPLICATION_CREDENTIALS
 * (/k.json)".  Borrowed. */
const char *credentials_text(const struct credentials *who);
/* The file's project_id, or NULL.  Borrowed. */
const char *credentials_project(const struct credentials *who);
/* The project that pays for requests: GOOGLE_CLOUD_QUOTA_PROJECT, or the file's
 * quota_project_id, or NULL.  Borrowed. */
const char *credentials_quota_project(const struct credentials *who);

/* Whether they come from the metadata server of this machine. */
bool credentials_are_machine(const struct credentials *who);

/* Wipes and frees a buffer that held a secret. */
void secret_done(struct buf *buf);

#endif
