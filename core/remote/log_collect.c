/* SPDX-License-Identifier: Apache-2.0 */
#include "core/remote/log_collect.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base64.h"
#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/log/log_file.h"
#include "core/topology/topology.h"
#include "core/trial/trial_folder.h"

#define STATE_MAX (256 << 20)
#define TARGET_KEY_MAX 48

/* The log that a line belongs to: of a task of the run, or of a trial. */
struct collect_target {
	long trial;
	size_t task;
};

static void target_key(const struct collect_target *to,
		       char out[TARGET_KEY_MAX])
{
	snprintf(out, TARGET_KEY_MAX, "%ld/%zu", to->trial, to->task);
}

static struct collect_target target_of(const json_t *line)
{
	return (struct collect_target){ .trial = json_get_int(line, "trial", 0),
					.task = (size_t)json_get_int(
						line, "task", 0) };
}

static char *target_folder(const struct log_collect *c,
			   const struct collect_target *to)
{
	return to->trial ? trial_folder(c->folder, (int)to->trial)
			 : mem_strdup(c->folder);
}

static uint64_t stream_size(const struct log_collect *c,
			    const struct collect_target *to,
			    enum log_stream stream)
{
	const struct task_place *place = &c->spec.topology.tasks[to->task];
	char *folder = target_folder(c, to);
	char *path = log_stream_path(folder, task_type_name(place->type),
				     place->index, stream);
	struct stat st;
	int ret = stat(path, &st);

	free(path);
	free(folder);
	return ret < 0 ? 0 : (uint64_t)st.st_size;
}

static struct log_writer *open_writer(const struct log_collect *c,
				      const struct collect_target *to,
				      struct error *err)
{
	const struct task_place *place = &c->spec.topology.tasks[to->task];
	char *folder = target_folder(c, to);
	struct log_writer *writer = log_writer_open(
		folder, task_type_name(place->type), place->index, err);

	free(folder);
	return writer;
}

/* Reads the bytes that log_collect_piece() stored. */
static void take_bytes(const json_t *line, struct buf *out)
{
	const json_t *text = json_object_get(line, "text");
	const char *coded = json_get_text(line, "base64", "");

	buf_clear(out);
	if (text)
		buf_add(out, json_string_value(text), json_string_length(text));
	else if (!base64_decode(out, coded, strlen(coded)))
		buf_clear(out);
}

/* Measures how much each stream has grown since `sizes`. */
static void measure(const struct log_collect *c,
		    const struct collect_target *to, const json_t *sizes,
		    uint64_t more[LOG_STREAMS])
{
	size_t i;

	for (i = 0; i < LOG_STREAMS; i++) {
		uint64_t was =
			(uint64_t)json_integer_value(json_array_get(sizes, i));
		uint64_t is = stream_size(c, to, (enum log_stream)i);

		more[i] = is > was ? is - was : 0;
	}
}

/* Adds those pending lines of a target that its files lack; `sizes` are their
 * earlier sizes. */
static int add_lines(const struct log_collect *c,
		     const struct collect_target *to, const json_t *sizes,
		     const json_t *lines, struct error *err)
{
	struct log_writer *writer = NULL;
	uint64_t have[LOG_STREAMS];
	struct buf bytes = { 0 };
	const json_t *line;
	size_t i;
	int ret = 0;

	measure(c, to, sizes, have);
	json_array_foreach(lines, i, line)
	{
		size_t stream = (size_t)json_get_int(line, "stream", 0);
		struct collect_target at = target_of(line);
		size_t skip;

		if (at.task != to->task || at.trial != to->trial ||
		    stream >= LOG_STREAMS)
			continue;
		take_bytes(line, &bytes);
		skip = have[stream] < bytes.len ? (size_t)have[stream]
						: bytes.len;
		have[stream] -= skip;
		if (skip == bytes.len)
			continue;
		if (!writer)
			writer = open_writer(c, to, err);
		if (!writer) {
			ret = -1;
			break;
		}
		log_writer_add(writer, (enum log_stream)stream,
			       bytes.data + skip, bytes.len - skip,
			       json_get_int(line, "timeMs", 0));
	}
	log_writer_close(writer);
	buf_done(&bytes);
	return ret;
}

