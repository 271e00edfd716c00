/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markdown for GitHub and GitLab: text from files, escaped so that nothing in
 * it has a meaning, and sections whose entries are shown whole or not at all.
 */
#ifndef JOBRUN_MARKDOWN_H
#define JOBRUN_MARKDOWN_H

#include <stddef.h>

#include "core/base/buf.h"

#define MARKDOWN_NAME_WIDTH 200 /* the most columns of a name */

/*
 * One line of printable text.  A line longer than `width` columns (0: no limit)
 * is cut; the number of characters left out and the SHA-256 of the whole line
 * follow, so that two values that begin alike can be told apart.  The first
 * `skip` columns are also left out.  Returns new.
 */
char *markdown_line(const char *text, size_t skip, size_t width);
/* Adds a name as a code span. */
void markdown_code(struct buf *out, const char *text);
/* Adds a sentence, with a backslash before characters that may have a
 * meaning. */
void markdown_sentence(struct buf *out, const char *text, size_t width);
/* Adds a name for use inside an HTML element, where Markdown is parsed, too. */
void markdown_html(struct buf *out, const char *text);

/* A zeroed one (`= { 0 }`) is empty. */
struct section {
	const char *title; /* the line above it, or NULL */
	struct buf text;   /* its entries, one after the other */
	size_t *ends;      /* the end of each entry in the text */
	size_t count, room;
};

void section_done(struct section *section);
/* Makes an entry of the text added since the last one. */
void section_end_entry(struct section *section);
/* Marks the entries that fit into `*left` bytes, and subtracts their length.
 * Returns the number of marked entries. */
size_t section_choose(const struct section *section, unsigned char *taken,
		      size_t *left);
/* Writes the `n` marked entries below the title; nothing if there are none. */
void section_write(const struct section *section, const unsigned char *taken,
		   size_t n, struct buf *out);

#endif
