/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104) for short texts, where to
 * load libcrypto would take longer than to hash.  digest.h chooses between
 * both; libcrypto is several times as fast.
 */
#ifndef JOBRUN_SHA256_H
#define JOBRUN_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32 /* bytes of a digest */
#define SHA256_BLOCK 64

struct sha256 {
	uint32_t state[8];
	uint64_t len; /* bytes added so far */
	unsigned char block[SHA256_BLOCK];
};

void sha256_init(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *data, size_t len);
/* Finishes the digest: only sha256_init() may follow. */
void sha256_end(struct sha256 *sha, unsigned char out[SHA256_SIZE]);

/* HMAC-SHA256 of `data`; `out` may be the key. */
void sha256_keyed(const void *key, size_t key_size, const void *data,
		  size_t len, unsigned char out[SHA256_SIZE]);

#endif
