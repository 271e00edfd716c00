/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On a terminal, the line that a task has begun and not ended (a prompt, a
 * progress bar) is shown below the others once nothing has come for a moment.
 * It is taken back before anything else is printed: what stays on the screen,
 * and all that goes into a pipe or a file, is whole lines, each once.
 */
#ifndef JOBRUN_OPEN_LINE_H
#define JOBRUN_OPEN_LINE_H

#include "cmd/app.h"
#include "core/base/loop.h"
#include "core/run/log.h"

struct open_line {
	struct app *app; /* borrowed, as the next two */
	struct log_reader *reader;
	struct loop *loop; /* NULL: shows nothing */
	struct loop_event *timer;
	bool shown;
};

/* After a step of the reader: it may be shown half a second from now. */
void open_line_later(struct open_line *line);
/* Before anything is printed, and before the loop goes away. */
void open_line_hide(struct open_line *line);

#endif
