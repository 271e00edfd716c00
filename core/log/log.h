/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of tasks: written by the process that owns a run, read by any
 * number of others at the same time, while it is written or years later.
 * Writer and readers share nothing but files, so that a slow terminal never
 * holds up a trainer.  In the folder of a run, for each task:
 *
 *	logs/worker-1.stdout	what it wrote, byte for byte
 *	logs/worker-1.stderr
 *	logs/worker-1.index	when: one record of 16 bytes per piece
 *				{ int64 time_ms; uint32 len; uint32 kind }
 *				in the machine's byte order, appended after
 *				the piece itself; see log_file.h
 *
 * A line is what ends in '\n', or what is left at the end of a stream.  It
 * has the time of its first byte.  Lines are never torn, lost or reordered
 * within a stream (but a long one is given in pieces, so that memory does not
 * follow the longest); those of several tasks are merged by time.
 */
#ifndef JOBRUN_LOG_H
#define JOBRUN_LOG_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/buf.h"
#include "core/base/error.h"

/* Bytes of a line that is given whole; a longer one comes in pieces. */
#define LOG_LINE_MAX ((uint64_t)64 << 10)
/* Stands where a piece of a line was cut off, and where the next begins. */
#define LOG_LINE_CUT "…"

enum log_stream {
	LOG_STDOUT,
	LOG_STDERR,
};

/* Writing: one per task. */
struct log_writer;

/*
 * Makes `folder`/logs if needed; the files in it with the first byte of their
 * streams.  Files that are there are added to; what a killed writer has left
 * unindexed gets its record.
 */
struct log_writer *log_writer_open(const char *folder, const char *type,
				   int index, struct error *err);
/*
 * Adds a piece as it came from the task.  Where the disk is full the piece is
 * counted as lost and noted in the index as soon as that is possible: the
 * task never notices.  Where the size of files is limited (RLIMIT_FSIZE) the
 * process must ignore SIGXFSZ.
 */
void log_writer_add(struct log_writer *writer, enum log_stream stream,
		    const void *data, size_t len, int64_t time_ms);
/*
 * The same for what is in a pipe, at most `limit` bytes, without copying it
 * through this process where the system can.  Returns as read() does: how
 * many, 0 at the end, -1 with errno EAGAIN if there are none now.
 */
ssize_t log_writer_take(struct log_writer *writer, enum log_stream stream,
			int fd, size_t limit, int64_t time_ms);
uint64_t log_writer_lost(const struct log_writer *writer); /* bytes; NULL: 0 */
/* For output that was lost before it came here. */
void log_writer_lose(struct log_writer *writer, enum log_stream stream,
		     uint64_t len, int64_t time_ms);
/* How much of a stream there was so far, what was lost included: where one
 * goes on that has it all. */
uint64_t log_writer_position(const struct log_writer *writer,
			     enum log_stream stream);
void log_writer_close(struct log_writer *writer); /* NULL does nothing */

/* Reading: one for all tasks of a run that are wanted. */
struct log_source {
	const char *type;
	int index;
	int ordinal;      /* its place in the run's list of tasks */
	const char *host; /* the address that its lines show */
};

struct log_filter {
	const regex_t *grep; /* NULL: all lines */
	int64_t since_ms;    /* 0: from the start */
	size_t tail;         /* the last so many lines of what is there when
			      * reading starts; SIZE_MAX: all */
	bool states;         /* each state of a line that is rewritten by '\r'
			      * as a line of its own, as soon as it is there */
};

struct log_line {
	const struct log_source *source;
	enum log_stream stream;
	int64_t time_ms;
	const char *text; /* without its '\n'; may hold any bytes */
	size_t len;
	bool plain;    /* it is known that there is no '\r', '\b' or escape
			* in it */
	bool more;     /* it is a piece: the line goes on */
	bool rest;     /* it is the next piece of a line */
	uint64_t lost; /* not 0: so many bytes were lost here; no text */
};

typedef void log_sink(void *arg, const struct log_line *line);

/*
 * Takes many lines at once: they share source, stream and time.  The text of
 * `lines` is all of them, each with its '\n', and can be read LOG_SLACK bytes
 * beyond its end.
 */
typedef void log_block_sink(void *arg, const struct log_line *lines);
#define LOG_SLACK 64

