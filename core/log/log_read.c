/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reading side of log.h: merges the lines of all streams by time, with a
 * heap of cursors, and filters them.
 */
#include "core/log/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file_watch.h"
#include "core/log/log_cursor.h"
#include "core/log/log_grep.h"

/* The bytes read from a stream at once: small enough for the CPU's cache, and
 * for all streams together in memory. */
#define CHUNK_MAX ((size_t)64 << 10)
#define CHUNK_MIN ((size_t)8 << 10)
#define CHUNK_ALL ((size_t)32 << 20)
/* How far before the end the search for the last lines starts. */
#define TAIL_WINDOW ((uint64_t)128 << 10)

struct log_reader {
	char *folder;
	struct log_filter filter;
	/* or NULL; streams are numbered as in `cursors` */
	struct log_grep *grep;
	size_t tasks;
	struct log_index *indexes;  /* by task */
	struct log_cursor *cursors; /* LOG_STREAMS per task */
	/* cursors with a line left, the oldest line first */
	struct log_cursor **heap;
	size_t heap_count;
	bool started;
	bool stop;
	log_found *found; /* or NULL */
	void *found_arg;
	log_block_sink *block_sink; /* or NULL */
	log_sink *sink;             /* during a step */
	void *sink_arg;
	uint64_t skip; /* lines to skip before the tail */

	int watch; /* inotify, or -1 */
	/* watches the folder of logs; else that of the run */
	bool logs_watched;
	bool *index_watched; /* by task */
	bool all_watched;    /* watches all writes in the folder of logs */
};

struct log_reader *log_reader_open(const char *folder,
				   const struct log_source *sources,
				   size_t count,
				   const struct log_filter *filter,
				   struct error *err)
{
	struct log_reader *reader = mem_alloc(sizeof(*reader));
	size_t chunk = CHUNK_ALL / (count * LOG_STREAMS + 1);

	(void)err;
	if (chunk > CHUNK_MAX)
		chunk = CHUNK_MAX;
	if (chunk < CHUNK_MIN)
		chunk = CHUNK_MIN;
	reader->folder = mem_strdup(folder);
	reader->watch = -1;
	reader->filter.tail = SIZE_MAX;
	if (filter)
		reader->filter = *filter;
	/* A damaged index may have any times. */
	if (!reader->filter.since_ms)
		reader->filter.since_ms = INT64_MIN;
	reader->tasks = count;
	if (reader->filter.grep)
		reader->grep =
			log_grep_new(reader->filter.grep, count * LOG_STREAMS);
	reader->indexes = mem_alloc(count * sizeof(*reader->indexes));
	reader->index_watched =
		mem_alloc(count * sizeof(*reader->index_watched));
	reader->cursors =
		mem_alloc(count * LOG_STREAMS * sizeof(*reader->cursors));
	reader->heap = mem_alloc(count * LOG_STREAMS * sizeof(*reader->heap));
	for (size_t i = 0; i < count; i++) {
		reader->indexes[i] =
			(struct log_index){ reader->folder, &sources[i], -1, 0,
					    0 };
		for (size_t k = 0; k < LOG_STREAMS; k++) {
			struct log_cursor *cursor =
				&reader->cursors[i * LOG_STREAMS + k];

			log_cursor_init(cursor, &reader->indexes[i],
					(enum log_stream)k, chunk);
			if (reader->filter.states)
				log_cursor_split(cursor);
			cursor->line.source = &sources[i];
			cursor->line.stream = (enum log_stream)k;
		}
	}
	return reader;
}

void log_reader_close(struct log_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->tasks * LOG_STREAMS; i++)
		log_cursor_done(&reader->cursors[i]);
	for (size_t i = 0; i < reader->tasks; i++) {
		if (reader->indexes[i].fd >= 0)
			close(reader->indexes[i].fd);
	}
	if (reader->watch >= 0)
		close(reader->watch);
	log_grep_free(reader->grep);
	free(reader->heap);
	free(reader->cursors);
	free(reader->index_watched);
	free(reader->indexes);
	free(reader->folder);
	free(reader);
}

void log_reader_take_blocks(struct log_reader *reader, log_block_sink *sink)
{
	reader->block_sink = sink;
}

void log_reader_tell_found(struct log_reader *reader, log_found *found,
			   void *arg)
{
	reader->found = found;
	reader->found_arg = arg;
}

void log_reader_stop(struct log_reader *reader)
{
	reader->stop = true;
}

