/* SPDX-License-Identifier: Apache-2.0 */
#include "core/device/device.h"

#include <glob.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/device/device_internal.h"

#define NVIDIA "/proc/driver/nvidia/gpus/*"
#define AMD "/sys/class/drm/card*/device/mem_info_vram_total"

struct device *device_add(struct devices *all, const char *vendor, int index)
{
	struct device *one = &all->items[all->count];

	if (all->count == DEVICES_MAX)
		return NULL;
	all->count++;
	*one = (struct device){ .vendor = vendor,
				.index = index,
				.use_percent = -1,
				.temperature_c = -1 };
	return one;
}

const char *device_bus(const char *id, struct arena *mem)
{
	char *out = arena_strdup(mem, strlen(id) == 16 ? id + 4 : id), *at;

	for (at = out; *at; at++)
		if (*at >= 'A' && *at <= 'F')
			*at = (char)(*at - 'A' + 'a');
	return out;
}

/* In another container's PID namespace its number means nothing here. */
void device_add_holder(struct device *one, pid_t pid, struct arena *mem)
{
	struct device_holder *holder = &one->holders[one->holder_count];
	char path[64], *text;
	const struct passwd *user;
	struct error ignored;
	struct stat st;
	size_t len;

	if (one->holder_count == DEVICE_HOLDERS_MAX)
		return;
	one->holder_count++;
	*holder = (struct device_holder){ .pid = pid };
	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
	if (stat(path, &st) < 0)
		return;
	user = getpwuid(st.st_uid);
	holder->user = user ? arena_strdup(mem, user->pw_name)
			    : arena_printf(mem, "%ld", (long)st.st_uid);
	text = file_read(path, 256, &len, &ignored);
	if (!text)
		return;
	text[strcspn(text, "\n")] = '\0';
	text_make_printable(text);
	holder->program = arena_strdup(mem, text);
	free(text);
}

static bool is_there(const char *root, const char *pattern)
{
	char *path = mem_printf("%s%s", root, pattern);
	glob_t found;
	bool any = glob(path, GLOB_NOSORT, NULL, &found) == 0;

	if (any)
		globfree(&found);
	free(path);
	return any;
}

bool devices_any(const char *root)
{
	return is_there(root, NVIDIA) || is_there(root, AMD);
}

/* Without a driver amd-smi has nothing to tell, and takes long to say so. */
static int find_amd(const char *root, struct devices *out, struct arena *mem,
		    struct error *err)
{
	bool only = !out->source;
	int told = device_amd(root, out, mem) > 0
			   ? device_amd_smi(out, mem, err)
			   : 0;

	if (told > 0 && only)
		out->source = "amd-smi";
	device_amd_sort(root, out, mem);
	return told;
}

struct devices *devices_find(const char *root, struct arena *mem,
			     struct error *err)
{
	struct devices *out = arena_alloc(mem, sizeof(*out));
	struct error why = { 0 };
	int ret = device_nvml(out, mem, &why);

	/* A vendor's program may explain the failure, or succeed where the
	 * library fails. */
	if (ret <= 0) {
		int told = device_nvidia_smi(out, mem, &why);

		ret = told ? told : ret;
	}
	if (ret <= 0 && device_proc_nvidia(root, out, mem) > 0)
		ret = 1;
	if (ret < 0) {
		*err = why;
		return NULL;
	}
	if (find_amd(root, out, mem, err) < 0)
		return NULL;
	return out;
}

struct devices *devices_seen(const char *root, struct arena *mem)
{
	struct devices *out = arena_alloc(mem, sizeof(*out));

	device_proc_nvidia(root, out, mem);
	device_amd(root, out, mem);
	device_amd_sort(root, out, mem);
	return out;
}
