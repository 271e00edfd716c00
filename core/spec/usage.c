/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/usage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/json.h"

#define USAGE_MAX 4096

bool usage_is_known(const struct usage *usage)
{
	return usage->cpu_ms || usage->allocated_cpu_ms || usage->memory_bytes;
}

int usage_write(const char *folder, const struct usage *usage,
		struct error *err)
{
	char *path = path_join(folder, "usage.json");
	json_t *value = json_object();
	char *text;
	int ret;

	json_put_int(value, "cpuMs", usage->cpu_ms);
	json_put_int(value, "allocatedCpuMs", usage->allocated_cpu_ms);
	json_put_int(value, "memoryBytes", (long long)usage->memory_bytes);
	text = json_canonical(value);
	ret = file_write(path, text, strlen(text), err);
	free(text);
	json_decref(value);
	free(path);
	return ret;
}

int usage_read(const char *folder, struct usage *out, struct error *err)
{
	char *path = path_join(folder, "usage.json");
	json_t *value = NULL;
	char *text = NULL;
	size_t len;
	int ret = 1;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		goto out;
	text = file_read(path, USAGE_MAX, &len, err);
	value = text ? json_read(text, len, path, err) : NULL;
	ret = value ? 0 : -1;
	if (ret == 0)
		*out = (struct usage){
			.cpu_ms = json_get_int(value, "cpuMs", 0),
			.allocated_cpu_ms =
				json_get_int(value, "allocatedCpuMs", 0),
			.memory_bytes =
				(uint64_t)json_get_int(value, "memoryBytes", 0),
		};
out:
	json_decref(value);
	free(text);
	free(path);
	return ret;
}
