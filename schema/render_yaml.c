/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/render_yaml.h"

#include <string.h>

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

/* The blocks of providers: all that were given, and that of the job's. */
static void put_blocks(const struct job *job,
		       const struct provider *const *providers, json_t *value)
{
	json_t *jobrun = json_object_get(value, "jobrun");
	size_t i;

	for (i = 0; providers[i]; i++) {
		const struct message_head *block = job_block(job, i);
		json_t *one;

		if (!block || !providers[i]->block)
			continue;
		if (!block->set &&
		    strcmp(job->jobrun.provider, providers[i]->name) != 0)
			continue;
		one = message_json(providers[i]->block, block,
				   MESSAGE_DEFAULTS);
		drop_absent(providers[i]->block, block, one);
		if (json_object_size(one))
			json_put(jobrun, providers[i]->name, one);
		else
			json_decref(one);
	}
}

int render_yaml(const struct job *job, const struct provider *const *providers,
		struct buf *out, struct error *err)
{
	json_t *value = json_object();
	json_t *fields = message_json(job->message, job, MESSAGE_DEFAULTS);
	int ret;

	/* One that was made from the name of the file is part of it too. */
	json_put_text(value, "jobId", job->job_id);
	json_object_del(fields, "jobId");
	json_object_update(value, fields);
	json_decref(fields);
	drop_absent(job->message, job, value);
	put_blocks(job, providers, value);
	ret = yaml_write(value, out, err);
	json_decref(value);
	return ret;
}
