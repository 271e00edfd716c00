/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/usage.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/job/message.h"

#define USAGE_MAX 4096

static const struct field fields[] = {
	{ FIELD_PLAIN(usage, "cpuMs", FIELD_INT, cpu_ms) },
	{ FIELD_PLAIN(usage, "allocatedCpuMs", FIELD_INT, allocated_cpu_ms) },
	{ FIELD_PLAIN(usage, "memoryBytes", FIELD_INT, memory_bytes) },
	{ .name = NULL },
};

static const struct message usage_message = {
	.name = "usage",
	.size = sizeof(struct usage),
	.fields = fields,
};

bool usage_is_known(const struct usage *usage)
{
	return usage->cpu_ms || usage->allocated_cpu_ms || usage->memory_bytes;
}

int usage_write(const char *folder, const struct usage *usage,
		struct error *err)
{
	char *path = path_join(folder, "usage.json");
	json_t *value = message_json(&usage_message, usage, MESSAGE_PLAIN);
	int ret = json_file_write(path, value, err);

	json_decref(value);
	free(path);
	return ret;
}

int usage_read(const char *folder, struct usage *out, struct error *err)
{
	char *path = path_join(folder, "usage.json");
	struct usage usage = { 0 };
	json_t *value;
	int ret = json_file_read(path, USAGE_MAX, &value, err);

	if (ret == 0 &&
	    message_read(&usage_message, value, NULL, &usage, err) < 0)
		ret = error_prefix(err, "'%s'", path);
	if (ret == 0)
		*out = usage;
	json_decref(value);
	free(path);
	return ret;
}
