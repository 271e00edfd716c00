/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for text: prefixes, UTF-8, the last line. */
#ifndef JOBRUN_TEXT_H
#define JOBRUN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

bool text_starts(const char *text, const char *prefix);
bool text_ends(const char *text, const char *suffix);
/* Whether one path is the other, or below it: "a.b" is within "a" for '.'. */
bool text_is_within(const char *path, const char *above, char separator);

/* The length of the UTF-8 sequence at `text`, or 0 if there is no valid one. */
size_t text_utf8_len(const char *text);
bool text_is_utf8(const char *text);

/* Whether a text has no control characters, so that it is one line. */
bool text_is_printable(const char *text);
/* Replaces control characters, as names come from others and are shown on a
 * terminal. */
void text_make_printable(char *text); /* they become '?' */

/* The last nonempty line in `len` bytes; `*line` is its length without trailing
 * white space. */
const char *text_last_line(const char *text, size_t len, size_t *line);
/* The same, cut to fit, for a terminal: control characters become '?'. */
void text_last_words(const char *text, size_t len, char *out, size_t size);

#endif
