/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Web Tokens, signed with RS256 (RFC 7515, RFC 7518). */
#ifndef JOBRUN_JWT_H
#define JOBRUN_JWT_H

#include <jansson.h>

#include "core/base/buf.h"
#include "core/base/error.h"

/*
 * Adds the signed token to `out`.  `pem` is an RSA key in PKCS#8 or PKCS#1, not
 * encrypted; errors reveal nothing about it.
 */
int jwt_sign(const json_t *header, const json_t *claims, const char *pem,
	     struct buf *out, struct error *err);

#endif
