/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/render_yaml.h"

#include "core/base/json.h"
#include "schema/tables.h"
#include "schema/yaml_write.h"

static bool has_required(const struct message *message)
{
	const struct field *field;

	for (field = message->fields; field->name; field++)
		if (field->flags & FIELD_REQUIRED)
			return true;
	return false;
}

/*
 * Takes out messages that were not given: their defaults alone would say
 * that there is one, and not be enough of it.
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
		if (!set && has_required(field->message))
			json_object_del(value, field->name);
		else
			drop_absent(field->message,
				    (const char *)data + field->offset, below);
	}
}

int render_yaml(const struct job *job, struct buf *out, struct error *err)
{
	json_t *value = json_object();
	json_t *fields = job_json(job, MESSAGE_DEFAULTS);
	json_t *jobrun = json_object_get(fields, "jobrun");
	size_t i;
	int ret;

	/* One that was made from the name of the file is part of it too. */
	json_put_text(value, "jobId", job->job_id);
	json_object_del(fields, "jobId");
	json_object_update(value, fields);
	json_decref(fields);
	drop_absent(job->message, job, value);
	for (i = 0; i < job->jobrun.block_count; i++) {
		const struct job_block *block = &job->jobrun.blocks[i];

		drop_absent(block->message, block->data,
			    json_object_get(jobrun, block->name));
	}
	ret = yaml_write(value, out, err);
	json_decref(value);
	return ret;
}
