/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/units.h"
#include "core/data/ignore.h"

#define DIGEST_WIDTH 16

static int read_source(const char *folder, const char *checkpoints,
		       struct source_options *options, bool look,
		       struct arena *mem, struct tree *out, struct error *err)
{
	char *also = checkpoints ? ignore_pattern(checkpoints) : NULL;
	int ret;

	options->also = also;
	ret = look ? tree_look(folder, options, mem, out, err)
		   : tree_read(folder, options, mem, out, err);
	free(also);
	return ret;
}

int source_read(const char *folder, const char *checkpoints, struct arena *mem,
		struct tree *out, struct error *err)
{
	struct source_options options = { 0 };

	return read_source(folder, checkpoints, &options, false, mem, out, err);
}

static int read_job(const struct job *job, enum source_version version,
		    bool look, struct arena *mem, struct tree *out,
		    struct error *err)
{
	struct source_options options = {
		.version = version,
		.never = job->never,
		.never_count = job->never_count,
	};
	const char *folder = job_path(job, job->jobrun.source);

	options.root = job_root(job, folder);
	return read_source(folder, job->jobrun.checkpoints.directory, &options,
			   look, mem, out, err);
}

int source_read_job(const struct job *job, enum source_version version,
		    struct arena *mem, struct tree *out, struct error *err)
{
	return read_job(job, version, false, mem, out, err);
}

int source_look(const struct job *job, struct arena *mem, struct tree *out,
		struct error *err)
{
	return read_job(job, SOURCE_NOW, true, mem, out, err);
}

static bool has_any(const struct tree *tree)
{
	size_t i;

	for (i = 0; i < tree->count; i++)
		if (tree->entries[i].kind != TREE_FOLDER)
			return true;
	return false;
}

void source_oddness(const struct job *job, const struct tree *tree,
		    struct buf *out)
{
	const char *source = job->jobrun.source;
	const struct tree_left_out *first = tree->left_out;

	if (has_any(tree)) {
		if (tree->ignored)
			buf_printf(out,
				   "'%s' is shipped, though .gitignore lists "
				   "'%s': no clone has it",
				   source, tree->ignored);
		return;
	}
	buf_printf(out, "'%s' ships no file: ", source);
	if (!tree->left_out_count)
		buf_puts(out, "it is empty");
	else
		buf_printf(out, "all is left out %s",
			   source_reason_text(first->reason));
}

/* Two entries of a path with equal text are equal to a program. */
static json_t *entry_json(const struct tree_entry *entry)
{
	char text[DIGEST_WIDTH + 2];

	if (entry->kind == TREE_FOLDER)
		return json_string("folder");
	if (entry->kind == TREE_LINK)
		return json_sprintf("-> %s", entry->target);
	snprintf(text, sizeof(text), "%.*s%s", DIGEST_WIDTH, entry->digest.hex,
		 entry->executable ? "x" : "");
	return json_string(text);
}

json_t *source_files_json(const struct job *job)
{
	json_t *out;
	size_t i;

	if (!job->source_entries)
		return NULL;
	out = json_object();
	for (i = 0; i < job->source_entry_count; i++) {
		const struct tree_entry *entry = &job->source_entries[i];
		json_t *name = json_text(entry->path);
		json_t *value = entry_json(entry);

		/* A target that is not UTF-8. */
		json_put(out, json_string_value(name),
			 value ? value : json_string("->"));
		json_decref(name);
	}
	return out;
}

json_t *source_json(const struct job *job)
{
	json_t *files = source_files_json(job);
	json_t *out = json_object();
	char size[32], text[80];

	size_format(job->source_bytes, size, sizeof(size));
	snprintf(text, sizeof(text), "%zu file%s, %s", job->source_files,
		 job->source_files == 1 ? "" : "s", size);
	json_put_text(out, "directory", job->jobrun.source);
	json_put_text(out, "contents", text);
	json_put_text(out, "sha256", job->source_digest.hex);
	if (files)
		json_put(out, "files", files);
	return out;
}

void source_text(const struct job *job, struct buf *out)
{
	const char *between = "; not: ";
	char size[32];
	size_t i;

	size_format(job->source_bytes, size, sizeof(size));
	buf_printf(out, "%zu file%s, %s", job->source_files,
		   job->source_files == 1 ? "" : "s", size);
	for (i = 0; i < SOURCE_REASON_COUNT; i++) {
		if (!job->source_left_out_total[i])
			continue;
		buf_printf(out, "%s%zu %s", between,
			   job->source_left_out_total[i],
			   source_reason_text((enum source_reason)i));
		between = ", ";
	}
}

