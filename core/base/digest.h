/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256, of short data by sha256.h and of long data by OpenSSL's libcrypto
 * where that is installed, and the other digests that protocols need. */
#ifndef JOBRUN_DIGEST_H
#define JOBRUN_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

struct digest {
	char hex[65]; /* lower case; "" for none */
};

struct digester; /* a digest in progress */

struct digester *digester_new(void);
void digester_free(struct digester *digester);
void digester_add(struct digester *digester, const void *data, size_t len);
/* Adds the length first, so that ("ab", "c") differs from ("a", "bc"). */
void digester_add_text(struct digester *digester, const char *text);
/* Adds the contents of a file; adds their number to `*bytes`, and extends the
 * checksum `*crc32c` by them, if not NULL. */
int digester_add_file(struct digester *digester, int fd, const char *path,
		      uint64_t *bytes, uint32_t *crc32c, struct error *err);
/* Finishes the digest: only digester_free() may follow. */
void digester_end(struct digester *digester, struct digest *out);

void digest_bytes(const void *data, size_t len, struct digest *out);
/* HMAC-SHA256: equal strings give equal digests to a holder of the key, and
 * tell nobody else anything. */
void digest_keyed(const void *key, size_t key_size, const char *text,
		  struct digest *out);

/* SHA-1 is no longer secure; RFC 6455 requires it. */
#define DIGEST_SHA1_SIZE 20
int digest_sha1(const void *data, size_t len,
		unsigned char out[DIGEST_SHA1_SIZE], struct error *err);

#endif
