/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making what goes over the wire fit to be shown: tokens, keys and signatures
 * are taken out of headers, URLs, forms and JSON.  With `all` everything is
 * taken out that is not known to be harmless.
 */
#ifndef JOBRUN_HTTP_MASK_H
#define JOBRUN_HTTP_MASK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"

#define HTTP_MASKED "(masked)"

/* Adds "NAME: VALUE"; names are compared whatever their case. */
void http_mask_header(struct buf *out, const char *name, const char *value,
		      bool all);
/* With its query; a user before the host is left out. */
void http_mask_url(struct buf *out, const char *url, bool all);
/* Returns new: a text for a form, an object or array for JSON, and for all
 * else, or what is not what it says, how many bytes there are. */
json_t *http_mask_body(const char *content_type, const char *data, size_t len,
		       bool all);

#endif