const char *source_why(const struct job *job, size_t i)
{
	return source_reason_text(job->source_left_out[i].reason);
}

static json_t *left_out_json(const struct job *job)
{
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < job->source_left_out_count; i++) {
		json_t *item = json_object();

		json_put_text(item, "path", job->source_left_out[i].path);
		json_put_text(item, "why", source_why(job, i));
		json_array_append_new(out, item);
	}
	return out;
}

json_t *source_listing(const struct job *job)
{
	json_t *out = json_object(), *totals = json_object();
	json_t *paths = json_array();
	size_t i;

	json_put_text(out, "directory", job->jobrun.source);
	json_put_int(out, "files", (long long)job->source_files);
	json_put_int(out, "bytes", (long long)job->source_bytes);
	json_put_text(out, "sha256", job->source_digest.hex);
	for (i = 0; i < job->source_entry_count; i++)
		json_array_append_new(paths,
				      json_text(job->source_entries[i].path));
	if (job->source_entries)
		json_put(out, "paths", paths);
	else
		json_decref(paths);
	json_put(out, "leftOut", left_out_json(job));
	for (i = 0; i < SOURCE_REASON_COUNT; i++)
		if (job->source_left_out_total[i])
			json_put_int(totals,
				     source_reason_text((enum source_reason)i),
				     (long long)job->source_left_out_total[i]);
	json_put(out, "leftOutTotal", totals);
	return out;
}

void source_warning(const struct job *job, struct buf *out)
{
	const struct strings *names = &job->source_secrets;
	size_t i;

	if (job->source_odd)
		buf_printf(out, "%s%sjobrun.source %s",
			   job->source_at ? job->source_at : "",
			   job->source_at ? ": " : "", job->source_odd);
	if (!names->count)
		return;
	if (job->source_odd)
		buf_puts(out, "; ");
	buf_puts(out, "ships what may be a secret: ");
	for (i = 0; i < names->count; i++)
		buf_printf(out, "%s%s", i ? ", " : "", names->items[i]);
	buf_puts(out,
		 names->count == SOURCE_SECRETS_MAX ? " and perhaps more" : "");
	buf_puts(out, " (exclude it with .gitignore or " IGNORE_FILE ")");
}

static int by_path(const void *a, const void *b)
{
	const struct file_change *x = a, *y = b;

	return strcmp(x->path, y->path);
}

void source_compare(const json_t *before, const json_t *after,
		    struct arena *mem, struct file_changes *out)
{
	size_t most = json_object_size(before) + json_object_size(after);
	struct file_change *items = NULL;
	json_t *old = (json_t *)before, *new = (json_t *)after;
	json_t *value;
	const char *path;
	size_t n = 0;

	items = mem_alloc((most + 1) * sizeof(*items));
	json_object_foreach(new, path, value)
	{
		const json_t *was = json_object_get(before, path);

		if (was && json_equal(was, value))
			continue;
		items[n].path = arena_strdup(mem, path);
		items[n++].type = was ? FILE_MODIFIED : FILE_ADDED;
	}
	json_object_foreach(old, path, value)
	{
		if (json_object_get(after, path))
			continue;
		items[n].path = arena_strdup(mem, path);
		items[n++].type = FILE_REMOVED;
	}
	*out = (struct file_changes){ 0 };
	if (n) {
		struct file_change *kept = arena_alloc(mem, n * sizeof(*kept));

		qsort(items, n, sizeof(*items), by_path);
		memcpy(kept, items, n * sizeof(*kept));
		out->items = kept;
		out->count = n;
	}
	free(items);
}

const char *file_change_name(enum file_change_type type)
{
	static const char *const names[] = {
		[FILE_MODIFIED] = "modified",
		[FILE_ADDED] = "added",
		[FILE_REMOVED] = "removed",
	};

	return names[type];
}

void file_changes_text(const struct file_changes *files, size_t most,
		       struct buf *out)
{
	size_t i;

	for (i = 0; i < files->count && (!most || i < most); i++)
		buf_printf(out, "%s%s %s", i ? ", " : "", files->items[i].path,
			   file_change_name(files->items[i].type));
	if (i < files->count)
		buf_printf(out, " and %zu more", files->count - i);
}
