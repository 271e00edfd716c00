/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values that a job file has where it should only say where its secrets
 * are.  They are found in the text, as a file may be no YAML.
 */
#ifndef JOBRUN_SOURCE_SECRETS_H
#define JOBRUN_SOURCE_SECRETS_H

#include <stddef.h>

/* A part of a text, without the byte at `to`. */
struct secret_span {
	size_t from, to;
};

/* Returns new: the values below each key `secrets`, in order and without those
 * that name a variable or a file; NULL if there are none.  `text` ends with a
 * NUL. */
struct secret_span *source_secrets(const char *text, size_t len, size_t *count);

#endif
