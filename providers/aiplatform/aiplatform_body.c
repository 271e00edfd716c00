/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/aiplatform/aiplatform_body.h"

#include "core/base/json.h"
#include "providers/google/managed/managed.h"

static json_t *training_input(const struct job *job,
			      const struct strings *packages)
{
	json_t *out = message_json(job->training_message, &job->training_input,
				   MESSAGE_WIRE);

	if (!json_object_get(out, "scaleTier"))
		json_object_set_new(out, "scaleTier", json_string("BASIC"));
	if (packages)
		json_object_set_new(
			out, "packageUris",
			json_texts(packages->items, packages->count));
	return out;
}

json_t *ai_platform_body(const struct job *job, const char *name,
			 const struct strings *packages,
			 const struct pairs *labels)
{
	json_t *out = json_object();

	json_put_text(out, "jobId", name);
	managed_put_labels(job, labels, out);
	json_put(out, "trainingInput", training_input(job, packages));
	return out;
}
