/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds hardware names close in meaning.  A number in a name says which
 * hardware it is: a3-highgpu-8g is not a slip for a2-highgpu-8g, though only
 * one letter differs.
 */
#ifndef JOBRUN_KIN_H
#define JOBRUN_KIN_H

#include <stdbool.h>
#include <stddef.h>

/* The name that `word` misspells: words without a digit may differ, the others
 * must be equal.  NULL if none fits. */
const char *kin_misspelt(const char *word, const char *const *names,
			 size_t count);

/* Whether the name has each word of `word` with a digit, in any case: A10 is
 * not A100. */
bool kin_same_numbers(const char *word, const char *name);

/* The name of the same family (first word) with the nearest size (a word that
 * begins with a digit), preferably of the same kind (the words between); or
 * NULL. */
const char *kin_of_size(const char *word, const char *const *names,
			size_t count);

#endif
