/* SPDX-License-Identifier: Apache-2.0 */
/* Builds URLs and forms. */
#ifndef JOBRUN_URL_H
#define JOBRUN_URL_H

#include <stdbool.h>

#include "core/base/buf.h"

/* Adds `text`, percent-encoding everything except letters, digits, "-._~" (RFC
 * 3986), and the characters in `keep`. */
void url_encode(struct buf *out, const char *text, const char *keep);

/* Adds "NAME=VALUE", both encoded, after a '&' if there is a pair already: for
 * a query without its '?', or a form. */
void url_add_pair(struct buf *out, const char *name, const char *value);

/* Like url_add_pair(), for a whole URL: after '?' or '&', as needed. */
void url_add_query(struct buf *url, const char *name, const char *value);

/* A URL that is safe to show: without query, fragment and user.  Returns
 * new. */
char *url_without_query(const char *url);

/* Whether the host is a loopback address or "localhost"; IPv6 with or without
 * brackets. */
bool url_host_is_loopback(const char *host);

#endif
