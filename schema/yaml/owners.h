/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the messages to which a key belongs. */
#ifndef JOBRUN_OWNERS_H
#define JOBRUN_OWNERS_H

#include <stddef.h>

struct message;

/*
 * Lists the messages below `from` that have a field of that name, as paths to
 * them ("masterConfig", "hyperparameters.params"), up to `max`.  Returns their
 * number; the paths are written into `out`.
 */
#define OWNER_SIZE 96
size_t message_owners(const struct message *from, const char *name,
		      char (*out)[OWNER_SIZE], size_t max);

#endif
