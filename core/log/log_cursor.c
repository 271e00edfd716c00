/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The raw file is read in large blocks, whatever the size of the pieces.  Only
 * data covered by the index is used, because the writer may take back anything
 * after it.
 */
#include "core/log/log_cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"

#define RECORD_SIZE sizeof(struct log_record)

int log_index_look(struct log_index *index, struct error *err)
{
	const struct log_source *source = index->source;
	struct stat st;

	if (index->fd < 0) {
		char *path = log_index_path(index->folder, source->type,
					    source->index);

		index->fd = open(path, O_RDONLY | O_CLOEXEC);
		if (index->fd < 0 && errno != ENOENT && errno != ENOTDIR)
			error_errno(err, "cannot open '%s'", path);
		else
			errno = 0;
		free(path);
		if (index->fd < 0)
			return errno ? -1 : 0;
	}
	if (fstat(index->fd, &st) < 0)
		return error_errno(err, "cannot read the index of %s %d",
				   source->type, source->index);
	index->records = (uint64_t)st.st_size / RECORD_SIZE;
	return 0;
}

int log_index_end(struct log_index *index, struct error *err)
{
	struct log_record last;
	int64_t n;

	if (!index->records)
		return 0;
	n = log_pread(index->fd, &last, RECORD_SIZE,
		      (index->records - 1) * RECORD_SIZE);
	if (n < 0)
		return error_errno(err, "cannot read the index of %s %d",
				   index->source->type, index->source->index);
	if (n == (int64_t)RECORD_SIZE)
		index->last_ms = last.time_ms;
	return 0;
}

void log_cursor_init(struct log_cursor *cursor, struct log_index *index,
		     enum log_stream stream, size_t chunk)
{
	*cursor = (struct log_cursor){
		.index = index, .stream = stream, .chunk = chunk, .fd = -1
	};
}

void log_cursor_split(struct log_cursor *cursor)
{
	cursor->split = true;
}

void log_cursor_done(struct log_cursor *cursor)
{
	if (cursor->fd >= 0)
		close(cursor->fd);
	free(cursor->data);
}

void log_cursor_begin(struct log_cursor *cursor)
{
	cursor->measured = false;
}

void log_cursor_end(struct log_cursor *cursor)
{
	/* Bytes without an index record may change until the next time. */
	if (cursor->have > cursor->piece)
		cursor->have = cursor->piece;
	if (cursor->plain > cursor->have)
		cursor->plain = cursor->have;
	if (cursor->ready || cursor->start < cursor->have)
		return;
	if (cursor->room > cursor->chunk * 4) { /* a huge line has passed */
		free(cursor->data);
		cursor->data = NULL;
		cursor->room = 0;
	}
}

int log_cursor_size(struct log_cursor *cursor, uint64_t *size,
		    struct error *err)
{
	const struct log_source *source = cursor->index->source;
	struct stat st;
	char *path;
	int ret = -1;

	*size = cursor->size;
	if (cursor->measured)
		return 0;
	path = log_stream_path(cursor->index->folder, source->type,
			       source->index, cursor->stream);
	if (cursor->fd < 0)
		cursor->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (cursor->fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		cursor->measured = true; /* removed: nothing to show */
		ret = 0;
		goto out;
	}
	if (cursor->fd < 0 || fstat(cursor->fd, &st) < 0) {
		error_errno(err, "cannot open '%s'", path);
		goto out;
	}
	cursor->size = (uint64_t)st.st_size;
	cursor->changed_ms = (int64_t)st.st_mtim.tv_sec * 1000 +
			     st.st_mtim.tv_nsec / 1000000;
	cursor->measured = true;
	*size = cursor->size;
	ret = 0;
out:
	free(path);
	return ret;
}

/* The next record of the index, of either stream; NULL: no more records, or an
 * error. */
static const struct log_record *record_next(struct log_cursor *cursor,
					    int *failed, struct error *err)
{
	struct log_index *index = cursor->index;
	uint64_t i = cursor->next - cursor->records_first;
	uint64_t left;
	int64_t n;

	if (cursor->next >= index->records)
		return NULL;
	if (cursor->next < cursor->records_first ||
	    i >= cursor->records_count) {
		left = index->records - cursor->next;
		if (left > LOG_RECORDS)
			left = LOG_RECORDS;
		n = log_pread(index->fd, cursor->records, left * RECORD_SIZE,
			      cursor->next * RECORD_SIZE);
		if (n < 0) {
			*failed = error_errno(
				err, "cannot read the index of %s %d",
				index->source->type, index->source->index);
			return NULL;
		}
		cursor->records_first = cursor->next;
		cursor->records_count = (size_t)n / RECORD_SIZE;
		i = 0;
		if (!cursor->records_count)
			return NULL;
	}
	cursor->next++;
	return &cursor->records[i];
}

