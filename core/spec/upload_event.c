/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/upload_event.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"

#define FILE_MAX (64 << 20)

/* In the order of enum upload_event_kind. */
static const char *const names[] = { "note", "resumed", "kept", "failing" };

void upload_event_add(const char *path, enum upload_event_kind kind,
		      const char *text)
{
	json_t *value;
	char *json, *line;
	int fd;

	if (!path) {
		fprintf(stderr, "jobrun: checkpoints: %s\n", text);
		return;
	}
	value = json_object();
	json_put_int(value, "timeMs", time_now_ms());
	json_put_text(value, "kind", names[kind]);
	json_put_text(value, "text", text);
	json = json_canonical(value);
	line = mem_printf("%s\n", json);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write(fd, line, strlen(line)) < 0)
		fprintf(stderr, "checkpoints: %s (cannot write '%s': %s)\n",
			text, path, strerror(errno));
	if (fd >= 0)
		close(fd);
	free(line);
	free(json);
	json_decref(value);
}

static bool read_line(const char *line, size_t len, struct arena *mem,
		      struct upload_event *out)
{
	struct error ignored;
	json_t *value = json_read(line, len, "an event", &ignored);
	const char *kind = json_get_text(value, "kind", "");
	size_t i = 0;

	while (i < COUNT(names) && strcmp(names[i], kind) != 0)
		i++;
	if (i < COUNT(names))
		*out = (struct upload_event){
			.time_ms = json_get_int(value, "timeMs", 0),
			.kind = (enum upload_event_kind)i,
			.text = arena_strdup(mem,
					     json_get_text(value, "text", "")),
		};
	json_decref(value);
	return i < COUNT(names);
}

int upload_events_read(const char *path, uint64_t *offset, struct arena *mem,
		       struct upload_events *out, struct error *err)
{
	const char *line, *end;
	size_t len;
	char *text;

	*out = (struct upload_events){ 0 };
	if (access(path, F_OK) < 0)
		return 0;
	text = file_read(path, FILE_MAX, &len, err);
	if (!text)
		return -1;
	line = text + (*offset < len ? *offset : len);
	/* A line without its end is left for the next call. */
	for (; (end = memchr(line, '\n', len - (size_t)(line - text)));
	     line = end + 1) {
		struct upload_event one;

		*offset = (uint64_t)(end + 1 - text);
		if (!read_line(line, (size_t)(end - line), mem, &one))
			continue;
		if (out->count % 64 == 0) {
			struct upload_event *more = arena_alloc(
				mem, (out->count + 64) * sizeof(*more));

			if (out->count)
				memcpy(more, out->items,
				       out->count * sizeof(*more));
			out->items = more;
		}
		out->items[out->count++] = one;
	}
	free(text);
	return 0;
}
