/* SPDX-License-Identifier: Apache-2.0 */
/* Base 64, RFC 4648. */
#ifndef JOBRUN_BASE64_H
#define JOBRUN_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"

/* The standard alphabet: '+', '/' and padding. */
void base64_add(struct buf *out, const void *data, size_t len);
/* The URL alphabet, as in JSON Web Tokens: '-', '_', no padding. */
void base64_url_add(struct buf *out, const void *data, size_t len);
/* Decodes the standard alphabet, ignoring white space.  Returns false if the
 * input is not valid; then `out` holds nothing useful. */
bool base64_decode(struct buf *out, const char *text, size_t len);

#endif
