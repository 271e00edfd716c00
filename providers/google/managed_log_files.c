/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a managed run's log.
 *
 * "pending" are the lines of the last page with the sizes that the files had
 * before: written before they are added, so that a process that is killed in
 * between leaves it to the next to add what is missing, and only that.
 */
#include "providers/google/managed_log_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/run/log.h"
#include "core/run/log_file.h"
#include "core/run/tuner.h"

#define STATE_MAX (256 << 20)

/* Where lines go: a task of the run, or of one of its trials. */
struct target {
	long trial;
	size_t task;
};

static void target_key(const struct target *to, char out[48])
{
	snprintf(out, 48, "%ld/%zu", to->trial, to->task);
}

static struct target target_of(const json_t *line)
{
	return (struct target){ .trial = json_get_int(line, "trial", 0),
				.task = (size_t)json_get_int(line, "task", 0) };
}

static char *target_folder(const struct log_files *files,
			   const struct target *to)
{
	return to->trial ? tuner_trial_folder(files->folder, (int)to->trial)
			 : mem_strdup(files->folder);
}

static uint64_t stream_size(const struct log_files *files,
			    const struct target *to, enum log_stream stream)
{
	const struct task_place *place = &files->all->tasks[to->task];
	char *folder = target_folder(files, to);
	char *path = log_stream_path(folder, task_type_name(place->type),
				     place->index, stream);
	struct stat st;
	int ret = stat(path, &st);

	free(path);
	free(folder);
	return ret < 0 ? 0 : (uint64_t)st.st_size;
}

static struct log_writer *open_writer(const struct log_files *files,
				      const struct target *to,
				      struct error *err)
{
	const struct task_place *place = &files->all->tasks[to->task];
	char *folder = target_folder(files, to);
	struct log_writer *writer = log_writer_open(
		folder, task_type_name(place->type), place->index, err);

	free(folder);
	return writer;
}

/* Of what is pending for a target, all that is not in its files yet; `sizes`
 * are those that they had before. */
static int add_lines(const struct log_files *files, const struct target *to,
		     const json_t *sizes, const json_t *lines,
		     struct error *err)
{
	struct log_writer *writer = NULL;
	uint64_t have[LOG_STREAMS];
	const json_t *line;
	size_t i;

	for (i = 0; i < LOG_STREAMS; i++) {
		uint64_t was =
			(uint64_t)json_integer_value(json_array_get(sizes, i));
		uint64_t is = stream_size(files, to, (enum log_stream)i);

		have[i] = is > was ? is - was : 0;
	}
	json_array_foreach(lines, i, line)
	{
		size_t stream = (size_t)json_get_int(line, "stream", 0);
		const char *text = json_get_text(line, "text", "");
		struct target at = target_of(line);
		size_t len = strlen(text), skip;

		if (at.task != to->task || at.trial != to->trial ||
		    stream >= LOG_STREAMS)
			continue;
		skip = have[stream] < len ? (size_t)have[stream] : len;
		have[stream] -= skip;
		if (skip == len)
			continue;
		if (!writer)
			writer = open_writer(files, to, err);
		if (!writer)
			return -1;
		log_writer_add(writer, (enum log_stream)stream, text + skip,
			       len - skip, json_get_int(line, "timeMs", 0));
	}
	log_writer_close(writer);
	return 0;
}

int log_files_finish(const struct log_files *files, struct error *err)
{
	const json_t *pending = json_object_get(files->state, "pending");
	const json_t *sizes = json_object_get(pending, "sizes");
	const json_t *lines = json_object_get(pending, "lines");
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		struct target to = target_of(line);
		char key[48];

		/* All lines of a target at its first one. */
		target_key(&to, key);
		if (to.task >= files->all->count ||
		    json_integer_value(json_array_get(
			    json_object_get(sizes, key), LOG_STREAMS)) !=
			    (json_int_t)i)
			continue;
		if (add_lines(files, &to, json_object_get(sizes, key), lines,
			      err) < 0)
			return -1;
	}
	return 0;
}

/* ---- state ------------------------------------------------------------- */

int log_files_write_state(const struct log_files *files, struct error *err)
{
	char *path = path_join(files->folder, "cloud-log.json");
	char *text = json_canonical(files->state);
	int ret = file_write(path, text, strlen(text), err);

	free(text);
	free(path);
	return ret;
}

json_t *log_files_read_state(const char *folder)
{
	char *path = path_join(folder, "cloud-log.json");
	struct error ignored;
	size_t len;
	char *text = file_read(path, STATE_MAX, &len, &ignored);
	json_t *out = text ? json_read(text, len, path, &ignored) : NULL;

	free(text);
	free(path);
	return json_is_object(out) ? out : json_object();
}

/* "sizes" has for each target that of both streams, and the number of its first
 * line. */
int log_files_add(const struct log_files *files, json_t *lines,
		  struct error *err)
{
	json_t *pending = json_object();
	json_t *sizes = json_object();
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		struct target to = target_of(line);
		char key[48];

		target_key(&to, key);
		if (json_object_get(sizes, key))
			continue;
		json_object_set_new(
			sizes, key,
			json_pack(
				"[I, I, I]",
				(json_int_t)stream_size(files, &to, LOG_STDOUT),
				(json_int_t)stream_size(files, &to, LOG_STDERR),
				(json_int_t)i));
	}
	json_put(pending, "sizes", sizes);
	json_put(pending, "lines", lines);
	json_object_set_new(files->state, "pending", pending);
	if (log_files_write_state(files, err) < 0)
		return -1;
	return log_files_finish(files, err);
}
