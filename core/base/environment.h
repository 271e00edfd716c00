/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a process to start. */
#ifndef JOBRUN_ENVIRONMENT_H
#define JOBRUN_ENVIRONMENT_H

#include <stddef.h>

/* A zeroed one is empty.  Owns its strings. */
struct environment {
	char **items; /* "NAME=value", NULL-terminated unless empty */
	size_t count;
};

void environment_done(struct environment *env);
/* Sets or replaces a variable. */
void environment_set(struct environment *env, const char *name,
		     const char *value);
void environment_printf(struct environment *env, const char *name,
			const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The value, borrowed, or NULL. */
const char *environment_get(const struct environment *env, const char *name);
/* Adds the variables of a NULL-terminated array that are not set yet. */
void environment_inherit(struct environment *env, char *const *from);

#endif
