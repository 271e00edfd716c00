/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metadata server that each machine of Google's has: who and where it is.
 * It is plain http, so each answer must carry "Metadata-Flavor: Google".
 *
 * GCE_METADATA_HOST (else GCE_METADATA_ROOT, else metadata.google.internal) is
 * where it is asked; GCE_METADATA_IP (else 169.254.169.254, or
 * GCE_METADATA_HOST) where it is looked for; NO_GCE_CHECK=true says that there
 * is none; GCE_METADATA_TIMEOUT (3 seconds) and GCE_METADATA_DETECT_RETRIES (3
 * tries) are as in google-auth-library-python.
 */
#ifndef JOBRUN_METADATA_H
#define JOBRUN_METADATA_H

#include <stdbool.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/net/http.h"

/* The user says where it is, or the firmware that there may be one: elsewhere
 * to look for it can take seconds. */
bool metadata_is_likely(void);

/* Is there one?  Takes no longer than the timeout for each try; a machine
 * where the address is not routed says so at once. */
bool metadata_detect(struct http *http);

/*
 * The value at `path` below /computeMetadata/v1/ ("project/project-id",
 * "instance/zone", "instance/attributes/tpu-env"), allocated in `mem`; NULL
 * if there is no such value.  Fails with ERROR_UNREACHABLE.
 */
int metadata_get(struct http *http, const char *path, struct arena *mem,
		 const char **out, struct error *err);

/*
 * The access token of the machine's service account, as the server's JSON:
 * {"access_token", "expires_in", "token_type"}, into a response to be wiped.
 * ERROR_DENIED: the machine has no service account, or not these scopes.
 */
int metadata_token(struct http *http, const char *scopes,
		   struct http_response *out, struct error *err);

#endif
