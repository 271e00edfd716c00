/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/base/metadata.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/net/url.h"

/* The product name in the firmware.  google-auth looks there last; we do
 * first. */
#define PRODUCT_NAME "/sys/class/dmi/id/product_name"
#define ADDRESS "169.254.169.254"
#define HOST "metadata.google.internal"
#define VALUE_MAX (1u << 20)

static const char *const flavor[] = { "Metadata-Flavor: Google", NULL };

static const struct retry_policy one_try = { 0 };
/* A machine that has just started may be up before its metadata server. */
static const struct retry_policy patient = {
	.first_ms = 500,
	.max_ms = 4000,
	.total_ms = 15000,
};

static const char *setting(const char *name, const char *fallback)
{
	const char *value = getenv(name);

	return value && *value ? value : fallback;
}

static long number(const char *name, long fallback)
{
	const char *value = getenv(name);
	struct error err;
	long n;

	return value && number_parse(value, 1, 3600, &n, &err) == 0 ? n
								    : fallback;
}

static bool has_flavor(const struct http_response *answer)
{
	char *value = http_response_header(answer, "metadata-flavor");
	bool has = value && !strcmp(value, "Google");

	free(value);
	return has;
}

bool metadata_is_likely(void)
{
	static const char *const names[] = { "GCE_METADATA_HOST",
					     "GCE_METADATA_ROOT",
					     "GCE_METADATA_IP" };
	struct error ignored;
	char *product;
	bool google;
	size_t i, len;

	for (i = 0; i < COUNT(names); i++)
		if (getenv(names[i]))
			return true;
	product = file_read(PRODUCT_NAME, 4096, &len, &ignored);
	google = product && text_starts(product, "Google");
	free(product);
	return google;
}

bool metadata_detect(struct http *http)
{
	const char *check = getenv("NO_GCE_CHECK");
	const char *host = setting("GCE_METADATA_IP",
				   setting("GCE_METADATA_HOST", ADDRESS));
	char *url = mem_printf("http://%s/", host);
	const struct http_request request = {
		.method = "GET",
		.url = url,
		.headers = flavor,
		.flags = HTTP_REPEATABLE | HTTP_PLAIN,
		.connect_timeout_ms = number("GCE_METADATA_TIMEOUT", 3) * 1000,
		.total_timeout_ms = number("GCE_METADATA_TIMEOUT", 3) * 1000,
		.retry = &one_try,
		.answer_max = VALUE_MAX,
	};
	long tries = number("GCE_METADATA_DETECT_RETRIES", 3);
	struct http_response answer = { 0 };
	struct error err;
	bool found = false;

	if (check && !strcasecmp(check, "true"))
		tries = 0;
	while (tries-- > 0 && !found) {
		int64_t begun = time_monotonic_ms();

		if (http_do(http, &request, &answer, &err) == 0)
			found = has_flavor(&answer);
		/* The answer came at once, as a refusal or from another server,
		 * and would be the same again. */
		if (time_monotonic_ms() - begun < 1000)
			break;
	}
	http_response_done(&answer);
	free(url);
	return found;
}

/* Sends a request.  `query` is already encoded, or NULL. */
static int ask(struct http *http, const char *path, const char *query,
	       unsigned flags, struct http_response *out, struct error *err)
{
	const char *host = setting("GCE_METADATA_HOST",
				   setting("GCE_METADATA_ROOT", HOST));
	char *url = mem_printf("http://%s/computeMetadata/v1/%s%s%s", host,
			       path, query ? "?" : "", query ? query : "");
	const struct http_request request = {
		.method = "GET",
		.url = url,
		.headers = flavor,
		.flags = HTTP_REPEATABLE | HTTP_PLAIN | flags,
		.connect_timeout_ms = 3000,
		.total_timeout_ms = 30000,
		.retry = &patient,
		.answer_max = flags & HTTP_SECRET ? 0 : VALUE_MAX,
	};
	int ret = http_do(http, &request, out, err);

	free(url);
	if (ret < 0)
		return -1;
	if (!has_flavor(out))
		return error_set(err, ERROR_FAILED,
				 "'%s' is not Google's metadata server: its "
				 "answer has no Metadata-Flavor",
				 host);
	if (retry_status(out->status) != RETRY_NEVER)
		return error_set(err, ERROR_UNREACHABLE,
				 "the metadata server is in trouble: status "
				 "%ld",
				 out->status);
	return 0;
}

int metadata_get(struct http *http, const char *path, struct arena *mem,
		 const char **out, struct error *err)
{
	struct http_response answer = { 0 };
	int ret = ask(http, path, NULL, 0, &answer, err);

	if (ret == 0 && answer.status == 200)
		*out = arena_strndup(mem, buf_text(&answer.body),
				     answer.body.len);
	else if (ret == 0 && answer.status == 404)
		*out = NULL;
	else if (ret == 0)
		ret = error_set(err, ERROR_FAILED,
				"the metadata server refuses '%s': status %ld",
				path, answer.status);
	http_response_done(&answer);
	return ret;
}

int metadata_token(struct http *http, const char *scopes,
		   struct http_response *out, struct error *err)
{
	struct buf query = { 0 };
	int ret;

	url_add_pair(&query, "scopes", scopes);
	ret = ask(http, "instance/service-accounts/default/token", query.data,
		  HTTP_SECRET, out, err);
	buf_done(&query);
	if (ret == 0 && out->status == 404)
		return error_set(err, ERROR_DENIED,
				 "this machine has no service account: "
				 "recreate it with one, or set "
				 "GOOGLE_APPLICATION_CREDENTIALS to a "
				 "credential file");
	if (ret == 0 && out->status != 200)
		return error_set(err, ERROR_DENIED,
				 "the metadata server gives no token: status "
				 "%ld",
				 out->status);
	return ret;
}
