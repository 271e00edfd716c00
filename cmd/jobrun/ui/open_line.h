/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines that tasks have begun and not ended: prompts, progress bars.  On a
 * terminal they stand under the output, drawn at most ten times a second.
 * Elsewhere what is open for long is printed every 30 seconds, as far as it
 * has changed, so that a log of CI moves.
 */
#ifndef JOBRUN_OPEN_LINE_H
#define JOBRUN_OPEN_LINE_H

#include "cmd/jobrun/ui/app.h"
#include "core/base/loop.h"
#include "core/log/log.h"

struct metric_table;
struct open_lines;

/* Borrows all. */
struct open_lines *open_lines_new(struct app *app, struct loop *loop,
				  struct log_reader *reader,
				  struct log_printer *printer);
/* What stands goes, too. */
void open_lines_free(struct open_lines *lines);

/* The newest values stand under them, on a terminal. */
void open_lines_add_metrics(struct open_lines *lines,
			    const struct metric_table *metrics);

/* After a step of the reader: what is open may have changed. */
void open_lines_changed(struct open_lines *lines);

#endif
