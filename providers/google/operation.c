/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/operation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/json.h"

/* Pauses between looks grow as gcloud's do. */
#define FIRST_LOOK_MS 1000
#define LAST_LOOK_MS 10000

long operation_first_look_ms(void)
{
	const char *text = getenv("JOBRUN_LOOK_MS");
	long ms = text ? strtol(text, NULL, 10) : 0;

	return ms > 0 ? ms : FIRST_LOOK_MS;
}

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

int operation_wait(struct google *google, enum google_service service,
		   const char *region, const char *version,
		   struct api_answer *answer, int patience_s, struct error *err)
{
	int64_t until_ms = time_now_ms() + patience_s * INT64_C(1000);
	unsigned pause_ms = (unsigned)operation_first_look_ms();
	char *path = mem_printf("%s%s", version,
				json_get_text(answer->body, "name", ""));
	struct operation operation;
	int ret = 0;

	operation_read(service, answer->body, &operation);
	while (ret == 0 && !operation.done) {
		if (time_now_ms() >= until_ms) {
			ret = error_set(err, ERROR_TRY_AGAIN,
					"'%s' is not done after %d s", path,
					patience_s);
			break;
		}
		usleep(pause_ms * 1000);
		pause_ms *= 2;
		if (pause_ms > LAST_LOOK_MS)
			pause_ms = LAST_LOOK_MS;
		ret = operation_look(google, service, region, path, answer,
				     &operation, err);
	}
	if (ret == 0 && operation.failed) {
		*err = operation.failure;
		ret = -1;
	}
	free(path);
	return ret;
}
