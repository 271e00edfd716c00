/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures that AWS publishes: the examples of "Signature Calculations for
 * the Authorization Header" and "Authenticating Requests: Using Query
 * Parameters" (Amazon S3 API reference), and two of the signing test suite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "core/base/alloc.h"
#include "providers/s3/sigv4.h"

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define WELCOME                                                                \
	"44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
#define HOST "host:examplebucket.s3.amazonaws.com"
#define DATE "x-amz-date:20130524T000000Z"

/* The key of AWS's examples; it is nobody's. */
static const struct sigv4_key key = {
	.id = "AKIAIOSFODNN7EXAMPLE",
	.secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
static const struct sigv4_scope scope = {
	.region = "us-east-1",
	.service = "s3",
	.time_ms = INT64_C(1369353600000), /* 2013-05-24 */
};

static const char *const get_headers[] = { HOST, "range:bytes=0-9",
					   "x-amz-content-sha256:" EMPTY, DATE,
					   NULL };
static const char *const put_headers[] = {
	"date:Fri, 24 May 2013 00:00:00 GMT",     HOST,
	"x-amz-content-sha256:" WELCOME,          DATE,
	"x-amz-storage-class:REDUCED_REDUNDANCY", NULL
};
static const char *const list_headers[] = { HOST, "x-amz-content-sha256:" EMPTY,
					    DATE, NULL };
static const char *const lifecycle[] = { "lifecycle", "", NULL };
static const char *const list[] = { "prefix", "J", "max-keys", "2", NULL };

static void published_signatures_of_s3_hold(void **state)
{
	static const struct {
		struct sigv4_request request;
		const char *want;
	} cases[] = {
		{ { "GET", "/test.txt", NULL, get_headers, EMPTY },
		  "f0e8bdb87c964420e857bd35b5d6ed31"
		  "0bd44f0170aba48dd91039c6036bdb41" },
		{ { "PUT", "/test$file.text", NULL, put_headers, WELCOME },
		  "98ad721746da40c64f1a55b78f14c238"
		  "d841ea1380cd77a1b5971af0ece108bd" },
		{ { "GET", "/", lifecycle, list_headers, EMPTY },
		  "fea454ca298b7da1c68078a5d1bdbfbb"
		  "e0d65c699e0f91ac7a200a0136783543" },
		{ { "GET", "/", list, list_headers, EMPTY },
		  "34b48302e7b5fa45bde8084f4b7868a8"
		  "6f0a534bc59db6670ed5711ef69dc6f7" },
	};
	char signature[SIGV4_SIGNATURE];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		sigv4_sign(&key, &scope, &cases[i].request, signature);
		assert_string_equal(signature, cases[i].want);
	}
}

static void the_published_url_is_signed_alike(void **state)
{
	static const char *const headers[] = { HOST, NULL };
	static const struct sigv4_request request = { "GET", "/test.txt", NULL,
						      headers,
						      "UNSIGNED-PAYLOAD" };
	struct buf out = { 0 };

	(void)state;
	sigv4_presign(&key, &scope, &request, 86400, &out);
	assert_string_equal(
		out.data,
		"/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
		"&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1"
		"%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z"
		"&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
		"&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835"
		"f995330da4c265957d157751f604d404");
	buf_done(&out);
}

/* get-vanilla and get-vanilla-query-order-key-case. */
static void the_signing_test_suite_holds(void **state)
{
	static const struct sigv4_key suite_key = {
		.id = "AKIDEXAMPLE",
		.secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
	};
	static const struct sigv4_scope suite = {
		.region = "us-east-1",
		.service = "service",
		.time_ms = INT64_C(1440938160000), /* 2015-08-30 12:36 */
	};
	static const char *const headers[] = { "host:example.amazonaws.com",
					       "x-amz-date:20150830T123600Z",
					       NULL };
	static const char *const query[] = { "Param2", "value2", "Param1",
					     "value1", NULL };
	struct sigv4_request request = { "GET", "/", NULL, headers, EMPTY };
	char signature[SIGV4_SIGNATURE];

	(void)state;
	sigv4_sign(&suite_key, &suite, &request, signature);
	assert_string_equal(signature, "5fa00fa31553b73ebf1942676e86291e"
				       "8372ff2a2260956d9b8aae1d763fbf31");
	request.query = query;
	sigv4_sign(&suite_key, &suite, &request, signature);
	assert_string_equal(signature, "b97d918cfa904a5beff61c982a1b6f45"
				       "8b799221646efd99d3219ec94cdf2500");
}

/* Pairs are in the order of their encoded names, of which one may begin with
 * another; only '/' stays in a path. */
static void paths_and_queries_are_canonical(void **state)
{
	static const char *const query[] = { "a1",  "x", "a", "\xc3\xa4 b/c",
					     "a-b", "",  NULL };
	static const struct sigv4_request request = {
		.path = "/b/a b+c=\xc3\xa4", .query = query
	};
	struct buf out = { 0 };

	(void)state;
	sigv4_encode(&request, &out);
	assert_string_equal(out.data, "/b/a%20b%2Bc%3D%C3%A4?"
				      "a=%C3%A4%20b%2Fc&a-b=&a1=x");
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_signatures_of_s3_hold),
		cmocka_unit_test(the_published_url_is_signed_alike),
		cmocka_unit_test(the_signing_test_suite_holds),
		cmocka_unit_test(paths_and_queries_are_canonical),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
