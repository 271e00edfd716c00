/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text that is drawn anew on a screen of its own, as 'status -w' does: it is cut
 * to the terminal, scrolls with keys, survives a resize, Ctrl-Z and fg, and leaves
 * the terminal as it was.
 */
#ifndef JOBRUN_SCREEN_H
#define JOBRUN_SCREEN_H

#include "cmd/jobrun/ui/app.h"
#include "core/base/loop.h"

struct screen;

/* Whether the text can have its own screen: a terminal that can move its cursor. */
bool screen_is_possible(const struct app *app);
/* Whether the terminal shows UTF-8, as the locale says. */
bool screen_is_utf8(void);

/* `redraw` is called when the size has changed, `quit` for the key q. */
struct screen *screen_open(struct app *app, struct loop *loop,
			   loop_call *redraw, loop_call *quit, void *arg,
			   struct error *err);
void screen_show(struct screen *screen, const struct buf *text);
/* Back to where it was; with `leave` the last text stays there.  NULL does
 * nothing. */
void screen_close(struct screen *screen, bool leave);

/* Adds a line of at most `width` columns of a text that may have colours. */
void screen_cut(const char *line, size_t len, int width, struct buf *out);
/* Nothing but ASCII: curves of blocks become other signs. */
void screen_ascii(struct buf *text);

#endif
