/* SPDX-License-Identifier: Apache-2.0 */
/* Base 64, RFC 4648. */
#ifndef JOBRUN_BASE64_H
#define JOBRUN_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"

/* With '+', '/' and padding. */
void base64_add(struct buf *out, const void *data, size_t len);
/* For URLs, as JSON Web Tokens have it: '-', '_', no padding. */
void base64_url_add(struct buf *out, const void *data, size_t len);
/* Adds what a text of the first kind stands for; white space in it does not
 * count.  False, with nothing of use added, if it is not one. */
bool base64_decode(struct buf *out, const char *text, size_t len);

#endif