/* The display order: by time, then by task, then in order of arrival. */
static int compare(const struct log_cursor *a, const struct log_cursor *b)
{
	int x = a->line.source->ordinal;
	int y = b->line.source->ordinal;

	if (a->line.time_ms != b->line.time_ms)
		return a->line.time_ms < b->line.time_ms ? -1 : 1;
	if (x != y)
		return x < y ? -1 : 1;
	if (a->line_record != b->line_record)
		return a->line_record < b->line_record ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void heap_sink(struct log_reader *reader, size_t i)
{
	struct log_cursor **heap = reader->heap;
	struct log_cursor *cursor = heap[i];
	size_t n = reader->heap_count;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			break;
		if (child + 1 < n && compare(heap[child + 1], heap[child]) < 0)
			child++;
		if (compare(cursor, heap[child]) <= 0)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = cursor;
}

static void heap_make(struct log_reader *reader)
{
	reader->heap_count = 0;
	for (size_t i = 0; i < reader->tasks * LOG_STREAMS; i++) {
		if (reader->cursors[i].ready)
			reader->heap[reader->heap_count++] =
				&reader->cursors[i];
	}
	for (size_t i = reader->heap_count / 2; i-- > 0;)
		heap_sink(reader, i);
}

static size_t stream_of(const struct log_reader *reader,
			const struct log_line *line)
{
	size_t task = (size_t)(line->source - reader->indexes[0].source);

	return task * LOG_STREAMS + line->stream;
}

/* Pieces must be passed in the order of their line. */
static inline bool is_wanted(struct log_reader *reader, struct log_line *line)
{
	return line->time_ms >= reader->filter.since_ms &&
	       (!reader->grep ||
		log_grep_take(reader->grep, stream_of(reader, line), line));
}

void log_reader_open_lines(struct log_reader *reader, log_sink *sink, void *arg)
{
	for (size_t i = 0; i < reader->tasks * LOG_STREAMS; i++) {
		struct log_cursor *cursor = &reader->cursors[i];
		struct log_line line = { .source = cursor->line.source,
					 .stream = cursor->stream,
					 .text = "" };

		if (log_cursor_open_line(cursor, &line) &&
		    (line.time_ms < reader->filter.since_ms ||
		     (reader->grep && !log_grep_look(reader->grep, i, &line))))
			line.len = 0;
		sink(arg, &line);
	}
}

static void give(void *arg, const struct log_line *from)
{
	struct log_reader *reader = arg;
	struct log_line line = *from;

	if (!is_wanted(reader, &line))
		return;
	if (reader->skip)
		reader->skip--;
	else
		reader->sink(reader->sink_arg, &line);
}

/* Delivers lines of the oldest cursor until another has an older one. */
static int give_run(struct log_reader *reader, bool ended, struct error *err)
{
	struct log_cursor *cursor = reader->heap[0];
	int64_t time_ms = cursor->line.time_ms;
	uint64_t record = cursor->line_record;
	bool all = !reader->grep && !reader->skip &&
		   time_ms >= reader->filter.since_ms;

	do {
		give(reader, &cursor->line);
		/* Further lines of the same piece come next in any case. */
		if (cursor->start_record != record || reader->stop)
			;
		else if (all && reader->block_sink && !reader->filter.states)
			log_cursor_give_block(cursor, reader->block_sink,
					      reader->sink_arg);
		else if (all)
			log_cursor_give(cursor, &reader->stop, reader->sink,
					reader->sink_arg);
		else
			log_cursor_give(cursor, &reader->stop, give, reader);
		if (log_cursor_next(cursor, ended, err) < 0)
			return -1;
		if (!cursor->ready) {
			reader->heap[0] = reader->heap[--reader->heap_count];
			break;
		}
	} while (cursor->line_record == record &&
		 cursor->line.time_ms == time_ms && !reader->stop);
	if (reader->heap_count)
		heap_sink(reader, 0);
	return 0;
}

static int seek(struct log_reader *reader, struct log_cursor *cursor,
		uint64_t offset, struct error *err)
{
	if (reader->grep)
		log_grep_forget(reader->grep,
				(size_t)(cursor - reader->cursors));
	return log_cursor_seek(cursor, offset, reader->filter.since_ms, err);
}

/* Moves to the start of a stream's last lines, or a little before, and adds the
 * number of lines from there on. */
static int seek_tail(struct log_reader *reader, struct log_cursor *cursor,
		     bool ended, uint64_t *count, struct error *err)
{
	const struct log_filter *filter = &reader->filter;
	uint64_t window = TAIL_WINDOW;
	uint64_t size = 0;
	struct log_line line;
	uint64_t offset, n;

	if (log_cursor_size(cursor, &size, err) < 0)
		return -1;
	for (;;) {
		offset = window < size ? size - window : 0;
		if (seek(reader, cursor, offset, err) < 0)
			return -1;
		n = 0;
		do {
			if (log_cursor_next(cursor, ended, err) < 0)
				return -1;
			line = cursor->line;
			if (cursor->ready && is_wanted(reader, &line))
				n++;
		} while (cursor->ready);
		/* Stop if there are enough lines, and the start of the first is
		 * known. */
		if (!offset || (n >= filter->tail && !cursor->middle))
			break;
		window *= 4;
	}
	*count += n;
	return seek(reader, cursor, offset, err);
}

/* Finds where to start, at the first step. */
static int start(struct log_reader *reader, bool ended, struct error *err)
{
	const struct log_filter *filter = &reader->filter;
	uint64_t count = 0;

	for (size_t i = 0; i < reader->tasks * LOG_STREAMS; i++) {
		struct log_cursor *cursor = &reader->cursors[i];

		if (filter->tail != SIZE_MAX) {
			if (seek_tail(reader, cursor, ended, &count, err) < 0)
				return -1;
		} else if (filter->since_ms > INT64_MIN &&
			   log_cursor_seek(cursor, 0, filter->since_ms, err) <
				   0) {
			return -1;
		}
	}
	if (count > filter->tail)
		reader->skip = count - filter->tail;
	reader->started = true;
	return 0;
}

static int watch_update(struct log_reader *reader, struct error *err);

int log_reader_step(struct log_reader *reader, bool ended, log_sink *sink,
		    void *arg, struct error *err)
{
	int ret = -1;

	reader->stop = false;
	reader->sink = sink;
	reader->sink_arg = arg;
	if (reader->watch >= 0 && watch_update(reader, err) < 0)
		return -1;
	for (size_t i = 0; i < reader->tasks; i++) {
		bool is_new = !reader->indexes[i].records;

		if (log_index_look(&reader->indexes[i], err) < 0)
			return -1;
		if (is_new && reader->indexes[i].records && reader->found)
			reader->found(reader->found_arg,
				      reader->indexes[i].source);
		if (ended && log_index_end(&reader->indexes[i], err) < 0)
			return -1;
	}
	for (size_t i = 0; i < reader->tasks * LOG_STREAMS; i++)
		log_cursor_begin(&reader->cursors[i]);
	if (!reader->started && start(reader, ended, err) < 0)
		goto out;
	for (size_t i = 0; i < reader->tasks * LOG_STREAMS; i++) {
		/* A line may be ready from a step that was stopped. */
		if (!reader->cursors[i].ready &&
		    log_cursor_next(&reader->cursors[i], ended, err) < 0)
			goto out;
	}
	heap_make(reader);
	while (reader->heap_count && !reader->stop) {
		if (give_run(reader, ended, err) < 0)
			goto out;
	}
	ret = 0;
out:
	for (size_t i = 0; i < reader->tasks * LOG_STREAMS; i++)
		log_cursor_end(&reader->cursors[i]);
	return ret;
}

/*
 * Watches each index rather than the folder, because each line is written to
 * two files and only the index makes it visible; also watches the folder, for
 * new indexes.
 */
static void watch_indexes(struct log_reader *reader, const char *logs)
{
	for (size_t i = 0; i < reader->tasks && !reader->all_watched; i++) {
		const struct log_source *source = reader->indexes[i].source;
		char *path;
		int ret;

		if (reader->index_watched[i])
			continue;
		path = log_index_path(reader->folder, source->type,
				      source->index);
		ret = file_watch_add(reader->watch, path,
				     IN_MODIFY | IN_CLOSE_WRITE);
		free(path);
		if (ret >= 0) {
			reader->index_watched[i] = true;
		} else if (errno == ENOSPC) { /* the user's limit on watches */
			reader->all_watched =
				file_watch_add(reader->watch, logs,
					       IN_CREATE | IN_MOVED_TO |
						       IN_MODIFY) >= 0;
			break;
		}
	}
}

/* Discards pending events before the files are read, and watches new files
 * too. */
static int watch_update(struct log_reader *reader, struct error *err)
{
	char events[4096];
	char *logs = log_folder_path(reader->folder);
	int ret = -1;

	while (read(reader->watch, events, sizeof(events)) > 0)
		;
	if (!reader->logs_watched) {
		reader->logs_watched =
			file_watch_add(reader->watch, logs,
				       IN_CREATE | IN_MOVED_TO) >= 0;
		if (!reader->logs_watched && errno != ENOENT) {
			error_errno(err, "cannot watch '%s'", logs);
			goto out;
		}
	}
	if (reader->logs_watched)
		watch_indexes(reader, logs);
	ret = 0;
out:
	free(logs);
	return ret;
}

int log_reader_watch(struct log_reader *reader, struct error *err)
{
	if (reader->watch >= 0)
		return reader->watch;
	reader->watch = file_watch_new();
	if (reader->watch < 0)
		return error_errno(err, "cannot watch '%s'", reader->folder);
	/* Watch the parent first: the folder of logs may appear at this
	 * moment. */
	if (file_watch_add(reader->watch, reader->folder, IN_CREATE) < 0) {
		error_errno(err, "cannot watch '%s'", reader->folder);
		goto fail;
	}
	if (watch_update(reader, err) < 0)
		goto fail;
	return reader->watch;
fail:
	close(reader->watch);
	reader->watch = -1;
	return -1;
}