struct log_reader;

/* Called once for each source that has a log, before its first line is given:
 * only then may it be known where a task runs that a scheduler has placed. */
typedef void log_found(void *arg, const struct log_source *source);

/* Borrows sources and filter (NULL: every line).  Tasks that have written
 * nothing yet are no error: they are looked for again at each step. */
struct log_reader *log_reader_open(const char *folder,
				   const struct log_source *sources,
				   size_t count,
				   const struct log_filter *filter,
				   struct error *err);
void log_reader_close(struct log_reader *reader);

/* To be said before the first step. */
void log_reader_tell_found(struct log_reader *reader, log_found *found,
			   void *arg);

/*
 * Gives every line that is complete and was not given yet to the sink, the
 * oldest first.  With `ended`, the run is over: what is left without a
 * newline is given too.  Reads only what is new.
 */
int log_reader_step(struct log_reader *reader, bool ended, log_sink *sink,
		    void *arg, struct error *err);

/* From now on lines that come together and need no filter are given to this
 * sink, with the argument of the step; the others as before. */
void log_reader_take_blocks(struct log_reader *reader, log_block_sink *sink);

/*
 * Gives the sink, for each stream, what its last line has so far, as the last
 * step has read it: of no bytes if there is none.  Valid until the next step,
 * which gives the whole line if it has ended.
 */
void log_reader_open_lines(struct log_reader *reader, log_sink *sink,
			   void *arg);

/* For a sink that wants no more (its output is closed): the step under way
 * returns after this line.  A later one goes on with the next. */
void log_reader_stop(struct log_reader *reader);

/*
 * A descriptor that is readable when a step may find something new (inotify
 * on the folder).  Borrowed.  -1 with `err` set if there is none to be had.
 * Ask for it before the first step: it says nothing of what was there.
 */
int log_reader_watch(struct log_reader *reader, struct error *err);

/*
 * The last `count` lines that a task wrote to a stream, as a terminal would show
 * them but without colours, with newlines ("" if there are none); for error messages.  Reads only the
 * end: at most the last 64 kB, so that the first line may be cut.
 */
int log_last_lines(const char *folder, const char *type, int index,
		   enum log_stream stream, size_t count, struct buf *out,
		   struct error *err);

enum log_prefix {
	LOG_PREFIX_HOST, /* "10.164.0.109 [1] " */
	LOG_PREFIX_TASK, /* "worker 0 | " */
	LOG_PREFIX_NONE,
};

enum log_time {
	LOG_TIME_LOCAL,    /* "2020-08-06 02:38:57 " */
	LOG_TIME_UTC,      /* "2020-08-06 00:38:57Z " */
	LOG_TIME_RELATIVE, /* "0:01:23 " */
	LOG_TIME_NONE,
};

/* Zeroed, as PyTorch/XLA's launcher printed lines:
 *	2020-08-06 02:38:57 10.164.0.109 [1] | Training Device=xla:0/14 Epoch=1
 */
struct log_style {
	enum log_prefix prefix;
	enum log_time time;
	int64_t from_ms; /* for relative times */
	const char *job; /* said with the task; or NULL */
	bool color;      /* the prefix has the colour of its task */
	bool terminal;   /* may obey what it is given: only text and colours */
};

/*
 * Appends lines with their prefix, as they are at last: what rewrites itself as
 * a terminal would show it (core/log/log_screen.h).  Borrows what the style
 * names; the sources of the lines must outlive it.
 */
struct log_printer;

struct log_printer *log_printer_new(const struct log_style *style);
void log_printer_free(struct log_printer *printer);
void log_printer_add(struct log_printer *printer, const struct log_line *line,
		     struct buf *out);
void log_printer_add_block(struct log_printer *printer,
			   const struct log_line *lines, struct buf *out);
/* Adds the lines that a stream has open, `open` being what the reader has of
 * the last: as they would be now, each cut to `width` columns (0: whole).  None
 * that began after `before_ms`. */
void log_printer_look(struct log_printer *printer, const struct log_line *open,
		      size_t width, int64_t before_ms, struct buf *out);
/* Adds what was still open: no more comes. */
void log_printer_end(struct log_printer *printer, struct buf *out);

#endif
