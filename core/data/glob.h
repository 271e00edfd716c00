/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shell patterns on paths as in Git's ignore files: `*`, `?` and [...] never
 * match a slash; `**` between slashes, or at an end, matches any number of
 * folders.  Compares bytes, whatever the locale.
 */
#ifndef JOBRUN_GLOB_H
#define JOBRUN_GLOB_H

#include <stdbool.h>
#include <stdint.h>

/* False for patterns that match nothing: an open bracket, an unknown [:class:],
 * a backslash at the end. */
bool glob_is_valid(const char *pattern);

/* Takes time proportional to the product of the lengths, times the number of
 * folders in `text` if the pattern has `**`; adds its cost to `*steps`.
 * Without `is_path`, `*` and `**` are the same, and `text` is one name. */
bool glob_match(const char *pattern, const char *text, bool is_path,
		uint64_t *steps);

#endif
