/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about text: prefixes, UTF-8, the nearest name, the last words. */
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

/* The number of single-letter edits (a swap counts one) between two words;
 * anything over `limit` is returned as limit + 1. */
unsigned text_distance(const char *a, const char *b, unsigned limit);

/*
 * The nearest of `count` names to a misspelt one, or NULL if none is near
 * enough to be meant.  Case and underscores do not count.
 */
const char *text_nearest(const char *word, const char *const *names,
			 size_t count);

/* The last line of `len` bytes that is not empty, of `*line` bytes without the
 * white space behind it. */
const char *text_last_line(const char *text, size_t len, size_t *line);
/* The same, as far as it fits, for a terminal: control characters become '?'. */
void text_last_words(const char *text, size_t len, char *out, size_t size);

#endif
