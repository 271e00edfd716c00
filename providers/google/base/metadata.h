/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metadata server of a Google machine, which knows the machine's identity
 * and location.  It speaks plain http, so each answer must carry
 * "Metadata-Flavor: Google".
 *
 * Requests go to GCE_METADATA_HOST (else GCE_METADATA_ROOT, else
 * metadata.google.internal); detection uses GCE_METADATA_IP (else
 * 169.254.169.254, or GCE_METADATA_HOST).  NO_GCE_CHECK=true says that there is
 * no server; GCE_METADATA_TIMEOUT (3 seconds) and GCE_METADATA_DETECT_RETRIES
 * (3 tries) work as in google-auth-library-python.
 */
#ifndef JOBRUN_METADATA_H
#define JOBRUN_METADATA_H

#include <stdbool.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/net/http.h"

/* Whether the user's settings or the firmware suggest a metadata server: on
 * other machines detecting it can take seconds. */
bool metadata_is_likely(void);

/* Whether there is a server.  Takes no longer than the timeout for each try; a
 * machine without a route to the address knows at once. */
bool metadata_detect(struct http *http);

/*
 * The value at `path` below /computeMetadata/v1/ ("project/project-id",
 * "instance/zone", "instance/attributes/tpu-env"), allocated in `mem`; NULL if
 * there is no such value.  Fails with ERROR_UNREACHABLE.
 */
int metadata_get(struct http *http, const char *path, struct arena *mem,
		 const char **out, struct error *err);

/*
 * Gets the access token of the machine's service account as the server's JSON,
 * {"access_token", "expires_in", "token_type"}, into a response to be wiped.
 * ERROR_DENIED: the machine has no service account, or it lacks these scopes.
 */
int metadata_token(struct http *http, const char *scopes,
		   struct http_response *out, struct error *err);

#endif
