/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about text: prefixes, UTF-8, the last words. */
#ifndef JOBRUN_TEXT_H
#define JOBRUN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

bool text_starts(const char *text, const char *prefix);
bool text_ends(const char *text, const char *suffix);

/* The length of the UTF-8 sequence at `text`, or 0 if there is no valid one. */
size_t text_utf8_len(const char *text);
bool text_is_utf8(const char *text);

/* Names come from others: no control characters on somebody's terminal. */
void text_make_printable(char *text); /* they become '?' */

/* The last line of `len` bytes that is not empty, of `*line` bytes without the
 * white space behind it. */
const char *text_last_line(const char *text, size_t len, size_t *line);
/* The same, as far as it fits, for a terminal: control characters become '?'. */
void text_last_words(const char *text, size_t len, char *out, size_t size);

#endif
