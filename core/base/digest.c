/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/digest.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/crc32c.h"
#include "core/base/library.h"
#include "core/base/sha256.h"

/* To load libcrypto takes as many instructions as to hash half a megabyte by
 * ourselves. */
#define SHORT_MAX 262144

static struct {
	__typeof__(&EVP_MD_CTX_new) ctx_new;
	__typeof__(&EVP_MD_CTX_free) ctx_free;
	__typeof__(&EVP_sha256) sha256;
	__typeof__(&EVP_sha1) sha1;
	__typeof__(&EVP_Digest) digest;
	__typeof__(&EVP_DigestInit_ex) init;
	__typeof__(&EVP_DigestUpdate) update;
	__typeof__(&EVP_DigestFinal_ex) final;
} crypto;

static const struct library_symbol symbols[] = {
	{ "EVP_MD_CTX_new", &crypto.ctx_new },
	{ "EVP_MD_CTX_free", &crypto.ctx_free },
	{ "EVP_sha256", &crypto.sha256 },
	{ "EVP_sha1", &crypto.sha1 },
	{ "EVP_Digest", &crypto.digest },
	{ "EVP_DigestInit_ex", &crypto.init },
	{ "EVP_DigestUpdate", &crypto.update },
	{ "EVP_DigestFinal_ex", &crypto.final },
	{ NULL, NULL },
};

/* Long data goes to libcrypto.  What comes first waits in `pending`, and short
 * data never leaves it. */
struct digester {
	struct buf pending;
	EVP_MD_CTX *ctx;   /* NULL while the data is short */
	struct sha256 own; /* instead of `ctx`, where there is no libcrypto */
	bool is_own;
};

struct digester *digester_new(void)
{
	return mem_alloc(sizeof(struct digester));
}

void digester_free(struct digester *digester)
{
	if (!digester)
		return;
	if (digester->ctx)
		crypto.ctx_free(digester->ctx);
	buf_done(&digester->pending);
	free(digester);
}

/* Returns new, or NULL if libcrypto does not serve. */
static EVP_MD_CTX *ctx_new(void)
{
	struct error ignored = { 0 };
	EVP_MD_CTX *ctx;

	if (library_open("libcrypto.so.3", symbols, &ignored) < 0)
		return NULL;
	ctx = crypto.ctx_new();
	if (ctx && crypto.init(ctx, crypto.sha256(), NULL) == 1)
		return ctx;
	crypto.ctx_free(ctx);
	return NULL;
}

static void add_long(struct digester *digester, const void *data, size_t len)
{
	if (digester->ctx)
		crypto.update(digester->ctx, data, len);
	else
		sha256_add(&digester->own, data, len);
}

/* The data is too long to wait: hands over what has. */
static void grow(struct digester *digester)
{
	digester->ctx = ctx_new();
	digester->is_own = !digester->ctx;
	sha256_init(&digester->own);
	add_long(digester, buf_text(&digester->pending), digester->pending.len);
	buf_done(&digester->pending);
}

void digester_add(struct digester *digester, const void *data, size_t len)
{
	bool is_short = !digester->ctx && !digester->is_own;

	if (is_short && len <= SHORT_MAX - digester->pending.len) {
		buf_add(&digester->pending, data, len);
		return;
	}
	if (is_short)
		grow(digester);
	add_long(digester, data, len);
}

void digester_add_text(struct digester *digester, const char *text)
{
	char len[24];
	size_t n = strlen(text);

	digester_add(digester, len,
		     (size_t)snprintf(len, sizeof(len), "%zu:", n));
	digester_add(digester, text, n);
}

int digester_add_file(struct digester *digester, int fd, const char *path,
		      uint64_t *bytes, uint32_t *crc32c, struct error *err)
{
	size_t size = 131072;
	char *chunk = mem_alloc(size);
	ssize_t n;

	for (;;) {
		n = read(fd, chunk, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		digester_add(digester, chunk, (size_t)n);
		if (bytes)
			*bytes += (uint64_t)n;
		if (crc32c)
			*crc32c = crc32c_add(*crc32c, chunk, (size_t)n);
	}
	if (n < 0)
		error_errno(err, "cannot read '%s'", path);
	free(chunk);
	return n < 0 ? -1 : 0;
}

static void set_hex(const unsigned char *raw, struct digest *out)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < SHA256_SIZE; i++) {
		out->hex[2 * i] = digits[raw[i] >> 4];
		out->hex[2 * i + 1] = digits[raw[i] & 15];
	}
	out->hex[2 * SHA256_SIZE] = '\0';
}

void digester_end(struct digester *digester, struct digest *out)
{
	unsigned char raw[SHA256_SIZE];
	unsigned len = 0;

	if (digester->ctx) {
		crypto.final(digester->ctx, raw, &len);
	} else if (digester->is_own) {
		sha256_end(&digester->own, raw);
	} else {
		sha256_init(&digester->own);
		sha256_add(&digester->own, buf_text(&digester->pending),
			   digester->pending.len);
		sha256_end(&digester->own, raw);
	}
	set_hex(raw, out);
}

void digest_bytes(const void *data, size_t len, struct digest *out)
{
	struct digester *digester = digester_new();

	digester_add(digester, data, len);
	digester_end(digester, out);
	digester_free(digester);
}

void digest_keyed(const void *key, size_t key_size, const char *text,
		  struct digest *out)
{
	unsigned char raw[SHA256_SIZE];

	sha256_keyed(key, key_size, text, strlen(text), raw);
	set_hex(raw, out);
}

int digest_sha1(const void *data, size_t len,
		unsigned char out[DIGEST_SHA1_SIZE], struct error *err)
{
	if (library_open("libcrypto.so.3", symbols, err) < 0)
		return -1;
	if (crypto.digest(data, len, out, NULL, crypto.sha1(), NULL) != 1)
		return error_set(err, ERROR_FAILED, "libcrypto refuses SHA-1");
	return 0;
}
