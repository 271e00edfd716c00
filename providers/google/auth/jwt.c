/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/auth/jwt.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base64.h"
#include "core/base/library.h"

/* The size of a signature: OpenSSL limits RSA keys to 16384 bits. */
#define SIGNATURE_MAX 2048

static struct {
	__typeof__(&BIO_new_mem_buf) bio_new;
	__typeof__(&BIO_free) bio_free;
	__typeof__(&PEM_read_bio_PrivateKey) read_key;
	__typeof__(&EVP_PKEY_free) key_free;
	__typeof__(&EVP_PKEY_get_base_id) key_id;
	__typeof__(&EVP_MD_CTX_new) ctx_new;
	__typeof__(&EVP_MD_CTX_free) ctx_free;
	__typeof__(&EVP_sha256) sha256;
	__typeof__(&EVP_DigestSignInit) init;
	__typeof__(&EVP_DigestSign) sign;
	__typeof__(&ERR_clear_error) clear_error;
} crypto;

static const struct library_symbol symbols[] = {
	{ "BIO_new_mem_buf", &crypto.bio_new },
	{ "BIO_free", &crypto.bio_free },
	{ "PEM_read_bio_PrivateKey", &crypto.read_key },
	{ "EVP_PKEY_free", &crypto.key_free },
	{ "EVP_PKEY_get_base_id", &crypto.key_id },
	{ "EVP_MD_CTX_new", &crypto.ctx_new },
	{ "EVP_MD_CTX_free", &crypto.ctx_free },
	{ "EVP_sha256", &crypto.sha256 },
	{ "EVP_DigestSignInit", &crypto.init },
	{ "EVP_DigestSign", &crypto.sign },
	{ "ERR_clear_error", &crypto.clear_error },
	{ NULL, NULL },
};

/* Refuses to ask for a password, as OpenSSL would on the terminal. */
static int no_password(char *out, int size, int writing, void *arg)
{
	(void)out;
	(void)size;
	(void)writing;
	(void)arg;
	return -1;
}

static EVP_PKEY *read_key(const char *pem)
{
	BIO *bio = crypto.bio_new(pem, (int)strlen(pem));
	EVP_PKEY *key = NULL;

	if (bio)
		key = crypto.read_key(bio, NULL, no_password, NULL);
	crypto.bio_free(bio);
	/* OpenSSL's messages may contain pieces of the key. */
	crypto.clear_error();
	if (key && crypto.key_id(key) != EVP_PKEY_RSA) {
		crypto.key_free(key);
		return NULL;
	}
	return key;
}

static void add_part(struct buf *out, const json_t *part)
{
	char *text = json_dumps(part, JSON_COMPACT);

	base64_url_add(out, text, strlen(text));
	free(text);
}

int jwt_sign(const json_t *header, const json_t *claims, const char *pem,
	     struct buf *out, struct error *err)
{
	unsigned char signature[SIGNATURE_MAX];
	size_t len = sizeof(signature), start = out->len;
	EVP_MD_CTX *ctx = NULL;
	EVP_PKEY *key;
	int ret = -1;

	if (library_open("libcrypto.so.3", symbols, err) < 0)
		return -1;
	key = read_key(pem);
	if (!key)
		return error_set(err, ERROR_DENIED,
				 "the private key is not an RSA key in PEM");
	add_part(out, header);
	buf_putc(out, '.');
	add_part(out, claims);
	ctx = crypto.ctx_new();
	if (!ctx || crypto.init(ctx, NULL, crypto.sha256(), NULL, key) != 1 ||
	    crypto.sign(ctx, signature, &len,
			(const unsigned char *)out->data + start,
			out->len - start) != 1) {
		error_set(err, ERROR_FAILED,
			  "libcrypto cannot sign with the private key");
		goto out;
	}
	buf_putc(out, '.');
	base64_url_add(out, signature, len);
	ret = 0;
out:
	crypto.ctx_free(ctx);
	crypto.key_free(key);
	return ret;
}
