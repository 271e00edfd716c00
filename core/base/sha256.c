/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/sha256.h"

#include <string.h>

/* FIPS 180-4, 4.2.2: of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

/* 6.2.2, step 1. */
static void expand(uint32_t w[64], const unsigned char *block)
{
	uint32_t s0;
	uint32_t s1;
	unsigned i;

	for (i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 |
		       (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (; i < 64; i++) {
		s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^
		     w[i - 15] >> 3;
		s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^
		     w[i - 2] >> 10;
		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

/* 6.2.2, step 3, for two of the eight variables: which they are changes from
 * one round to the next, instead of moving all. */
static inline void turn(uint32_t v[8], unsigned i, uint32_t add)
{
	uint32_t a = v[(0 - i) & 7];
	uint32_t b = v[(1 - i) & 7];
	uint32_t c = v[(2 - i) & 7];
	uint32_t e = v[(4 - i) & 7];
	uint32_t f = v[(5 - i) & 7];
	uint32_t g = v[(6 - i) & 7];
	uint32_t t1 = v[(7 - i) & 7] + add + (g ^ (e & (f ^ g))) +
		      (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25));

	v[(3 - i) & 7] += t1;
	v[(7 - i) & 7] = t1 + ((a & b) | (c & (a | b))) +
			 (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22));
}

/* 6.2.2, steps 2 to 4; the eight variables a to h are v[0] to v[7]. */
static void compress(uint32_t state[8], const unsigned char *block)
{
	uint32_t w[64];
	uint32_t v[8];
	unsigned i;

	expand(w, block);
	memcpy(v, state, sizeof(v));
	for (i = 0; i < 64; i += 8) {
		turn(v, 0, constants[i] + w[i]);
		turn(v, 1, constants[i + 1] + w[i + 1]);
		turn(v, 2, constants[i + 2] + w[i + 2]);
		turn(v, 3, constants[i + 3] + w[i + 3]);
		turn(v, 4, constants[i + 4] + w[i + 4]);
		turn(v, 5, constants[i + 5] + w[i + 5]);
		turn(v, 6, constants[i + 6] + w[i + 6]);
		turn(v, 7, constants[i + 7] + w[i + 7]);
	}
	for (i = 0; i < 8; i++)
		state[i] += v[i];
}

void sha256_init(struct sha256 *sha)
{
	/* 5.3.3 */
	static const uint32_t first[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(sha->state, first, sizeof(first));
	sha->len = 0;
}

void sha256_add(struct sha256 *sha, const void *data, size_t len)
{
	const unsigned char *at = data;
	size_t have = sha->len % SHA256_BLOCK;
	size_t take;

	sha->len += len;
	while (len > 0) {
		if (have == 0 && len >= SHA256_BLOCK) {
			take = SHA256_BLOCK;
			compress(sha->state, at);
		} else {
			take = SHA256_BLOCK - have < len ? SHA256_BLOCK - have
							 : len;
			memcpy(sha->block + have, at, take);
			have += take;
			if (have == SHA256_BLOCK) {
				compress(sha->state, sha->block);
				have = 0;
			}
		}
		at += take;
		len -= take;
	}
}

void sha256_end(struct sha256 *sha, unsigned char out[SHA256_SIZE])
{
	static const unsigned char padding[SHA256_BLOCK] = { 0x80 };
	uint64_t bits = sha->len * 8;
	size_t have = sha->len % SHA256_BLOCK;
	unsigned char tail[8];

	for (unsigned i = 0; i < 8; i++)
		tail[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_add(sha, padding, (have < 56 ? 56 : 56 + SHA256_BLOCK) - have);
	sha256_add(sha, tail, sizeof(tail));
	for (unsigned i = 0; i < SHA256_SIZE; i++)
		out[i] = (unsigned char)(sha->state[i / 4] >>
					 (24 - 8 * (i % 4)));
}

/* Starts a digest with the key, each byte of it changed by `with`. */
static void begin(struct sha256 *sha, const unsigned char key[SHA256_BLOCK],
		  unsigned char with)
{
	unsigned char pad[SHA256_BLOCK];

	for (unsigned i = 0; i < SHA256_BLOCK; i++)
		pad[i] = key[i] ^ with;
	sha256_init(sha);
	sha256_add(sha, pad, sizeof(pad));
}

void sha256_keyed(const void *key, size_t key_size, const void *data,
		  size_t len, unsigned char out[SHA256_SIZE])
{
	unsigned char block[SHA256_BLOCK] = { 0 };
	unsigned char inner[SHA256_SIZE];
	struct sha256 sha;

	if (key_size > SHA256_BLOCK) {
		sha256_init(&sha);
		sha256_add(&sha, key, key_size);
		sha256_end(&sha, block);
	} else if (key_size > 0) {
		memcpy(block, key, key_size);
	}
	begin(&sha, block, 0x36);
	sha256_add(&sha, data, len);
	sha256_end(&sha, inner);
	begin(&sha, block, 0x5c);
	sha256_add(&sha, inner, sizeof(inner));
	sha256_end(&sha, out);
}
