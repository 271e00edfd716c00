/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/operation.h"

#include <string.h>

#include "core/base/json.h"

void operation_read(enum google_service service, const json_t *body,
		    struct operation *out)
{
	const json_t *error = json_object_get(body, "error");

	*out = (struct operation){ 0 };
	if (service == SERVICE_COMPUTE) {
		out->done = !strcmp(json_get_text(body, "status", ""), "DONE");
		out->failed = out->done && error;
		if (out->failed)
			api_error_compute(body, &out->failure);
		return;
	}
	out->done = json_is_true(json_object_get(body, "done"));
	out->failed = out->done && error;
	if (out->failed)
		api_error_operation(error, &out->failure);
	else if (out->done)
		out->response = json_object_get(body, "response");
}

int operation_look(struct google *google, enum google_service service,
		   const char *region, const char *path,
		   struct api_answer *answer, struct operation *out,
		   struct error *err)
{
	const struct api_request request = {
		.service = service,
		.region = region,
		.method = "GET",
		.path = path,
	};

	if (api_call(google, &request, answer, err) < 0)
		return -1;
	operation_read(service, answer->body, out);
	return 0;
}
