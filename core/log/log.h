/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of tasks: written by the process that owns a run, and read by any
 * number of others at the same time, while it is written or years later.
 * Writer and readers share only files, so a slow terminal never holds up a
 * trainer.  In the folder of a run, for each task:
 *
 *	logs/worker-1.stdout	its output, byte for byte
 *	logs/worker-1.stderr
 *	logs/worker-1.index	when: one record of 16 bytes per piece
 *				{ int64 time_ms; uint32 len; uint32 kind }
 *				in the machine's byte order, appended after
 *				the piece itself; see log_file.h
 *
 * A line ends in '\n' or with the end of its stream, and has the time of its
 * first byte.  Within a stream, lines are never torn, lost or reordered, but a
 * long line is delivered in pieces, so that memory does not grow with it.
 * Lines of several tasks are merged by time.
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

/* The most bytes of a line delivered whole; a longer one comes in pieces. */
#define LOG_LINE_MAX ((uint64_t)64 << 10)
/* Marks where a piece of a line was cut off, and where the next begins. */
#define LOG_LINE_CUT "…"

enum log_stream {
	LOG_STDOUT,
	LOG_STDERR,
};

/* Writing: one per task. */
struct log_writer;

/*
 * Makes `folder`/logs if needed; each file appears with the first byte of its
 * stream.  Existing files are appended to; data that a killed writer left
 * unindexed gets its record.
 */
struct log_writer *log_writer_open(const char *folder, const char *type,
				   int index, struct error *err);
/*
 * Adds a piece as it came from the task.  If the disk is full, the piece is
 * counted as lost, which the index notes as soon as possible; the task never
 * notices.  If the file size is limited (RLIMIT_FSIZE), the process must ignore
 * SIGXFSZ.
 */
void log_writer_add(struct log_writer *writer, enum log_stream stream,
		    const void *data, size_t len, int64_t time_ms);
/*
 * Adds what is in a pipe, at most `limit` bytes, where possible without copying
 * it through this process.  Returns as read() does: the number of bytes, 0 at
 * the end, -1 with errno EAGAIN if none are available.
 */
ssize_t log_writer_take(struct log_writer *writer, enum log_stream stream,
			int fd, size_t limit, int64_t time_ms);
uint64_t log_writer_lost(const struct log_writer *writer); /* bytes; NULL: 0 */
/* Records output that was lost before it reached the writer. */
void log_writer_lose(struct log_writer *writer, enum log_stream stream,
		     uint64_t len, int64_t time_ms);
/* The length of a stream so far, including lost bytes: where a sender that has
 * everything continues. */
uint64_t log_writer_position(const struct log_writer *writer,
			     enum log_stream stream);
void log_writer_close(struct log_writer *writer); /* accepts NULL */

/* Reading: one per task of the run that is to be read. */
struct log_source {
	const char *type;
	int index;
	int ordinal;      /* its index in the run's list of tasks */
	const char *host; /* the address shown on its lines */
};

struct log_filter {
	const regex_t *grep; /* NULL: all lines */
	int64_t since_ms;    /* 0: from the start */
	/* only the last so many lines present when reading starts; SIZE_MAX:
	 * all */
	size_t tail;
	/* each state of a line rewritten with '\r' becomes a line of its own,
	 * as soon as it is there */
	bool states;
};

struct log_line {
	const struct log_source *source;
	enum log_stream stream;
	int64_t time_ms;
	const char *text; /* without its '\n'; may hold any bytes */
	size_t len;
	bool plain; /* known to contain no '\r', '\b' or escape */
	bool more;  /* a piece: the line goes on */
	bool rest;  /* the next piece of a line */
	/* not 0: so many bytes were lost here, and there is no text */
	uint64_t lost;
};

typedef void log_sink(void *arg, const struct log_line *line);

/*
 * Takes many lines at once, all with the same source, stream and time.  The
 * text of `lines` is all of them, each with its '\n', and may be read LOG_SLACK
 * bytes beyond its end.
 */
typedef void log_block_sink(void *arg, const struct log_line *lines);
#define LOG_SLACK 64

struct log_reader;

/* Called once for each source with a log, before its first line: only then may
 * it be known where a scheduler has placed the task. */
typedef void log_found(void *arg, const struct log_source *source);

/* Borrows sources and filter (NULL: every line).  Tasks without output yet are
 * no error: each step looks for them again. */
struct log_reader *log_reader_open(const char *folder,
				   const struct log_source *sources,
				   size_t count,
				   const struct log_filter *filter,
				   struct error *err);
void log_reader_close(struct log_reader *reader);

/* To be called before the first step. */
void log_reader_tell_found(struct log_reader *reader, log_found *found,
			   void *arg);

/*
 * Passes every complete new line to the sink, the oldest first.  With `ended`,
 * when the run is over, a last line without a newline counts too.  Reads only
 * new data.
 */
int log_reader_step(struct log_reader *reader, bool ended, log_sink *sink,
		    void *arg, struct error *err);

/* From now on lines that come together and need no filter go to this sink, with
 * the argument of the step; other lines as before. */
void log_reader_take_blocks(struct log_reader *reader, log_block_sink *sink);

/*
 * Passes to the sink, for each stream, its unfinished last line as the last
 * step read it, with no bytes if there is none.  Valid until the next step,
 * which delivers the whole line if it has ended.
 */
void log_reader_open_lines(struct log_reader *reader, log_sink *sink,
			   void *arg);

/* For a sink that wants no more lines, as its output is closed: the current
 * step returns after this line.  A later step continues with the next one. */
void log_reader_stop(struct log_reader *reader);

/*
 * A descriptor that is readable when a step may find something new (inotify on
 * the folder).  Borrowed.  -1 with `err` set if none is available.  Ask for it
 * before the first step, as it does not report what was there before.
 */
int log_reader_watch(struct log_reader *reader, struct error *err);

/*
 * The last `count` lines that a task wrote to a stream, as on a terminal but
 * without colours, with newlines ("" if there are none); for error messages.
 * Reads only the end, at most the last 64 kB, so the first line may be cut.
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

/* Zeroed, the format of PyTorch/XLA's launcher:
 *	2020-08-06 02:38:57 10.164.0.109 [1] | Training Device=xla:0/14 Epoch=1
 */
struct log_style {
	enum log_prefix prefix;
	enum log_time time;
	int64_t from_ms; /* the start for relative times */
	const char *job; /* shown with the task; or NULL */
	bool color;      /* colour the prefix by task */
	/* the output may be a terminal, which obeys escapes: pass only text
	 * and colours */
	bool terminal;
};

/*
 * Appends lines with their prefix in their final state: lines that rewrite
 * themselves appear as on a terminal (core/log/log_screen.h).  Borrows what the
 * style names; the sources of the lines must outlive it.
 */
struct log_printer;

struct log_printer *log_printer_new(const struct log_style *style);
void log_printer_free(struct log_printer *printer);
void log_printer_add(struct log_printer *printer, const struct log_line *line,
		     struct buf *out);
void log_printer_add_block(struct log_printer *printer,
			   const struct log_line *lines, struct buf *out);
/* Adds a stream's unfinished lines as they would look now, each cut to `width`
 * columns (0: whole); `open` is the reader's part of the last line.  Leaves out
 * lines that began after `before_ms`. */
void log_printer_look(struct log_printer *printer, const struct log_line *open,
		      size_t width, int64_t before_ms, struct buf *out);
/* Adds the unfinished lines: no more output comes. */
void log_printer_end(struct log_printer *printer, struct buf *out);

#endif
