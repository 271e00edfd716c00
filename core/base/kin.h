/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of hardware that are related in what they mean.  A number in a name
 * says which hardware it is: a3-highgpu-8g is no a2-highgpu-8g, though one
 * letter is all that differs.
 */
#ifndef JOBRUN_KIN_H
#define JOBRUN_KIN_H

#include <stddef.h>

/* The name that the word is a slip for: its words without a digit may be
 * misspelt, the others are the same.  NULL if there is none. */
const char *kin_misspelt(const char *word, const char *const *names,
			 size_t count);

/* The name of the same family (the first word) whose size (the last one) comes
 * nearest, of the same kind (the words between) if there is one; or NULL. */
const char *kin_of_size(const char *word, const char *const *names,
			size_t count);

#endif
