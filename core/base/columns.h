/* SPDX-License-Identifier: Apache-2.0 */
/* Text and tables that fit a terminal. */
#ifndef JOBRUN_COLUMNS_H
#define JOBRUN_COLUMNS_H

#include <jansson.h>

#include "core/base/buf.h"

/*
 * Adds the words of a text and a newline, in lines of at most `width`
 * columns where the words allow it.  The first line stands at `column`
 * already, later ones are indented by `indent`.
 */
void wrap_text(const char *text, int column, int indent, int width,
	       struct buf *out);

/*
 * A list of objects as a table: the keys of the first are its columns.  A
 * table that is too wide has the text in its widest columns wrapped.  Where
 * `source` says only few things, they stand once each below the table.
 */
void wrap_table(const json_t *rows, int width, struct buf *out);

#endif
