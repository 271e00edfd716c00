/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is safe on a terminal: one printable line, in which whatever could
 * move a cursor or turn text around is escaped. */
#ifndef JOBRUN_SHOW_H
#define JOBRUN_SHOW_H

#include <stddef.h>

#include "core/base/buf.h"

/* "\n" becomes the two characters \n, an escape becomes \x1b. */
void show_text(struct buf *out, const char *text);

/* Adds lines in which GitHub and GitLab find none of their commands: what would
 * be one ("::error::", "##[group]", "section_start:1:x") has an escape in it. */
void show_disarmed(struct buf *out, const char *lines);

/* How many columns the text takes, if each character takes one. */
size_t show_width(const char *text);

/* Adds the text, cut to `width` columns with "…" at its end; 0: not cut.  The
 * first `skip` columns give way to a "…" too. */
void show_cut(struct buf *out, const char *text, size_t skip, size_t width);

#endif
