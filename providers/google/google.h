/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by all calls of Google's APIs: the credentials, and the HTTP client.
 * Thread-safe.
 */
#ifndef JOBRUN_GOOGLE_H
#define JOBRUN_GOOGLE_H

#include "core/base/error.h"
#include "core/net/http.h"

struct credentials;
struct google;
struct request_ids;

/*
 * Borrows the client.  No I/O: the first call that needs credentials searches
 * them.
 */
struct google *google_open(struct http *http);
void google_close(struct google *google);

/* Borrowed. */
struct http *google_http(struct google *google);
/* Borrowed: see request_id.h. */
struct request_ids *google_request_ids(struct google *google);
/* Borrowed; searched at the first call.  ERROR_DENIED: there are none. */
struct credentials *google_credentials(struct google *google,
				       struct error *err);

#endif
