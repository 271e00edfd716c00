/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 and HMAC-SHA256 of our own, held against published vectors and
 * against libcrypto. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/library.h"
#include "core/base/sha256.h"

static struct {
	__typeof__(&EVP_sha256) sha256;
	__typeof__(&EVP_Digest) digest;
} crypto;

static const struct library_symbol symbols[] = {
	{ "EVP_sha256", &crypto.sha256 },
	{ "EVP_Digest", &crypto.digest },
	{ NULL, NULL },
};

static void hex_of(const unsigned char raw[SHA256_SIZE], char hex[65])
{
	for (unsigned i = 0; i < SHA256_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", raw[i]);
}

/* The examples for FIPS 180-4 that NIST publishes (SHA256.pdf), and the long
 * message of FIPS 180-2, appendix B.3. */
static void published_digests_hold(void **state)
{
	static const char *const cases[][2] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb924"
		      "27ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223"
			 "b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039"
		  "a33ce45964ff2167f6ecedd419db06c1" },
	};
	static const char million[] = "cdc76e5c9914fb9281a1c7e284d73e67"
				      "f1809a48a497200e046d39ccc7112cd0";
	unsigned char raw[SHA256_SIZE];
	struct digester *digester = digester_new();
	struct digest digest;
	struct sha256 sha;
	char hex[65];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		digest_bytes(cases[i][0], strlen(cases[i][0]), &digest);
		assert_string_equal(digest.hex, cases[i][1]);
	}
	sha256_init(&sha);
	for (unsigned i = 0; i < 100000; i++) {
		sha256_add(&sha, "aaaaaaaaaa", 10);
		digester_add(digester, "aaaaaaaaaa", 10);
	}
	sha256_end(&sha, raw);
	hex_of(raw, hex);
	assert_string_equal(hex, million);
	digester_end(digester, &digest);
	digester_free(digester);
	assert_string_equal(digest.hex, million);
}

/* Texts of all lengths around one, two and three blocks, cut in all places. */
static void it_agrees_with_libcrypto(void **state)
{
	unsigned char data[200], own[SHA256_SIZE], theirs[SHA256_SIZE];
	struct error err = { 0 };
	struct sha256 sha;

	(void)state;
	assert_int_equal(library_open("libcrypto.so.3", symbols, &err), 0);
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 37 + 11);
	for (size_t len = 0; len <= sizeof(data); len++) {
		assert_int_equal(crypto.digest(data, len, theirs, NULL,
					       crypto.sha256(), NULL),
				 1);
		for (size_t cut = 0; cut <= len; cut++) {
			sha256_init(&sha);
			sha256_add(&sha, data, cut);
			sha256_add(&sha, data + cut, len - cut);
			sha256_end(&sha, own);
			assert_memory_equal(own, theirs, sizeof(own));
		}
	}
}

/* From where libcrypto takes over, whether at once or with a later piece. */
static void long_data_has_the_same_digest(void **state)
{
	static const size_t sizes[] = { 262143, 262144, 262145, 1000000 };
	char *data = mem_alloc(1000000);
	unsigned char raw[SHA256_SIZE];
	struct digest digest;
	struct sha256 sha;
	char hex[65];

	(void)state;
	for (size_t i = 0; i < 1000000; i++)
		data[i] = (char)(i * i >> 3);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct digester *digester = digester_new();

		sha256_init(&sha);
		sha256_add(&sha, data, sizes[i]);
		sha256_end(&sha, raw);
		hex_of(raw, hex);
		digest_bytes(data, sizes[i], &digest);
		assert_string_equal(digest.hex, hex);
		digester_add(digester, data, 100);
		digester_add(digester, data + 100, sizes[i] - 200);
		digester_add(digester, data + sizes[i] - 100, 100);
		digester_end(digester, &digest);
		digester_free(digester);
		assert_string_equal(digest.hex, hex);
	}
	free(data);
}

/* RFC 4231, cases 1, 2 and 6: a key longer than a block is hashed first. */
static void published_keyed_digests_hold(void **state)
{
	static const struct {
		unsigned char byte; /* of the key, if it has no text */
		size_t size;
		const char *key, *text, *want;
	} cases[] = {
		{ 0x0b, 20, NULL, "Hi There",
		  "b0344c61d8db38535ca8afceaf0bf12b"
		  "881dc200c9833da726e9376c2e32cff7" },
		{ 0, 4, "Jefe", "what do ya want for nothing?",
		  "5bdcc146bf60754e6a042426089575c7"
		  "5a003f089d2739839dec58b964ec3843" },
		{ 0xaa, 131, NULL,
		  "Test Using Larger Than Block-Size Key - Hash Key First",
		  "60e431591ee0b67f0d8a26aacbf5b77f"
		  "8e0bc6213728c5140546040f0ee37f54" },
	};
	struct digest digest;
	char key[131];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		memset(key, cases[i].byte, sizeof(key));
		digest_keyed(cases[i].key ? cases[i].key : key, cases[i].size,
			     cases[i].text, &digest);
		assert_string_equal(digest.hex, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_digests_hold),
		cmocka_unit_test(it_agrees_with_libcrypto),
		cmocka_unit_test(long_data_has_the_same_digest),
		cmocka_unit_test(published_keyed_digests_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
