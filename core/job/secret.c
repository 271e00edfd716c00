/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/secret.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/beneath.h"
#include "core/base/json.h"

#define SECRET_MAX (1 << 20)

static char *from_variable(const struct secret_source *from, struct error *err)
{
	const char *value = getenv(from->env);

	if (value)
		return mem_strdup(value);
	error_set(err, ERROR_FAILED,
		  "secret '%s': the variable '%s' is not set", from->name,
		  from->env);
	return NULL;
}

char *secret_value(const struct secret_source *from, struct error *err)
{
	char *text;
	size_t len;

	if (from->env)
		return from_variable(from, err);
	text = beneath_read(from->root, from->file, SECRET_MAX, &len, err);
	if (!text) {
		error_prefix(err, "secret '%s'", from->name);
		return NULL;
	}
	if (strlen(text) != len) {
		explicit_bzero(text, len);
		free(text);
		error_set(err, ERROR_FAILED,
			  "secret '%s': '%s' holds a zero byte, which no "
			  "variable can",
			  from->name, from->file);
		return NULL;
	}
	/* Editors end a file with a newline that is not part of the secret. */
	while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		text[--len] = '\0';
	return text;
}

static struct secret_source find_source(const struct job *job, const char *name)
{
	const struct secret *secrets = job->jobrun.secrets.items;
	struct secret_source from = { 0 };
	size_t i;

	for (i = 0; i < job->jobrun.secrets.count; i++)
		if (!strcmp(secrets[i].name, name))
			from = (struct secret_source){
				.name = name,
				.env = secrets[i].env,
				.file = secrets[i].file,
			};
	return from;
}

bool job_secret_is_file(const struct job *job, const char *name)
{
	return find_source(job, name).file;
}

json_t *job_secret(const struct job *job, const char *name, struct error *err)
{
	struct secret_source from = find_source(job, name);
	json_t *out;
	char *value;

	if (!from.name) {
		error_set(err, ERROR_INVALID,
			  "jobrun.secrets has no secret '%s'", name);
		return NULL;
	}
	if (from.file) {
		from.file = job_path(job, from.file);
		from.root = job_root(job, from.file);
	}
	value = secret_value(&from, err);
	if (!value)
		return NULL;
	out = json_text(value);
	explicit_bzero(value, strlen(value));
	free(value);
	return out;
}
