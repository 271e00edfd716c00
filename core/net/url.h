/* SPDX-License-Identifier: Apache-2.0 */
/* Putting URLs and forms together. */
#ifndef JOBRUN_URL_H
#define JOBRUN_URL_H

#include <stdbool.h>

#include "core/base/buf.h"

/* Adds `text`, percent-encoded but for letters, digits and "-._~" (RFC 3986),
 * and those in `keep`. */
void url_encode(struct buf *out, const char *text, const char *keep);

/* Adds "NAME=VALUE", both encoded, after a '&' if a pair is there already: a
 * query without its '?', or a form. */
void url_add_pair(struct buf *out, const char *name, const char *value);

/* As url_add_pair, to a whole URL: after '?' or '&', whichever it takes. */
void url_add_query(struct buf *url, const char *name, const char *value);

/* A URL that is safe to show: without query, fragment and user.  Returns
 * new. */
char *url_without_query(const char *url);

/* Is it a loopback address, or "localhost"?  IPv6 with or without brackets. */
bool url_host_is_loopback(const char *host);

#endif
