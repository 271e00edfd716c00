/* SPDX-License-Identifier: Apache-2.0 */
/* The service account of the machine we run on. */
#include "providers/google/auth/credentials_kind.h"
#include "providers/google/base/metadata.h"

static int fetch(void *data, struct http *http, struct token *out,
		 struct error *err)
{
	struct http_response answer = { 0 };
	int ret = metadata_token(http, CREDENTIALS_SCOPE, &answer, err);

	(void)data;
	if (ret == 0)
		ret = token_read(&answer, "the metadata server", out, err);
	http_response_done(&answer);
	return ret;
}

static void describe(const void *data, struct buf *out)
{
	(void)data;
	buf_puts(out, "this machine's service account");
}

const struct credential_kind credentials_metadata = {
	.fetch = fetch,
	.describe = describe,
};
