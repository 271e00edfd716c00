/* SPDX-License-Identifier: Apache-2.0 */
#include "core/task/task_secrets.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/json.h"

#define SECRETS_MAX ((size_t)64 << 20)

int task_secrets_read(const char *run, struct environment *env, bool *any,
		      struct error *err)
{
	char *path = path_join(run, TASK_SECRETS_FILE);
	json_t *values = NULL, *value;
	const char *name;
	size_t len;
	char *text = file_read(path, SECRETS_MAX, &len, err);

	if (text)
		values = json_read(text, len, path, err);
	json_object_foreach(values, name, value)
	{
		environment_set(env, name, json_string_value(value));
	}
	if (text)
		explicit_bzero(text, len);
	free(text);
	free(path);
	if (!values)
		return -1;
	*any = json_object_size(values) > 0;
	json_decref(values);
	return 0;
}

void task_secrets_remove(const char *run)
{
	char *path = path_join(run, TASK_SECRETS_FILE);

	unlink(path);
	free(path);
}
