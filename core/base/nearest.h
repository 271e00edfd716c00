/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody may have meant. */
#ifndef JOBRUN_NEAREST_H
#define JOBRUN_NEAREST_H

#include <stddef.h>

/* The number of single-letter edits (a swap counts one) between two words;
 * anything over `limit` is returned as limit + 1. */
unsigned text_distance(const char *a, const char *b, unsigned limit);

/*
 * The nearest of `count` names to a misspelt one, or NULL if none is near
 * enough to be meant.  Case, dashes and underscores do not count.  Beyond
 * single letters, words in another order count as near (GPU_BASIC is
 * BASIC_GPU), a part that only one name has (K80), and a beginning of one
 * (int).
 */
const char *nearest_name(const char *word, const char *const *names,
			 size_t count);

/* The same without single letters. */
const char *nearest_part(const char *word, const char *const *names,
			 size_t count);

#endif
