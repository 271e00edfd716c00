/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are likely to be secrets, and so to be in a source by mistake. */
#ifndef JOBRUN_SECRET_LIKE_H
#define JOBRUN_SECRET_LIKE_H

#include <stdbool.h>
#include <stddef.h>

/* By the name of the file. */
bool secret_is_named(const char *path);
/* By how it begins: a private key in PEM, a key or login of Google's. */
bool secret_is_in(const char *start, size_t len);

#endif
