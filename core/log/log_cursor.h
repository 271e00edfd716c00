/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A place in one stream of one task, moving from line to line.  It knows
 * nothing of other tasks and filters nothing: that is log_read.c.
 */
#ifndef JOBRUN_LOG_CURSOR_H
#define JOBRUN_LOG_CURSOR_H

#include "core/log/log_file.h"

#define LOG_RECORDS 256 /* of the index, read at once */

/* Shared by the two streams of a task. */
struct log_index {
	const char *folder; /* of the run */
	const struct log_source *source;
	int fd;           /* -1: not there yet */
	uint64_t records; /* that there are, as of this step */
	int64_t last_ms;  /* the time of the last; see log_index_end() */
};

struct log_cursor {
	struct log_index *index;
	size_t chunk;         /* how much is read at once */
	bool split;           /* at '\r' too */
	struct log_line line; /* the next one, if `ready` */
	uint64_t line_record; /* the record of its first byte */
	bool ready;

	/* The raw file. */
	enum log_stream stream;
	int fd;        /* -1: not opened yet */
	bool measured; /* in this step: `size` */
	uint64_t size;
	int64_t changed_ms; /* when it was last written to */
	/* Offsets into it: start <= scan <= piece, scan <= have. */
	uint64_t start; /* of the line that is being looked for the end of */
	uint64_t scan;  /* there is no newline from `start` to here */
	uint64_t piece; /* the end of the piece that `scan` is in */
	uint64_t have;  /* the end of what is in `data` */
	uint64_t plain; /* from `start` to here lines are plain */
	uint64_t ahead; /* bytes given, with `ended`, before their record */
	uint64_t lost;  /* to be given next */
	int64_t lost_ms;
	int64_t start_ms;      /* the time of the piece that `start` is in */
	uint64_t start_record; /* its record */
	int64_t piece_ms;      /* the same of the piece that `scan` is in */
	uint64_t piece_record;
	bool middle; /* `start` is not where its line starts */
	bool rest;   /* neither, as a piece of it was given */

	char *data; /* what the raw file has from `base` */
	uint64_t base;
	size_t room;

	/* The index. */
	uint64_t next; /* the next record to look at */
	struct log_record records[LOG_RECORDS];
	uint64_t records_first;
	size_t records_count;
};

/* Opens the index if it is there now, and sees how far it goes.  A cursor
 * looks no further until it is called again. */
int log_index_look(struct log_index *index, struct error *err);
/* Finds `last_ms`, for cursors that are moved with `ended`. */
int log_index_end(struct log_index *index, struct error *err);

void log_cursor_init(struct log_cursor *cursor, struct log_index *index,
		     enum log_stream stream, size_t chunk);
void log_cursor_done(struct log_cursor *cursor);
/* From now on '\r' ends a line, too: what is wanted is the state of a progress
 * bar, long before its line ends. */
void log_cursor_split(struct log_cursor *cursor);

/* To be called once before the lines of a step are taken, and after. */
void log_cursor_begin(struct log_cursor *cursor);
void log_cursor_end(struct log_cursor *cursor);

/*
 * Finds the next line and says in `ready` whether there is one; `line` is
 * valid until the next call.  `ended`: what has no newline is a line, and
 * what has no record is shown.
 */
int log_cursor_next(struct log_cursor *cursor, bool ended, struct error *err);

/* The start of a line that has no end yet; false: there is none. */
bool log_cursor_open_line(const struct log_cursor *cursor,
			  struct log_line *out);

/*
 * Gives the sink the lines after the one in `line` that are of the same piece
 * and in memory, until it has set `stop`: a short way for what most lines
 * are.  log_cursor_next() finds the one after them.
 */
void log_cursor_give(struct log_cursor *cursor, const bool *stop,
		     log_sink *sink, void *arg);

/* The same, of all of them at once, if there is one. */
void log_cursor_give_block(struct log_cursor *cursor, log_block_sink *sink,
			   void *arg);

/*
 * Goes to the first line that starts at `offset` or later, in a piece that is
 * not older than `since_ms`.
 */
int log_cursor_seek(struct log_cursor *cursor, uint64_t offset,
		    int64_t since_ms, struct error *err);

/* How many bytes of the raw file there are, as of this step. */
int log_cursor_size(struct log_cursor *cursor, uint64_t *size,
		    struct error *err);

#endif
