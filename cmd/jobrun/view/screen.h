/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redraws a text on a screen of its own, as in 'status -w': cuts it to the
 * terminal, scrolls with keys, survives a resize, Ctrl-Z and fg, and restores
 * the terminal.
 */
#ifndef JOBRUN_SCREEN_H
#define JOBRUN_SCREEN_H

#include "cmd/jobrun/ui/app.h"
#include "core/base/loop.h"

struct screen;

/* Whether the text can have its own screen: the terminal can move its
 * cursor. */
bool screen_is_possible(const struct app *app);
/* Whether the terminal shows UTF-8, according to the locale. */
bool screen_is_utf8(void);

/* Calls `redraw` when the size has changed, and `quit` for the key q. */
struct screen *screen_open(struct app *app, struct loop *loop,
			   loop_call *redraw, loop_call *quit, void *arg,
			   struct error *err);
void screen_show(struct screen *screen, const struct buf *text);
/* Restores the terminal; with `leave` the last text stays there.  Accepts
 * NULL. */
void screen_close(struct screen *screen, bool leave);

/* Adds a line, cut to `width` columns; it may contain colours. */
void screen_cut(const char *line, size_t len, int width, struct buf *out);
/* Replaces everything that is not ASCII, such as the blocks of curves. */
void screen_ascii(struct buf *text);

#endif
