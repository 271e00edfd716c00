/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checkpoint/checkpoint.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"

#define STEP_DIGITS_MAX 18

json_t *checkpoint_json(const struct checkpoint *checkpoint)
{
	json_t *out = json_object(), *files = json_array();
	char time[40];

	time_format(checkpoint->time_ms, time, sizeof(time));
	json_put_int(out, "formatVersion", 1);
	json_put_text(out, "name", checkpoint->name);
	json_put_int(out, "number", checkpoint->number);
	json_put_text(out, "time", time);
	json_put_int(out, "attempt", checkpoint->attempt);
	if (checkpoint->step >= 0)
		json_put_int(out, "step", checkpoint->step);
	if (checkpoint->epoch >= 0)
		json_put(out, "epoch", json_real(checkpoint->epoch));
	if (checkpoint->metric && isfinite(checkpoint->value)) {
		json_put_text(out, "metric", checkpoint->metric);
		json_put(out, "value", json_real(checkpoint->value));
	}
	for (size_t i = 0; i < checkpoint->file_count; i++) {
		const struct checkpoint_file *from = &checkpoint->files[i];
		json_t *file = json_object();

		json_put_text(file, "path", from->path);
		if (from->link) {
			json_put_text(file, "link", from->link);
		} else {
			json_put_int(file, "size", (long long)from->size_bytes);
			json_put_text(file, "crc32c", from->crc32c);
		}
		json_array_append_new(files, file);
	}
	json_put(out, "files", files);
	return out;
}

/* Whether the path stays below the folder it is added to, whoever wrote it. */
static bool is_inside(const char *path)
{
	char clean[PATH_MAX];

	return !path_clean(path, clean) && *clean && !strcmp(clean, path);
}

bool checkpoint_link_is_inside(const char *path, const char *link)
{
	size_t depth = 0;

	for (; (path = strchr(path, '/')); path++)
		depth++;
	/* From the folder of the link up to that of the checkpoint, and then
	 * only down: what is in between may be links, too. */
	for (; !strncmp(link, "../", 3); link += 3)
		if (--depth == 0 || depth == SIZE_MAX)
			return false;
	return depth && is_inside(link);
}

/* Whether the path is the name itself, is below it, or is a file of the
 * TensorFlow checkpoint with this name. */
