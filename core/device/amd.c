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

/* ---- their order ------------------------------------------------------- */

/*
 * A GPU as KFD, the kernel's driver of compute, counts it: ROCm takes the
 * numbers of ROCR_VISIBLE_DEVICES in this order.  The files are those of
 * drivers/gpu/drm/amd/amdkfd/kfd_topology.c: `gpu_id` is 0 for processors,
 * `location_id` has bus, device and function in its lower half, and the number
 * of a partition in its highest bits.
 */
struct kfd_node {
	long number;
	char bus[24];
};

#define KFD_NODES "%s/sys/class/kfd/kfd/topology/nodes/*/properties"
#define PROPERTIES_MAX 16384

/* A line of the file is "location_id 9984"; 0 if there is none. */
static unsigned long property(const char *text, const char *name)
{
	size_t len = strlen(name);

	while (text && (strncmp(text, name, len) != 0 || text[len] != ' ')) {
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return text ? strtoul(text + len, NULL, 10) : 0;
}

/* Returns whether the node is a GPU. */
static bool read_node(const char *path, struct kfd_node *out, struct arena *mem)
{
	char *folder = path_folder(path);
	const char *id = line_of(folder, "gpu_id", mem);
	struct error ignored;
	unsigned long at;
	size_t len;
	char *text = id && strcmp(id, "0") != 0
			     ? file_read(path, PROPERTIES_MAX, &len, &ignored)
			     : NULL;

	if (text) {
		at = property(text, "location_id");
		out->number = strtol(path_base(folder), NULL, 10);
		snprintf(out->bus, sizeof(out->bus), "%04lx:%02lx:%02lx.%lx",
			 property(text, "domain"), at >> 8 & 0xff,
			 at >> 3 & 0x1f, at & 7);
	}
	free(folder);
	free(text);
	return text;
}

static int by_number(const void *a, const void *b)
{
	const struct kfd_node *one = a, *two = b;

	return (one->number > two->number) - (one->number < two->number);
}

/* Returns the GPUs in KFD's order; there are none where it is not loaded. */
static size_t read_nodes(const char *root, struct kfd_node *out,
			 struct arena *mem)
{
	char *pattern = mem_printf(KFD_NODES, root);
	size_t count = 0, i;
	glob_t found;

	if (glob(pattern, 0, NULL, &found) == 0) {
		for (i = 0; i < found.gl_pathc && count < DEVICES_MAX; i++)
			count += read_node(found.gl_pathv[i], &out[count], mem);
		globfree(&found);
	}
	free(pattern);
	qsort(out, count, sizeof(*out), by_number);
	return count;
}

/* Finds the device's place in this order, or `count`.  The partitions of a GPU
 * have its place on the bus: the nth of them has "/n" behind it. */
static size_t place_in(const struct kfd_node *nodes, size_t count,
		       const char *bus)
{
	size_t len = bus ? strcspn(bus, "/") : 0, i;
	long nth = bus && bus[len] ? strtol(bus + len + 1, NULL, 10) : 0;

	for (i = 0; i < count; i++)
		if (len && strlen(nodes[i].bus) == len &&
		    !strncmp(nodes[i].bus, bus, len) && nth-- == 0)
			break;
	return i;
}

static int by_place(const void *a, const void *b)
{
	const struct device *one = a, *two = b;

	if (one->index != two->index)
		return one->index < two->index ? -1 : 1;
	return strcmp(one->bus ? one->bus : "", two->bus ? two->bus : "");
}

/* ---- all of them -------------------------------------------------------- */

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
	if (out->count > first && !out->source)
		out->source = "/sys/class/drm";
	return out->count > first;
}

/* They stand behind those of other vendors. */
void device_amd_sort(const char *root, struct devices *out, struct arena *mem)
{
	struct kfd_node *nodes = mem_alloc(DEVICES_MAX * sizeof(*nodes));
	size_t count = read_nodes(root, nodes, mem), first = 0, i;

	while (first < out->count &&
	       strcmp(out->items[first].vendor, "amd") != 0)
		first++;
	for (i = first; i < out->count; i++)
		out->items[i].index =
			(int)place_in(nodes, count, out->items[i].bus);
	qsort(out->items + first, out->count - first, sizeof(*out->items),
	      by_place);
	for (i = first; i < out->count; i++)
		out->items[i].index = (int)(i - first);
	free(nodes);
}