static int add_pending(const struct log_collect *c, struct error *err)
{
	const json_t *pending = json_object_get(c->state, "pending");
	const json_t *sizes = json_object_get(pending, "sizes");
	const json_t *lines = json_object_get(pending, "lines");
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		struct collect_target to = target_of(line);
		char key[TARGET_KEY_MAX];

		/* Add all lines of a target when its first one comes up. */
		target_key(&to, key);
		if (to.task >= c->spec.topology.count ||
		    json_integer_value(json_array_get(
			    json_object_get(sizes, key), LOG_STREAMS)) !=
			    (json_int_t)i)
			continue;
		if (add_lines(c, &to, json_object_get(sizes, key), lines, err) <
		    0)
			return -1;
	}
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
	int ret = json_file_write(path, c->state, err);

	free(path);
	return ret;
}

static json_t *read_state(const char *folder, const char *name)
{
	char *path = state_path(folder, name, "json");
	struct error ignored;
	json_t *out;

	json_file_read(path, STATE_MAX, &out, &ignored);
	free(path);
	return json_is_object(out) ? out : json_object();
}

/* Returns "sizes": for each target the sizes of both streams, and the number of
 * its first line. */
static json_t *sizes_before(const struct log_collect *c, const json_t *lines)
{
	json_t *sizes = json_object();
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		struct collect_target to = target_of(line);
		char key[TARGET_KEY_MAX];

		target_key(&to, key);
		if (to.task >= c->spec.topology.count ||
		    json_object_get(sizes, key))
			continue;
		json_object_set_new(
			sizes, key,
			json_pack("[I, I, I]",
				  (json_int_t)stream_size(c, &to, LOG_STDOUT),
				  (json_int_t)stream_size(c, &to, LOG_STDERR),
				  (json_int_t)i));
	}
	return sizes;
}

int log_collect_take(struct log_collect *c, json_t *lines, struct error *err)
{
	json_t *pending = json_object();

	json_put(pending, "sizes", sizes_before(c, lines));
	json_put(pending, "lines", lines);
	json_object_set_new(c->state, "pending", pending);
	if (write_state(c, err) < 0)
		return -1;
	return add_pending(c, err);
}

/* JSON strings can hold text only, other bytes are stored as base64. */
static void put_bytes(json_t *line, const char *bytes, size_t len)
{
	json_t *text =
		memchr(bytes, '\0', len) ? NULL : json_stringn(bytes, len);
	struct buf coded = { 0 };

	if (text) {
		json_put(line, "text", text);
		return;
	}
	base64_add(&coded, bytes, len);
	json_put_text(line, "base64", buf_text(&coded));
	buf_done(&coded);
}

json_t *log_collect_piece(long trial, size_t task, enum log_stream stream,
			  int64_t time_ms, const char *text, size_t len)
{
	json_t *out = json_object();

	if (trial)
		json_put_int(out, "trial", trial);
	json_put_int(out, "task", (long long)task);
	json_put_int(out, "stream", stream);
	json_put_int(out, "timeMs", time_ms);
	put_bytes(out, text, len);
	return out;
}

json_t *log_collect_line(long trial, size_t task, enum log_stream stream,
			 int64_t time_ms, const char *text, size_t len)
{
	struct buf whole = { 0 };
	json_t *out;

	buf_add(&whole, text, len);
	if (!len || text[len - 1] != '\n')
		buf_putc(&whole, '\n');
	out = log_collect_piece(trial, task, stream, time_ms, whole.data,
				whole.len);
	buf_done(&whole);
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