static bool is_of(const char *path, const char *name)
{
	size_t len = strlen(name);

	return is_inside(path) && !strncmp(path, name, len) &&
	       (!path[len] || path[len] == '/' || path[len] == '.');
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whether a folder of a path is one of the links: these would lead elsewhere
 * than their names say. */
static bool is_below_link(const char *path, const char *const *links,
			  size_t count)
{
	char *above = mem_strdup(path), *slash;
	const char *key = above;
	bool found = false;

	while (!found && (slash = strrchr(above, '/'))) {
		*slash = '\0';
		found = bsearch(&key, links, count, sizeof(*links),
				compare_paths);
	}
	free(above);
	return found;
}

static bool goes_through_link(const struct checkpoint *one)
{
	const char **links = mem_grow(NULL, one->file_count, sizeof(*links));
	bool found = false;
	size_t count = 0;

	for (size_t i = 0; i < one->file_count; i++)
		if (one->files[i].link)
			links[count++] = one->files[i].path;
	qsort(links, count, sizeof(*links), compare_paths);
	for (size_t i = 0; i < one->file_count && count && !found; i++)
		found = is_below_link(one->files[i].path, links, count);
	free(links);
	return found;
}

static int read_files(const json_t *list, struct arena *mem,
		      struct checkpoint *out)
{
	size_t count = json_array_size(list);

	if (!count || count > CHECKPOINT_FILES_MAX)
		return -1;
	out->files = arena_alloc(mem, count * sizeof(*out->files));
	for (; out->file_count < count; out->file_count++) {
		const json_t *from = json_array_get(list, out->file_count);
		struct checkpoint_file *file = &out->files[out->file_count];
		const char *link = json_copy_text(from, "link", mem);
		long long size = link ? 0 : json_get_int(from, "size", -1);

		file->path = arena_strdup(mem, json_get_text(from, "path", ""));
		file->crc32c =
			arena_strdup(mem, json_get_text(from, "crc32c", ""));
		file->size_bytes = (uint64_t)size;
		file->link = link;
		if (size < 0 || !is_of(file->path, out->name) ||
		    (link && !checkpoint_link_is_inside(file->path, link)))
			return -1;
		out->size_bytes += file->size_bytes;
	}
	return goes_through_link(out) ? -1 : 0;
}

int checkpoint_from_json(const json_t *value, struct arena *mem,
			 struct checkpoint *out, struct error *err)
{
	const char *metric = json_get_text(value, "metric", NULL);
	struct checkpoint found = { 0 };

	found.name = arena_strdup(mem, json_get_text(value, "name", ""));
	found.number = (long)json_get_int(value, "number", 0);
	found.time_ms = time_parse(json_get_text(value, "time", ""));
	found.attempt = (int)json_get_int(value, "attempt", 0);
	found.step = json_get_int(value, "step", -1);
	found.epoch =
		json_object_get(value, "epoch")
			? json_number_value(json_object_get(value, "epoch"))
			: -1;
	found.metric = metric ? arena_strdup(mem, metric) : NULL;
	found.value =
		metric && json_is_number(json_object_get(value, "value"))
			? json_number_value(json_object_get(value, "value"))
			: (double)NAN;
	if (json_get_int(value, "formatVersion", 0) != 1)
		return error_set(err, ERROR_FAILED,
				 "its manifest has another version");
	if (found.time_ms < 0 || strchr(found.name, '/') ||
	    !is_inside(found.name) ||
	    read_files(json_object_get(value, "files"), mem, &found) < 0)
		return error_set(err, ERROR_FAILED, "its manifest is broken");
	*out = found;
	return 0;
}

struct checkpoint checkpoint_copy(const struct checkpoint *from,
				  struct arena *mem)
{
	struct checkpoint out = *from;

	out.name = arena_strdup(mem, from->name);
	out.metric = from->metric ? arena_strdup(mem, from->metric) : NULL;
	out.files = arena_alloc(mem, from->file_count * sizeof(*out.files));
	for (size_t i = 0; i < from->file_count; i++) {
		out.files[i] = from->files[i];
		out.files[i].path = arena_strdup(mem, from->files[i].path);
		out.files[i].crc32c = arena_strdup(mem, from->files[i].crc32c);
		if (out.files[i].link)
			out.files[i].link =
				arena_strdup(mem, from->files[i].link);
	}
	return out;
}

int checkpoint_compare_age(const struct checkpoint *a,
			   const struct checkpoint *b)
{
	if (a->time_ms != b->time_ms)
		return a->time_ms > b->time_ms ? -1 : 1;
	if (a->step >= 0 && b->step >= 0 && a->step != b->step)
		return a->step > b->step ? -1 : 1;
	/* A checkpoint without a number yet is newer than one with a number. */
	if (!a->number || !b->number)
		return (a->number != 0) - (b->number != 0);
	return (a->number < b->number) - (a->number > b->number);
}

int checkpoint_compare_worth(const struct checkpoint *a,
			     const struct checkpoint *b,
			     const struct checkpoint_order *order)
{
	double x = order->metric ? a->value : 0;
	double y = order->metric ? b->value : 0;

	if (isnan(x) || isnan(y)) {
		if (isnan(x) != isnan(y))
			return isnan(x) ? 1 : -1;
	} else if (x < y || x > y) {
		return (x > y) == order->maximize ? -1 : 1;
	}
	return checkpoint_compare_age(a, b);
}

/* Counts the checkpoints that come before this one. */
static size_t rank(const struct checkpoint *all, size_t count, size_t one,
		   const struct checkpoint_order *order)
{
	size_t before = 0;

	for (size_t i = 0; i < count; i++)
		if (i != one &&
		    checkpoint_compare_worth(&all[i], &all[one], order) < 0)
			before++;
	return before;
}

void checkpoint_keep(const struct checkpoint *all, size_t count, size_t keep,
		     const struct checkpoint_order *order, bool *kept)
{
	static const struct checkpoint_order by_age = { 0 };

	for (size_t i = 0; i < count; i++)
		kept[i] = rank(all, count, i, order) < keep ||
			  rank(all, count, i, &by_age) == 0;
}

void checkpoint_describe(const struct checkpoint *checkpoint, char *out,
			 size_t size)
{
	size_t used = 0;

	*out = '\0';
	if (checkpoint->step >= 0)
		used = (size_t)snprintf(out, size, "step %" PRId64,
					checkpoint->step);
	else if (checkpoint->epoch >= 0)
		used = (size_t)snprintf(out, size, "epoch %g",
					checkpoint->epoch);
	if (checkpoint->metric && isfinite(checkpoint->value) && used < size)
		snprintf(out + used, size - used, "%s%s %g", used ? ", " : "",
			 checkpoint->metric, checkpoint->value);
}

int64_t checkpoint_name_step(const char *name)
{
	const char *p = name;
	int64_t step = -1;

	while (*(p += strcspn(p, "0123456789"))) {
		size_t digits = strspn(p, "0123456789");
		bool alone = p == name || strchr("-_=.", p[-1]) ||
			     (p - name >= 4 && !strncmp(p - 4, "step", 4));

		/* The 50 of "resnet50" and the 7 of "all.7z" are no steps. */
		if (alone && digits <= STEP_DIGITS_MAX &&
		    !isalnum((unsigned char)p[digits]))
			step = strtoll(p, NULL, 10);
		p += digits;
	}
	return step;
}
