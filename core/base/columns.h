/* SPDX-License-Identifier: Apache-2.0 */
/* Text and tables that fit a terminal. */
#ifndef JOBRUN_COLUMNS_H
#define JOBRUN_COLUMNS_H

#include <jansson.h>

#include "core/base/buf.h"

/*
 * Appends the words of `text` and a newline, in lines of at most `width`
 * columns where the words allow it.  The first line already stands at `column`;
 * later ones are indented by `indent`.
 */
void wrap_text(const char *text, int column, int indent, int width,
	       struct buf *out);

/*
 * Prints a list of objects as a table with the keys of the first as columns.
 * If the table is too wide, the text in its widest columns is wrapped.  If
 * `source` has few distinct values, each is listed once below the table.
 */
void wrap_table(const json_t *rows, int width, struct buf *out);

#endif
