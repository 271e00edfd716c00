/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/manifest/env.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/json.h"

/* Escapes a value: "$(" begins a reference to a variable, and "$$" gives
 * "$". */
json_t *env_text(const char *value)
{
	struct buf out = { 0 };
	json_t *text;

	for (; *value; value++) {
		if (value[0] == '$' && (value[1] == '(' || value[1] == '$'))
			buf_putc(&out, '$');
		buf_putc(&out, *value);
	}
	text = json_text(buf_text(&out));
	buf_done(&out);
	return text;
}

json_t *env_words(const struct strings *words)
{
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < words->count; i++)
		json_array_append_new(out, env_text(words->items[i]));
	return out;
}

void env_add_text(json_t *env, const char *name, const char *value)
{
	json_t *item = json_object();

	json_put_text(item, "name", name);
	json_put(item, "value", env_text(value));
	json_array_append_new(env, item);
}

void env_add_number(json_t *env, const char *name, size_t value)
{
	json_t *item = json_object();

	json_put_text(item, "name", name);
	json_put(item, "value", json_sprintf("%zu", value));
	json_array_append_new(env, item);
}

void env_add_secret(json_t *env, const char *name, const char *secret)
{
	json_t *item = json_object(), *key = json_object(), *source;

	json_put_text(key, "name", secret);
	json_put_text(key, "key", name);
	source = json_object();
	json_put(source, "secretKeyRef", key);
	json_put_text(item, "name", name);
	json_put(item, "valueFrom", source);
	json_array_append_new(env, item);
}

void env_add_index(json_t *env, const char *name)
{
	json_t *item = json_object(), *field = json_object(), *source;

	json_put_text(field, "fieldPath",
		      "metadata.annotations['batch.kubernetes.io/"
		      "job-completion-index']");
	source = json_object();
	json_put(source, "fieldRef", field);
	json_put_text(item, "name", name);
	json_put(item, "valueFrom", source);
	json_array_append_new(env, item);
}

bool env_given(const struct job *job, const char *name)
{
	size_t i;

	for (i = 0; i < job->jobrun.env.count; i++)
		if (!strcmp(job->jobrun.env.items[i].name, name))
			return true;
	return false;
}
