/* SPDX-License-Identifier: Apache-2.0 */
/* Makes text safe for a terminal: one printable line, with everything escaped
 * that could move the cursor or change the direction of text. */
#ifndef JOBRUN_SHOW_H
#define JOBRUN_SHOW_H

#include <stddef.h>

#include "core/base/buf.h"

/* A newline becomes the two characters \n, an escape becomes \x1b. */
void show_text(struct buf *out, const char *text);

/* Adds lines in which GitHub and GitLab find no commands: text that would be
 * one ("::error::", "##[group]", "section_start:1:x") gets an escape. */
void show_disarmed(struct buf *out, const char *lines);

/* The columns that the text takes, at one per character. */
size_t show_width(const char *text);

/* Adds the text, cut to `width` columns with "…" at its end; 0: not cut.  A "…"
 * replaces the first `skip` columns, too. */
void show_cut(struct buf *out, const char *text, size_t skip, size_t width);

#endif