/* Advances to the next record of this stream that has a meaning, and returns it
 * with `len` limited to the existing bytes. */
static bool piece_next(struct log_cursor *cursor, struct log_record *out,
		       int *failed, struct error *err)
{
	const struct log_record *record;
	uint64_t size, most;

	while ((record = record_next(cursor, failed, err))) {
		if (!record->len)
			continue;
		*out = *record;
		if (out->kind == (cursor->stream | LOG_KIND_LOST))
			return true;
		if (out->kind != cursor->stream)
			continue;
		if (log_cursor_size(cursor, &size, err) < 0) {
			cursor->next--;
			*failed = -1;
			return false;
		}
		if (cursor->ahead) { /* given already */
			most = cursor->ahead < out->len ? cursor->ahead
							: out->len;
			cursor->ahead -= most;
			out->len -= (uint32_t)most;
		}
		/* An index may claim more bytes than exist. */
		most = size > cursor->piece ? size - cursor->piece : 0;
		if (out->len > most)
			out->len = (uint32_t)most;
		if (out->len)
			return true;
	}
	return false;
}

static int fill(struct log_cursor *cursor, struct error *err)
{
	uint64_t keep = cursor->have - cursor->start;
	uint64_t most = cursor->size - cursor->have;
	uint64_t want = most;
	int64_t n;

	if (want > cursor->chunk)
		want = cursor->chunk;
	/* Ensures that at least half of the buffer is free, so that an ever
	 * growing line is moved only a few times. */
	if (!cursor->data || keep + want > cursor->room ||
	    keep > cursor->room / 2) {
		size_t room = cursor->room ? cursor->room : 4096;

		while (room < keep + want || room < keep * 2)
			room *= 2;
		if (room != cursor->room)
			cursor->data =
				mem_grow(cursor->data, room + LOG_SLACK, 1);
		cursor->room = room;
	}
	if (cursor->base != cursor->start) {
		if (keep)
			memmove(cursor->data,
				cursor->data + (cursor->start - cursor->base),
				keep);
		cursor->base = cursor->start;
	}
	if (most > cursor->room - keep)
		most = cursor->room - keep;
	n = log_pread(cursor->fd, cursor->data + keep, most, cursor->have);
	if (n < 0)
		return error_errno(err, "cannot read the output of %s %d",
				   cursor->index->source->type,
				   cursor->index->source->index);
	cursor->have += (uint64_t)n;
	if (n == 0) { /* someone has truncated it */
		cursor->size = cursor->have;
		cursor->piece = cursor->have;
	}
	return 0;
}

/* The first byte with which a line may rewrite itself; NULL: none. */
static const char *find_special(const char *p, size_t len)
{
	const char *found = NULL;

	for (const char *c = "\r\b\033"; *c; c++) {
		const char *at = memchr(p, *c, len);

		if (at) {
			found = at;
			len = (size_t)(at - p);
		}
	}
	return found;
}

/* Checks whether the line from `start` to `end` is plain; if so, checks all
 * lines read so far at once. */
static void look_plain(struct log_cursor *cursor, uint64_t end)
{
	const char *p, *stop;

	if (cursor->plain < cursor->start)
		cursor->plain = cursor->start;
	p = cursor->data + (cursor->plain - cursor->base);
	stop = find_special(p, end - cursor->plain);
	if (!stop)
		stop = find_special(cursor->data + (end - cursor->base),
				    cursor->have - end);
	cursor->plain = stop ? cursor->base + (uint64_t)(stop - cursor->data)
			     : cursor->have;
}

/* Moves to the start of a line in the scanned piece. */
static void go_on(struct log_cursor *cursor, uint64_t start)
{
	cursor->start = start;
	cursor->start_ms = cursor->piece_ms;
	cursor->start_record = cursor->piece_record;
	cursor->scan = start;
}

/* Makes a line of the bytes from `start` to `end`, and moves to `next`. */
static void line_set(struct log_cursor *cursor, uint64_t end, uint64_t next)
{
	if (end > cursor->plain)
		look_plain(cursor, end);
	cursor->line.plain = end <= cursor->plain;
	cursor->line.text = cursor->data + (cursor->start - cursor->base);
	cursor->line.len = end - cursor->start;
	cursor->line.time_ms = cursor->start_ms;
	cursor->line.lost = 0;
	cursor->line.more = false;
	cursor->line.rest = cursor->rest;
	cursor->rest = false;
	cursor->line_record = cursor->start_record;
	go_on(cursor, next);
	cursor->ready = true;
}

