/* SPDX-License-Identifier: Apache-2.0 */
/* Values as a person reads them.  What comes out is one line of printable
 * text: what could move a cursor or turn text around is escaped. */
#ifndef JOBRUN_PLAN_SHOW_H
#define JOBRUN_PLAN_SHOW_H

#include <jansson.h>
#include <stddef.h>

#include "core/base/buf.h"

/* "\n" becomes the two characters \n, an escape becomes \x1b. */
void show_text(struct buf *out, const char *text);

/* A list of plain values reads as a command line, quoted for a shell; other
 * lists and objects are compact JSON. */
void show_value(struct buf *out, const json_t *value);

/* How many columns the text takes, if each character takes one. */
size_t show_width(const char *text);

/* Adds the text, cut to `width` columns with "…" at its end; 0: not cut.  The
 * first `skip` columns give way to a "…" too. */
void show_cut(struct buf *out, const char *text, size_t skip, size_t width);

#endif
