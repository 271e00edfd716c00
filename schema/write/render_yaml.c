/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/write/render_yaml.h"

#include "core/base/json.h"
#include "schema/write/yaml_write.h"

static bool has_required(const struct message *message)
{
	const struct field *field;

	for (field = message->fields; field->name; field++)
		if (field->flags & FIELD_REQUIRED)
			return true;
	return false;
}

/*
 * Removes messages that were not given: their defaults alone would make an
 * incomplete message.
 */
static void drop_absent(const struct message *message, const void *data,
			json_t *value)
{
	const struct message_head *head = data;
	const struct field *field;

	for (field = message->fields; field->name; field++) {
		bool set = head->set >> (field - message->fields) & 1;
		json_t *below = json_object_get(value, field->name);

		if (!below || field->type != FIELD_MESSAGE)
			continue;
		if (!set && (field->flags & FIELD_PRESENCE ||
			     has_required(field->message)))
			json_object_del(value, field->name);
		else
			drop_absent(field->message,
				    (const char *)data + field->offset, below);
	}
}

/* Removes a default if its field was not given. */
static void drop_default(const struct job *job, json_t *value, const char *name)
{
	if (!message_has(job->training_message, &job->training_input, name))
		json_object_del(value, name);
}

/*
 * Removes defaults that contradict the file.  A fragment that names machines
 * had the tier and the counts from flags; BASIC and 0 are defaults and would
 * contradict the machines.
 */
static void drop_contradictions(const struct job *job, json_t *value)
{
	const struct training_input *in = &job->training_input;
	json_t *input = json_object_get(value, "trainingInput");

	if (in->worker_type)
		drop_default(job, input, "workerCount");
	if (in->parameter_server_type)
		drop_default(job, input, "parameterServerCount");
	if (in->evaluator_type)
		drop_default(job, input, "evaluatorCount");
	if (in->master_type || in->worker_type || in->parameter_server_type ||
	    in->evaluator_type || in->worker_count ||
	    in->parameter_server_count || in->evaluator_count)
		drop_default(job, input, "scaleTier");
}

int render_yaml(const struct job *job, struct buf *out, struct error *err)
{
	json_t *value = json_object();
	json_t *fields = job_json(job, MESSAGE_DEFAULTS);
	json_t *jobrun = json_object_get(fields, "jobrun");
	size_t i;
	int ret;

	/* A jobId made from the name of the file is written, too. */
	json_put_text(value, "jobId", job->job_id);
	json_object_del(fields, "jobId");
	json_object_update(value, fields);
	json_decref(fields);
	drop_absent(job->message, job, value);
	drop_contradictions(job, value);
	for (i = 0; i < job->jobrun.block_count; i++) {
		const struct job_block *block = &job->jobrun.blocks[i];

		drop_absent(block->message, block->data,
			    json_object_get(jobrun, block->name));
	}
	ret = yaml_write(value, out, err);
	json_decref(value);
	return ret;
}