/* Makes a line of the first piece of a long line, in whole characters. */
static void piece_set(struct log_cursor *cursor)
{
	uint64_t end = cursor->start + LOG_LINE_MAX;
	const char *p = cursor->data + (end - cursor->base);
	int n = 0;

	while (n < 3 && ((unsigned char)p[-n] & 0xc0) == 0x80)
		n++;
	if (((unsigned char)p[-n] & 0xc0) == 0xc0)
		end -= (uint64_t)n;
	line_set(cursor, end, end);
	cursor->line.more = true;
	cursor->rest = true;
}

/* The rest from `start` of its piece that is in memory; false if that needs a
 * closer look. */
static bool rest_of_piece(const struct log_cursor *cursor, const char **from,
			  const char **to)
{
	uint64_t last =
		cursor->piece < cursor->have ? cursor->piece : cursor->have;

	if (cursor->scan >= last || cursor->lost || cursor->middle ||
	    cursor->rest)
		return false;
	*from = cursor->data + (cursor->start - cursor->base);
	*to = cursor->data + (last - cursor->base);
	return true;
}

/* The end of the part known to contain no '\r'. */
static const char *plain_end(const struct log_cursor *cursor)
{
	return cursor->plain > cursor->base
		       ? cursor->data + (cursor->plain - cursor->base)
		       : cursor->data;
}

/* The end of the line at `p`, or NULL if it is not in these bytes. */
static const char *line_end(const struct log_cursor *cursor, const char *p,
			    size_t len)
{
	const char *end = p + len;

	if (!cursor->split)
		return memchr(p, '\n', len);
	while (p < end && *p != '\n' && *p != '\r')
		p++;
	return p < end ? p : NULL;
}

void log_cursor_give(struct log_cursor *cursor, const bool *stop,
		     log_sink *sink, void *arg)
{
	struct log_line line = cursor->line;
	const char *p, *end, *next;
	const char *plain = plain_end(cursor);

	if (!rest_of_piece(cursor, &p, &end))
		return;
	line.time_ms = cursor->piece_ms;
	line.lost = 0;
	line.rest = line.more = false;
	while (p < end && !*stop) {
		next = line_end(cursor, p, (size_t)(end - p));
		if (!next || (uint64_t)(next - p) > LOG_LINE_MAX)
			break;
		line.text = p;
		line.len = (size_t)(next - p);
		line.plain = next <= plain;
		sink(arg, &line);
		p = next + 1;
	}
	go_on(cursor, cursor->base + (uint64_t)(p - cursor->data));
}

void log_cursor_give_block(struct log_cursor *cursor, log_block_sink *sink,
			   void *arg)
{
	struct log_line lines = cursor->line;
	const char *p, *end;

	if (!rest_of_piece(cursor, &p, &end))
		return;
	/* Then no line is too long. */
	if ((uint64_t)(end - p) > LOG_LINE_MAX)
		end = p + LOG_LINE_MAX;
	end = memrchr(p, '\n', (size_t)(end - p));
	if (!end)
		return;
	lines.time_ms = cursor->piece_ms;
	lines.lost = 0;
	lines.rest = lines.more = false;
	lines.text = p;
	lines.len = (size_t)(end + 1 - p);
	lines.plain = end <= plain_end(cursor);
	sink(arg, &lines);
	go_on(cursor, cursor->base + (uint64_t)(end + 1 - cursor->data));
}

bool log_cursor_open_line(const struct log_cursor *cursor, struct log_line *out)
{
	if (cursor->ready || cursor->middle || cursor->start == cursor->scan)
		return false;
	*out = cursor->line;
	out->text = cursor->data + (cursor->start - cursor->base);
	out->len = cursor->scan - cursor->start;
	out->time_ms = cursor->start_ms;
	out->plain = false;
	out->lost = 0;
	out->rest = cursor->rest;
	out->more = false;
	return true;
}

static void lost_set(struct log_cursor *cursor)
{
	cursor->line.text = "";
	cursor->line.len = 0;
	cursor->line.time_ms = cursor->lost_ms;
	cursor->line.lost = cursor->lost;
	cursor->line.rest = cursor->line.more = false;
	cursor->line_record = cursor->next - 1;
	cursor->lost = 0;
	cursor->ready = true;
}

/* Moves to the next piece, or makes a line of a rest without a newline. */
static int advance(struct log_cursor *cursor, bool ended, bool *stuck,
		   struct error *err)
{
	struct log_record piece = { 0 };
	uint64_t size;
	int failed = 0;

