/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A position in one stream of one task that moves from line to line.  It knows
 * nothing of other tasks and does not filter: log_read.c does.
 */
#ifndef JOBRUN_LOG_CURSOR_H
#define JOBRUN_LOG_CURSOR_H

#include "core/log/log_file.h"

#define LOG_RECORDS 256 /* records of the index read at once */

/* Shared by the two streams of a task. */
struct log_index {
	const char *folder; /* of the run */
	const struct log_source *source;
	int fd;           /* -1: does not exist yet */
	uint64_t records; /* the number of records, as of this step */
	int64_t last_ms;  /* the time of the last record; see log_index_end() */
};

struct log_cursor {
	struct log_index *index;
	size_t chunk;         /* how much is read at once */
	bool split;           /* lines also end at '\r' */
	struct log_line line; /* the next line, if `ready` */
	uint64_t line_record; /* the record of its first byte */
	bool ready;

	/* The raw file. */
	enum log_stream stream;
	int fd;        /* -1: not open yet */
	bool measured; /* `size` is known for this step */
	uint64_t size;
	int64_t changed_ms; /* when it was last written */
	/* Offsets into it: start <= scan <= piece, scan <= have. */
	uint64_t start; /* of the line whose end is being searched */
	uint64_t scan;  /* no newline between `start` and here */
	uint64_t piece; /* the end of the piece with `scan` */
	uint64_t have;  /* the end of the contents of `data` */
	uint64_t plain; /* lines from `start` to here are plain */
	uint64_t ahead; /* with `ended`: bytes delivered before their record */
	uint64_t lost;  /* lost bytes to report next */
	int64_t lost_ms;
	int64_t start_ms;      /* the time of the piece with `start` */
	uint64_t start_record; /* its record */
	int64_t piece_ms;      /* the time of the piece with `scan` */
	uint64_t piece_record;
	bool middle; /* `start` is inside its line */
	/* `start` is inside, and a piece of the line was delivered */
	bool rest;

	char *data; /* the raw file from `base` on */
	uint64_t base;
	size_t room;

	/* The index. */
	uint64_t next; /* the next record to look at */
	struct log_record records[LOG_RECORDS];
	uint64_t records_first;
	size_t records_count;
};

/* Opens the index if it exists, and reads its length.  A cursor looks no
 * further until the next call. */
int log_index_look(struct log_index *index, struct error *err);
/* Finds `last_ms`, for cursors that move with `ended`. */
int log_index_end(struct log_index *index, struct error *err);

void log_cursor_init(struct log_cursor *cursor, struct log_index *index,
		     enum log_stream stream, size_t chunk);
void log_cursor_done(struct log_cursor *cursor);
/* From now on '\r' also ends a line, to see the state of a progress bar long
 * before its line ends. */
void log_cursor_split(struct log_cursor *cursor);

/* To be called before and after taking the lines of a step. */
void log_cursor_begin(struct log_cursor *cursor);
void log_cursor_end(struct log_cursor *cursor);

/*
 * Finds the next line and sets `ready` if there is one; `line` is valid until
 * the next call.  `ended`: a rest without a newline is a line, and data without
 * a record is shown.
 */
int log_cursor_next(struct log_cursor *cursor, bool ended, struct error *err);

/* The start of a line that has no end yet; false if there is none. */
bool log_cursor_open_line(const struct log_cursor *cursor,
			  struct log_line *out);

/*
 * Passes to the sink the lines after `line` that are in the same piece and in
 * memory, until the sink sets `stop`: a fast path for most lines.
 * log_cursor_next() finds the line after them.
 */
void log_cursor_give(struct log_cursor *cursor, const bool *stop,
		     log_sink *sink, void *arg);

/* The same in one call for all of these lines, if there are any. */
void log_cursor_give_block(struct log_cursor *cursor, log_block_sink *sink,
			   void *arg);

/*
 * Moves to the first line that starts at `offset` or later, in a piece not
 * older than `since_ms`.
 */
int log_cursor_seek(struct log_cursor *cursor, uint64_t offset,
		    int64_t since_ms, struct error *err);

/* The size of the raw file, as of this step. */
int log_cursor_size(struct log_cursor *cursor, uint64_t *size,
		    struct error *err);

#endif
