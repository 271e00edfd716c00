/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses which name a misspelt word stands for. */
#ifndef JOBRUN_NEAREST_H
#define JOBRUN_NEAREST_H

#include <stddef.h>

/* The number of single-letter edits between two words, a swap counting as one;
 * any number over `limit` gives limit + 1. */
unsigned text_distance(const char *a, const char *b, unsigned limit);

/*
 * The nearest of `count` names to a misspelt word, or NULL if none is near
 * enough.  Ignores case, dashes and underscores.  Besides single letters, these
 * count as near: words in another order (GPU_BASIC for BASIC_GPU), a part that
 * only one name has (K80), and the beginning of only one name (int).
 */
const char *nearest_name(const char *word, const char *const *names,
			 size_t count);

/* The same without single-letter edits. */
const char *nearest_part(const char *word, const char *const *names,
			 size_t count);

#endif
