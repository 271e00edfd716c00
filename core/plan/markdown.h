/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markdown as GitHub and GitLab have it: what comes from files in forms where
 * nothing of it has a meaning, and sections of entries that are there whole or
 * not at all.
 */
#ifndef JOBRUN_MARKDOWN_H
#define JOBRUN_MARKDOWN_H

#include <stddef.h>

#include "core/base/buf.h"

#define MARKDOWN_NAME_WIDTH 200 /* columns of a name */

/*
 * One line of printable text.  What is longer than `width` columns (0: nothing
 * is) is cut, says how many characters are left out, and names the SHA-256 of
 * the whole line: two values that look alike so far are told apart.  The first
 * `skip` columns are left out, too.  Returns new.
 */
char *markdown_line(const char *text, size_t skip, size_t width);
/* A name as a code span. */
void markdown_code(struct buf *out, const char *text);
/* A sentence: what could mean something has a backslash before it. */
void markdown_sentence(struct buf *out, const char *text, size_t width);
/* A name in an HTML element, where Markdown is read, too. */
void markdown_html(struct buf *out, const char *text);

/* Zeroed (`= { 0 }`) it is empty. */
struct section {
	const char *title; /* a line above it, or NULL */
	struct buf text;   /* of its entries, one behind the other */
	size_t *ends;      /* of each entry in the text */
	size_t count, room;
};

void section_done(struct section *section);
/* Makes an entry of the text added since the last one. */
void section_end_entry(struct section *section);
/* Marks the entries that fit into `*left` bytes, and subtracts their length.
 * Returns how many they are. */
size_t section_choose(const struct section *section, unsigned char *taken,
		      size_t *left);
/* The `n` marked ones, below the title; nothing for none. */
void section_write(const struct section *section, const unsigned char *taken,
		   size_t n, struct buf *out);

#endif
