/* SPDX-License-Identifier: Apache-2.0 */
/* Detects files that are likely to be secrets, and so in a source by
 * mistake. */
#ifndef JOBRUN_SECRET_LIKE_H
#define JOBRUN_SECRET_LIKE_H

#include <stdbool.h>
#include <stddef.h>

/* Judges by the name of the file. */
bool secret_is_named(const char *path);
/* Judges by the start of the contents: a private key in PEM, a Google key or
 * login. */
bool secret_is_in(const char *start, size_t len);

#endif
