/* SPDX-License-Identifier: Apache-2.0 */
/* Base 64, RFC 4648. */
#ifndef JOBRUN_BASE64_H
#define JOBRUN_BASE64_H

#include <stddef.h>

#include "core/base/buf.h"

/* With '+', '/' and padding. */
void base64_add(struct buf *out, const void *data, size_t len);
/* For URLs, as JSON Web Tokens have it: '-', '_', no padding. */
void base64_url_add(struct buf *out, const void *data, size_t len);

#endif
