/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines that tasks have begun and not ended: prompts, progress bars.  On a
 * terminal they stand below the output, redrawn at most ten times a second.
 * Elsewhere, lines open for long are printed every 30 seconds if they have
 * changed, so that a CI log shows progress.
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
/* Also removes the displayed lines. */
void open_lines_free(struct open_lines *lines);

/* Shows the newest values below them, on a terminal. */
void open_lines_add_metrics(struct open_lines *lines,
			    const struct metric_table *metrics);

/* To be called after a step of the reader, as the open lines may have
 * changed. */
void open_lines_changed(struct open_lines *lines);

#endif
