/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-contained HTML pages: style and script are included, and a policy lets
 * them load nothing else.  All text from a job goes through html_text().
 */
#ifndef JOBRUN_HTML_H
#define JOBRUN_HTML_H

#include "core/base/buf.h"

/* Escapes for text and for quoted values; on one line, without characters that
 * change the direction of text. */
void html_text(struct buf *out, const char *text);
/* The same, keeping line ends. */
void html_lines(struct buf *out, const char *text);
/* Adds a table row, a heading and a value; nothing if that is NULL. */
void html_row(struct buf *out, const char *name, const char *value);

/* Adds everything up to the opened <main>; `under` stands below the title. */
void html_begin(struct buf *out, const char *title, const char *under);
void html_end(struct buf *out);

#endif
