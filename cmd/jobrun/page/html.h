/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of HTML that are one file: style and script are in them, and a policy
 * that lets them load nothing else.  All that a job says goes through html_text().
 */
#ifndef JOBRUN_HTML_H
#define JOBRUN_HTML_H

#include "core/base/buf.h"
#include "core/base/error.h"

/* Escaped, for text and for values in quotes; on one line, without what could
 * turn text around. */
void html_text(struct buf *out, const char *text);
/* The same with its line ends. */
void html_lines(struct buf *out, const char *text);
/* A row of a table: a heading and a value; nothing if that is NULL. */
void html_row(struct buf *out, const char *name, const char *value);

/* Up to the opened <main>; `under` stands below the title. */
int html_begin(struct buf *out, const char *title, const char *under,
	       struct error *err);
void html_end(struct buf *out);

#endif
