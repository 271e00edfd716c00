/* SPDX-License-Identifier: Apache-2.0 */
/* Acting as a service account, with credentials of another kind. */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/net/http_internal.h"
#include "providers/google/auth/credentials.h"
#include "providers/google/auth/credentials_kind.h"

#define LIFETIME_S 3600

struct impersonated {
	char *url;
	json_t *delegates; /* or NULL */
	const struct credential_kind *source;
	void *source_data;
};

static void free_impersonated(void *data)
{
	struct impersonated *one = data;

	if (!one)
		return;
	free(one->url);
	json_decref(one->delegates);
	if (one->source_data)
		one->source->free(one->source_data);
	free(one);
}

static void *read_impersonated(const json_t *file, const char *name,
			       struct error *err)
{
	const json_t *source = json_object_get(file, "source_credentials");
	const char *type = json_get_text(source, "type", "");
	struct impersonated *one = mem_alloc(sizeof(*one));

	one->url = credential_text(file, "service_account_impersonation_url",
				   name, err);
	one->delegates = json_incref(json_object_get(file, "delegates"));
	if (!one->url)
		goto fail;
	/* An impersonated source could go on without end. */
	if (!strcmp(type, credentials_impersonated.type)) {
		error_set(err, ERROR_DENIED,
			  "'%s': the source of impersonation is impersonated "
			  "itself; name those between in 'delegates'",
			  name);
		goto fail;
	}
	one->source = credential_kind_find(type, name, err);
	if (one->source)
		one->source_data = one->source->read(source, name, err);
	if (!one->source_data)
		goto fail;
	return one;
fail:
	free_impersonated(one);
	return NULL;
}

static int fetch(void *data, struct http *http, struct token *out,
		 struct error *err)
{
	const struct impersonated *one = data;
	struct token caller = { 0 };
	int ret = one->source->fetch(one->source_data, http, &caller, err);

	if (ret == 0)
		ret = token_impersonate(http, one->url, &caller, one->delegates,
					LIFETIME_S, out, err);
	secret_done(&caller.text);
	return ret;
}

static void describe(const void *data, struct buf *out)
{
	const struct impersonated *one = data;

	one->source->describe(one->source_data, out);
	buf_puts(out, ", as ");
	credential_describe_target(one->url, out);
}

const struct credential_kind credentials_impersonated = {
	.type = "impersonated_service_account",
	.read = read_impersonated,
	.free = free_impersonated,
	.fetch = fetch,
	.describe = describe,
};
