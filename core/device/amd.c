/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AMD GPUs, as the kernel's driver shows them
 * (docs.kernel.org/gpu/amdgpu/driver-misc.html).  Does not look for the
 * processes that use them.
 */
#include "core/device/device_internal.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"

#define CARDS "%s/sys/class/drm/card*/device/mem_info_vram_total"
#define VENDOR_AMD "0x1002"

/* The first line of a file in the card's folder; NULL: there is none. */
static const char *line_of(const char *folder, const char *name,
			   struct arena *mem)
{
	char *path = mem_printf("%s/%s", folder, name), *text;
	const char *out = NULL;
	struct error ignored;
	size_t len;

	text = file_read(path, 4096, &len, &ignored);
	if (text) {
		text[strcspn(text, "\n")] = '\0';
		out = *text ? arena_strdup(mem, text) : NULL;
	}
	free(text);
	free(path);
	return out;
}

static uint64_t bytes_of(const char *folder, const char *name,
			 struct arena *mem)
{
	const char *text = line_of(folder, name, mem);

	return text ? strtoull(text, NULL, 10) : 0;
}

/* The card's folder is a link to that of its place on the bus. */
static const char *bus_of(const char *folder, struct arena *mem)
{
	char real[PATH_MAX];

	return realpath(folder, real) ? arena_strdup(mem, path_base(real))
				      : NULL;
}

static void look_at(const char *folder, struct device *one, struct arena *mem)
{
	const char *text = line_of(folder, "gpu_busy_percent", mem);
	const char *unique = line_of(folder, "unique_id", mem);
	char *pattern = mem_printf("%s/hwmon/hwmon*/temp1_input", folder);
	glob_t found;

	one->model = line_of(folder, "product_name", mem);
	if (!one->model)
		one->model = line_of(folder, "device", mem);
	one->memory_bytes = bytes_of(folder, "mem_info_vram_total", mem);
	one->memory_used_bytes = bytes_of(folder, "mem_info_vram_used", mem);
	if (text)
		one->use_percent = atoi(text);
	if (unique)
		one->uuid = arena_printf(mem, "GPU-%s", unique);
	if (glob(pattern, 0, NULL, &found) == 0) {
		char *above = path_folder(found.gl_pathv[0]);

		one->temperature_c =
			(int)(bytes_of(above, "temp1_input", mem) / 1000);
		free(above);
		globfree(&found);
	}
	free(pattern);
}

static int by_bus(const void *a, const void *b)
{
	const struct device *one = a, *two = b;

	return strcmp(one->bus ? one->bus : "", two->bus ? two->bus : "");
}

int device_amd(const char *root, struct devices *out, struct arena *mem)
{
	char *pattern = mem_printf(CARDS, root);
	size_t first = out->count, i;
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0) {
		free(pattern);
		return 0;
	}
	for (i = 0; i < found.gl_pathc; i++) {
		char *folder = path_folder(found.gl_pathv[i]);
		const char *vendor = line_of(folder, "vendor", mem);
		struct device *one = vendor && !strcmp(vendor, VENDOR_AMD)
					     ? device_add(out, "amd", 0)
					     : NULL;

		if (one) {
			one->bus = bus_of(folder, mem);
			look_at(folder, one, mem);
		}
		free(folder);
	}
	globfree(&found);
	free(pattern);
	device_amd_sort(out);
	if (out->count > first && !out->source)
		out->source = "/sys/class/drm";
	return out->count > first;
}

/* They stand behind those of other vendors. */
void device_amd_sort(struct devices *out)
{
	size_t first = 0, i;

	while (first < out->count &&
	       strcmp(out->items[first].vendor, "amd") != 0)
		first++;
	qsort(out->items + first, out->count - first, sizeof(*out->items),
	      by_bus);
	for (i = first; i < out->count; i++)
		out->items[i].index = (int)(i - first);
}
