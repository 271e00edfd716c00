/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shell patterns on paths as Git's ignore files have them: `*`, `?` and [...]
 * never match a slash, `**` between slashes, or at an end, matches any number
 * of folders.  Bytes are compared, whatever the locale.
 */
#ifndef JOBRUN_GLOB_H
#define JOBRUN_GLOB_H

#include <stdbool.h>
#include <stdint.h>

/* False for what matches nothing: an open bracket, an unknown [:class:], a
 * backslash at the end. */
bool glob_is_valid(const char *pattern);

/* Takes time proportional to the product of the lengths, and of the number of
 * folders in `text` if there is a `**`; what it took is added to `*steps`.
 * `is_path`: else `*` and `**` are the same, and `text` is one name. */
bool glob_match(const char *pattern, const char *text, bool is_path,
		uint64_t *steps);

#endif