	if (piece_next(cursor, &piece, &failed, err)) {
		if (piece.kind & LOG_KIND_LOST) {
			cursor->lost = piece.len;
			cursor->lost_ms = piece.time_ms;
			/* First return the line that was cut off. */
			if (cursor->start < cursor->scan)
				line_set(cursor, cursor->scan, cursor->scan);
			return 0;
		}
	} else if (failed) {
		return -1;
	} else {
		*stuck = !ended;
		if (!ended || log_cursor_size(cursor, &size, err) < 0)
			return ended ? -1 : 0;
		if (size <= cursor->piece) {
			*stuck = true;
			if (cursor->start < cursor->scan)
				line_set(cursor, cursor->scan, cursor->scan);
			return 0;
		}
		/* Nobody will write this record any more. */
		piece.time_ms = cursor->index->records ? cursor->index->last_ms
						       : cursor->changed_ms;
		piece.len = UINT32_MAX;
		if (size - cursor->piece < piece.len)
			piece.len = (uint32_t)(size - cursor->piece);
		cursor->ahead += piece.len;
	}
	cursor->piece += piece.len;
	cursor->piece_ms = piece.time_ms;
	cursor->piece_record = cursor->next - 1;
	if (cursor->start == cursor->scan) {
		cursor->start_ms = cursor->piece_ms;
		cursor->start_record = cursor->piece_record;
	}
	return 0;
}

static int find(struct log_cursor *cursor, bool ended, struct error *err)
{
	bool stuck = false;
	const char *p, *stop;
	uint64_t end;

	while (!cursor->ready) {
		if (cursor->lost) {
			lost_set(cursor);
			break;
		}
		if (cursor->scan == cursor->piece) {
			if (stuck)
				break;
			if (advance(cursor, ended, &stuck, err) < 0)
				return -1;
			continue;
		}
		if (cursor->scan == cursor->have) {
			if (fill(cursor, err) < 0)
				return -1;
			continue;
		}
		end = cursor->piece < cursor->have ? cursor->piece
						   : cursor->have;
		p = cursor->data + (cursor->scan - cursor->base);
		stop = line_end(cursor, p, end - cursor->scan);
		if (stop)
			end = cursor->scan + (uint64_t)(stop - p);
		if (end - cursor->start > LOG_LINE_MAX)
			piece_set(cursor);
		else if (stop)
			line_set(cursor, end, end + 1);
		else
			cursor->scan = end;
	}
	return 0;
}

int log_cursor_next(struct log_cursor *cursor, bool ended, struct error *err)
{
	cursor->ready = false;
	do {
		if (find(cursor, ended, err) < 0)
			return -1;
		if (!cursor->middle || !cursor->ready)
			return 0;
		/* Skip the rest of a line, or of a piece of it, that started
		 * before the position sought, when its end comes. */
		cursor->middle = false;
		if (cursor->line.lost)
			return 0;
		cursor->ready = false;
	} while (true);
}

/* Whether a line starts at `offset`, judging by the raw file. */
static int is_line_start(struct log_cursor *cursor, uint64_t offset, bool *yes,
			 struct error *err)
{
	char before = '\n';

	if (offset && cursor->fd >= 0 &&
	    log_pread(cursor->fd, &before, 1, offset - 1) < 0)
		return error_errno(err, "cannot read the output of %s %d",
				   cursor->index->source->type,
				   cursor->index->source->index);
	*yes = before == '\n';
	return 0;
}

int log_cursor_seek(struct log_cursor *cursor, uint64_t offset,
		    int64_t since_ms, struct error *err)
{
	struct log_record piece = { 0 };
	uint64_t at = 0; /* the offset of the piece */
	bool after_loss = true;
	bool found = false;
	bool yes = true;
	int failed = 0;

	cursor->next = 0;
	cursor->piece = 0;
	cursor->ahead = 0;
	cursor->lost = 0;
	cursor->ready = false;
	while (!found && piece_next(cursor, &piece, &failed, err)) {
		found = piece.time_ms >= since_ms;
		if (piece.kind & LOG_KIND_LOST) {
			found = found && cursor->piece >= offset;
			if (!found)
				after_loss = true;
			continue;
		}
		found = found && cursor->piece + piece.len > offset;
		at = cursor->piece;
		cursor->piece += piece.len;
		if (!found)
			after_loss = false;
	}
	if (failed)
		return -1;
	if (!found || (piece.kind & LOG_KIND_LOST)) {
		at = cursor->piece;
		if (found)
			cursor->next--; /* a line is ready */
	}
	cursor->start = at;
	if (found && !(piece.kind & LOG_KIND_LOST) && offset > at) {
		cursor->start = offset;
		after_loss = false;
	}
	if (!after_loss && is_line_start(cursor, cursor->start, &yes, err) < 0)
		return -1;
	cursor->middle = !yes;
	cursor->rest = false;
	cursor->scan = cursor->start;
	cursor->have = cursor->start;
	cursor->base = cursor->start;
	cursor->plain = cursor->start;
	cursor->piece_ms = piece.time_ms;
	cursor->piece_record = cursor->next - 1;
	cursor->start_ms = cursor->piece_ms;
	cursor->start_record = cursor->piece_record;
	return 0;
}
