/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines that a task has begun and may still rewrite, as a terminal would
 * show them: a small screen of its own, so that several progress bars keep
 * apart.  It obeys what moves within these lines ('\r', '\b', cursor and erase
 * sequences) and keeps colours; whatever else a terminal would obey becomes
 * visible text.
 *
 * A row is done when its line has ended and the task does not come back to it:
 * as many rows stay open as it has moved up so far, so that of plain lines
 * each is done at once.
 */
#ifndef JOBRUN_LOG_SCREEN_H
#define JOBRUN_LOG_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"

struct log_screen;

/* A row that is done, or is looked at, without a newline. */
typedef void log_row_sink(void *arg, const char *text, size_t len,
			  int64_t time_ms);

/* Without `color`, rows have none. */
struct log_screen *log_screen_new(bool color);
struct log_screen *log_screen_copy(const struct log_screen *screen);
void log_screen_free(struct log_screen *screen);

/* Takes what the task wrote next, and gives the rows that are done then. */
void log_screen_put(struct log_screen *screen, const char *text, size_t len,
		    int64_t time_ms, log_row_sink *sink, void *arg);
/* Shows the rows that are open, the uppermost first, each cut to `width`
 * columns (0: whole); an empty one at the end is left out. */
void log_screen_look(const struct log_screen *screen, size_t width,
		     log_row_sink *sink, void *arg);
/* The same as done: nothing more will come. */
void log_screen_end(struct log_screen *screen, log_row_sink *sink, void *arg);
/* Whether the next line would look the same without what came before. */
bool log_screen_is_blank(const struct log_screen *screen);

/* Whether a line can't be shown as it is: it rewrites itself; or, with
 * `strict`, has anything but text in it that a terminal would obey. */
bool log_screen_is_needed(const char *text, size_t len, bool strict);

/* Adds each line of a text as it was at last, with a newline and without
 * colours. */
void log_screen_text(const char *text, size_t len, struct buf *out);

#endif
