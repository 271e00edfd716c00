/* SPDX-License-Identifier: Apache-2.0 */
#include "core/run/log_collect.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/run/log_file.h"

#define STATE_MAX (256 << 20)

static uint64_t stream_size(const struct log_collect *c, size_t task,
			    enum log_stream stream)
{
	const struct task_place *place = &c->spec.topology.tasks[task];
	char *path = log_stream_path(c->folder, task_type_name(place->type),
				     place->index, stream);
	struct stat st;
	int ret = stat(path, &st);

	free(path);
	return ret < 0 ? 0 : (uint64_t)st.st_size;
}

/* Of what is pending for a task, all that is not in its files yet. */
static int add_lines(const struct log_collect *c, size_t task,
		     const json_t *pending, struct error *err)
{
	const struct task_place *place = &c->spec.topology.tasks[task];
	const json_t *sizes =
		json_array_get(json_object_get(pending, "sizes"), task);
	struct log_writer *writer = NULL;
	uint64_t have[LOG_STREAMS];
	const json_t *line;
	size_t i;

	for (i = 0; i < LOG_STREAMS; i++) {
		uint64_t was =
			(uint64_t)json_integer_value(json_array_get(sizes, i));
		uint64_t is = stream_size(c, task, (enum log_stream)i);

		have[i] = is > was ? is - was : 0;
	}
	json_array_foreach(json_object_get(pending, "lines"), i, line)
	{
		size_t stream = (size_t)json_get_int(line, "stream", 0);
		const char *text = json_get_text(line, "text", "");
		size_t len = strlen(text), skip;

		if ((size_t)json_get_int(line, "task", 0) != task ||
		    stream >= LOG_STREAMS)
			continue;
		skip = have[stream] < len ? (size_t)have[stream] : len;
		have[stream] -= skip;
		if (skip == len)
			continue;
		if (!writer)
			writer = log_writer_open(c->folder,
						 task_type_name(place->type),
						 place->index, err);
		if (!writer)
			return -1;
		log_writer_add(writer, (enum log_stream)stream, text + skip,
			       len - skip, json_get_int(line, "timeMs", 0));
	}
	log_writer_close(writer);
	return 0;
}

static int add_pending(const struct log_collect *c, struct error *err)
{
	const json_t *pending = json_object_get(c->state, "pending");
	size_t i;

	for (i = 0; pending && i < c->spec.topology.count; i++)
		if (add_lines(c, i, pending, err) < 0)
			return -1;
	return 0;
}

static char *state_path(const char *folder, const char *name,
			const char *suffix)
{
	return mem_printf("%s/%s.%s", folder, name, suffix);
}

static int write_state(const struct log_collect *c, struct error *err)
{
	char *path = state_path(c->folder, c->name, "json");
	char *text = json_canonical(c->state);
	int ret = file_write(path, text, strlen(text), err);

	free(text);
	free(path);
	return ret;
}

static json_t *read_state(const char *folder, const char *name)
{
	char *path = state_path(folder, name, "json");
	struct error ignored;
	size_t len;
	char *text = file_read(path, STATE_MAX, &len, &ignored);
	json_t *out = text ? json_read(text, len, path, &ignored) : NULL;

	free(text);
	free(path);
	return json_is_object(out) ? out : json_object();
}

int log_collect_take(struct log_collect *c, json_t *lines, struct error *err)
{
	json_t *pending = json_object();
	json_t *sizes = json_array();
	size_t i;

	for (i = 0; i < c->spec.topology.count; i++)
		json_array_append_new(
			sizes,
			json_pack("[I, I]",
				  (json_int_t)stream_size(c, i, LOG_STDOUT),
				  (json_int_t)stream_size(c, i, LOG_STDERR)));
	json_put(pending, "sizes", sizes);
	json_put(pending, "lines", lines);
	json_object_set_new(c->state, "pending", pending);
	if (write_state(c, err) < 0)
		return -1;
	return add_pending(c, err);
}

json_t *log_collect_line(size_t task, enum log_stream stream, int64_t time_ms,
			 const char *text)
{
	json_t *out = json_object();

	json_put_int(out, "task", (long long)task);
	json_put_int(out, "stream", stream);
	json_put_int(out, "timeMs", time_ms);
	json_put(out, "text",
		 json_sprintf("%s%s", text, text_ends(text, "\n") ? "" : "\n"));
	return out;
}

int log_collect_open(struct log_collect *c, const char *folder,
		     const char *name, struct error *err)
{
	char *path = state_path(folder, name, "lock");

	*c = (struct log_collect){ .folder = folder,
				   .name = name,
				   .mem = arena_new() };
	c->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	free(path);
	if (c->lock < 0)
		return error_errno(err, "cannot lock the log in '%s'", folder);
	if (flock(c->lock, LOCK_EX | LOCK_NB) < 0)
		return 1;
	if (spec_read(folder, c->mem, &c->spec, err) < 0)
		return -1;
	c->state = read_state(folder, name);
	return add_pending(c, err);
}

void log_collect_close(struct log_collect *c)
{
	struct error ignored;

	if (c->state)
		write_state(c, &ignored);
	json_decref(c->state);
	if (c->lock >= 0)
		close(c->lock);
	arena_free(c->mem);
}
