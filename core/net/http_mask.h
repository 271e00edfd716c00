/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes HTTP traffic fit to be shown: removes tokens, keys and signatures from
 * headers, URLs, forms and JSON.  With `all`, removes everything that is not
 * known to be harmless.
 */
#ifndef JOBRUN_HTTP_MASK_H
#define JOBRUN_HTTP_MASK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"

#define HTTP_MASKED "(masked)"

/* Adds "NAME: VALUE"; the name's case does not matter. */
void http_mask_header(struct buf *out, const char *name, const char *value,
		      bool all);
/* Adds the URL with its query; a user before the host is left out. */
void http_mask_url(struct buf *out, const char *url, bool all);
/* Returns new: a string for a form, an object or array for JSON; for any other
 * type, or invalid contents, the number of bytes. */
json_t *http_mask_body(const char *content_type, const char *data, size_t len,
		       bool all);

#endif
