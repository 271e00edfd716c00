/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a process to be started. */
#ifndef JOBRUN_ENVIRONMENT_H
#define JOBRUN_ENVIRONMENT_H

#include <stddef.h>

/* Zeroed it is empty.  Owns its texts. */
struct environment {
	char **items; /* "NAME=value", up to NULL once there is one */
	size_t count;
};

void environment_done(struct environment *env);
/* Sets or replaces. */
void environment_set(struct environment *env, const char *name,
		     const char *value);
void environment_printf(struct environment *env, const char *name,
			const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Borrowed, or NULL. */
const char *environment_get(const struct environment *env, const char *name);
/* Adds what is not there yet from a NULL-terminated array. */
void environment_inherit(struct environment *env, char *const *from);

#endif
