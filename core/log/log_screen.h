/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines that a task has begun and may still rewrite, as a terminal would
 * show them: a small screen for each task, so that several progress bars do not
 * mix.  It obeys movement within these lines ('\r', '\b', cursor and erase
 * sequences) and keeps colours; any other terminal control becomes visible
 * text.
 *
 * A row is done when its line has ended and the task does not come back to it.
 * As many rows stay open as the task has moved up so far, so plain lines are
 * done at once.
 */
#ifndef JOBRUN_LOG_SCREEN_H
#define JOBRUN_LOG_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"

struct log_screen;

/* Takes a row, done or current, without a newline. */
typedef void log_row_sink(void *arg, const char *text, size_t len,
			  int64_t time_ms);

/* Without `color`, rows have no colours. */
struct log_screen *log_screen_new(bool color);
struct log_screen *log_screen_copy(const struct log_screen *screen);
void log_screen_free(struct log_screen *screen);

/* Takes the task's next output, and passes on the rows that are then done. */
void log_screen_put(struct log_screen *screen, const char *text, size_t len,
		    int64_t time_ms, log_row_sink *sink, void *arg);
/* Passes on the open rows from the top, each cut to `width` columns (0: whole);
 * an empty row at the end is left out. */
void log_screen_look(const struct log_screen *screen, size_t width,
		     log_row_sink *sink, void *arg);
/* Passes on the open rows as done: no more output will come. */
void log_screen_end(struct log_screen *screen, log_row_sink *sink, void *arg);
/* Whether the next line looks the same with or without the lines before it. */
bool log_screen_is_blank(const struct log_screen *screen);

/* Whether a line can't be shown as it is because it rewrites itself, or with
 * `strict`, because it contains any terminal control. */
bool log_screen_is_needed(const char *text, size_t len, bool strict);

/* Adds each line of `text` in its final state, with a newline and without
 * colours. */
void log_screen_text(const char *text, size_t len, struct buf *out);

#endif
