/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/plan_file_words.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/plan/diff.h"
#include "core/base/show.h"
#include "core/job/source.h"
#include "core/plan/show_value.h"

#define SHOWN_MAX 5 /* differences shown of one job or resource */
#define VALUE_WIDTH 60

const char *saved_text(const json_t *object, const char *key)
{
	return json_get_text(object, key, "");
}

bool saved_is_same(const json_t *a, const json_t *b, const char *key)
{
	const json_t *x = json_object_get(a, key);
	const json_t *y = json_object_get(b, key);

	return x == y || (x && y && json_equal(x, y));
}

json_t *saved_index(const json_t *array, const char *key)
{
	json_t *out = json_object();
	size_t i;

	for (i = 0; i < json_array_size(array); i++) {
		json_t *one = json_array_get(array, i);
		char *name = mem_strdup(saved_text(one, key));

		if (json_object_get(out, name)) {
			free(name);
			name = mem_printf("%s at %s", saved_text(one, key),
					  saved_text(one, "provider"));
		}
		json_object_set_nocheck(out, name, one);
		free(name);
	}
	return out;
}

static void show(struct buf *out, const json_t *value)
{
	struct buf text = { 0 };

	if (!value || json_is_null(value)) {
		buf_puts(out, "absent");
		return;
	}
	show_value(&text, value);
	show_cut(out, buf_text(&text), 0, VALUE_WIDTH);
	buf_done(&text);
}

static void say_field(struct buf *out, const char *path, const json_t *was,
		      const json_t *is)
{
	show_text(out, path);
	buf_puts(out, " was ");
	show(out, was);
	buf_puts(out, ", is ");
	show(out, is);
}

/* Names the fields of the job's file that differ. */
static size_t say_job_fields(struct buf *out, const char *job_id,
			     const json_t *was, const json_t *is)
{
	struct arena *mem = arena_new();
	struct diff diff;
	size_t count, i;

	diff_json(json_object_get(was, "job"), json_object_get(is, "job"), mem,
		  &diff);
	for (i = 0; i < diff.count && i < SHOWN_MAX; i++) {
		buf_printf(out, "job '%s': ", job_id);
		say_field(out, diff.items[i].path, diff.items[i].before,
			  diff.items[i].after);
		buf_putc(out, '\n');
	}
	if (i < diff.count)
		buf_printf(out, "job '%s': and %zu more fields differ\n",
			   job_id, diff.count - i);
	count = diff.count;
	arena_free(mem);
	return count;
}

static bool say_source(struct buf *out, const char *job_id, const json_t *was,
		       const json_t *is)
{
	const json_t *before = json_object_get(was, "source");
	const json_t *after = json_object_get(is, "source");
	const json_t *old = json_object_get(before, "files");
	const json_t *new = json_object_get(after, "files");
	struct file_changes files = { 0 };
	struct arena *mem;
	struct buf text = { 0 };

	if (!before || !after || saved_is_same(before, after, "sha256"))
		return false;
	mem = arena_new();
	if (old && new)
		source_compare(old, new, mem, &files);
	file_changes_text(&files, SOURCE_SHOWN_MAX, &text);
	arena_free(mem);
	buf_printf(out, "job '%s': its source has changed", job_id);
	if (files.count) {
		buf_puts(out, ": ");
		show_text(out, buf_text(&text));
	}
	buf_putc(out, '\n');
	buf_done(&text);
	return true;
}

void saved_say_job(struct buf *out, const char *job_id, const json_t *was,
		   const json_t *is)
{
	size_t n;

	if (!json_object_get(was, "job") || !json_object_get(is, "job")) {
		buf_printf(out, "job '%s': %s\n", job_id,
			   json_object_get(is, "job")
				   ? "it has a file again"
				   : "it was applied again, or its file is "
				     "gone");
		return;
	}
	n = say_job_fields(out, job_id, was, is);
	if (say_source(out, job_id, was, is) || n)
		return;
	buf_printf(out,
		   "job '%s': one of its packages, or jobrun itself, has "
		   "changed\n",
		   job_id);
}

/* Names the observed values that made the changes differ; returns false if none
 * did. */
static bool say_world(struct buf *out, const json_t *was, const json_t *is)
{
	json_t *old = saved_index(json_object_get(was, "changes"), "path");
	json_t *new = saved_index(json_object_get(is, "changes"), "path");
	const char *path;
	json_t *one;
	size_t n = 0;

	/* A property without a change has its desired value: `after`. */
	json_object_foreach(new, path, one)
	{
		const json_t *before = json_object_get(old, path);

		if (before && saved_is_same(before, one, "before"))
			continue;
		if (++n > SHOWN_MAX)
			break;
		buf_puts(out, n == 1 ? ": " : ", ");
		say_field(out, path,
			  json_object_get(before ? before : one,
					  before ? "before" : "after"),
			  json_object_get(one, "before"));
	}
	json_object_foreach(old, path, one)
	{
		if (json_object_get(new, path) || ++n > SHOWN_MAX)
			continue;
		buf_puts(out, n == 1 ? ": " : ", ");
		say_field(out, path, json_object_get(one, "before"),
			  json_object_get(one, "after"));
	}
	json_decref(old);
	json_decref(new);
	return n > 0;
}

static void say_reasons(struct buf *out, const json_t *was, const json_t *is)
{
	buf_printf(out, ": the plan was %s (", saved_text(was, "action"));
	show_text(out, saved_text(was, "reason"));
	buf_printf(out, "), now it is %s (", saved_text(is, "action"));
	show_text(out, saved_text(is, "reason"));
	buf_putc(out, ')');
}

void saved_say_action(struct buf *out, const char *job_id, const json_t *was,
		      const json_t *is, bool seen)
{
	bool planned = saved_is_same(was, is, "action") &&
		       saved_is_same(was, is, "reason");

	show_text(out, saved_text(is, "kind"));
	buf_puts(out, " '");
	show_text(out, saved_text(is, "name"));
	buf_printf(out, "' of job '%s'", job_id);
	if (!planned)
		say_reasons(out, was, is);
	if (!(seen && say_world(out, was, is)) && planned)
		buf_puts(out, ": it has changed, or would be done differently");
	buf_putc(out, '\n');
}
