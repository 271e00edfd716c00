/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256, by OpenSSL's libcrypto; and what protocols have in its stead. */
#ifndef JOBRUN_DIGEST_H
#define JOBRUN_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

struct digest {
	char hex[65]; /* lower case; "" for none */
};

struct digester; /* a digest not yet finished */

struct digester *digester_new(struct error *err);
void digester_free(struct digester *digester);
void digester_add(struct digester *digester, const void *data, size_t len);
/* With its length before it, so that ("ab", "c") is not ("a", "bc"). */
void digester_add_text(struct digester *digester, const char *text);
/* The contents of a file; `bytes`, if not NULL, is added to. */
int digester_add_file(struct digester *digester, int fd, const char *path,
		      uint64_t *bytes, struct error *err);
/* Ends it: only digester_free() may follow. */
void digester_end(struct digester *digester, struct digest *out);

int digest_bytes(const void *data, size_t len, struct digest *out,
		 struct error *err);
/* HMAC-SHA256: equal texts give equal digests to a holder of the key, and tell
 * nothing to anybody else. */
int digest_keyed(const void *key, size_t key_size, const char *text,
		 struct digest *out, struct error *err);

/* SHA-1, which proves nothing any more: for RFC 6455. */
#define DIGEST_SHA1_SIZE 20
int digest_sha1(const void *data, size_t len,
		unsigned char out[DIGEST_SHA1_SIZE], struct error *err);

#endif
