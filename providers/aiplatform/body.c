/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/aiplatform/body.h"

#include "core/base/json.h"

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

static json_t *all_labels(const struct job *job, const struct pairs *more)
{
	json_t *out = json_object();
	size_t i;

	for (i = 0; i < job->labels.count; i++)
		json_object_set_new(out, job->labels.items[i].name,
				    json_text(job->labels.items[i].value));
	for (i = 0; more && i < more->count; i++)
		json_object_set_new(out, more->items[i].name,
				    json_text(more->items[i].value));
	return out;
}

json_t *ai_platform_body(const struct job *job, const char *name,
			 const struct strings *packages,
			 const struct pairs *labels)
{
	json_t *out = json_object();
	json_t *part = all_labels(job, labels);

	json_put_text(out, "jobId", name);
	if (json_object_size(part))
		json_put(out, "labels", part);
	else
		json_decref(part);
	json_put(out, "trainingInput", training_input(job, packages));
	return out;
}
