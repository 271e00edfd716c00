/* SPDX-License-Identifier: Apache-2.0 */
/* Suggests the name that was probably meant. */
#ifndef JOBRUN_NEAREST_H
#define JOBRUN_NEAREST_H

#include <stddef.h>

struct message;

/*
 * The nearest of the names to a misspelt one, or NULL.  Beyond single
 * letters, words in another order count as near (GPU_BASIC is BASIC_GPU), a
 * part that only one name has (K80), and a beginning of one (int).
 */
const char *nearest_name(const char *word, const char *const *names,
			 size_t count);

/*
 * The messages below `from` that have a field of that name, as paths to
 * them ("masterConfig", "hyperparameters.params"), up to `max`.  Returns the
 * number; the texts are written into `out`.
 */
#define OWNER_SIZE 96
size_t message_owners(const struct message *from, const char *name,
		      char (*out)[OWNER_SIZE], size_t max);

#endif
