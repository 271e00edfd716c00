/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions from job files.  regcomp() unrolls repetitions and
 * recurses into groups without a limit: thirty characters can take all memory,
 * and a line of parentheses the whole stack.
 */
#ifndef JOBRUN_PATTERN_H
#define JOBRUN_PATTERN_H

#include <regex.h>
#include <stddef.h>

#include "core/base/error.h"

/* The most characters of an expression after unrolling its repetitions. */
#define PATTERN_COST_MAX 2000
#define PATTERN_DEPTH_MAX 32 /* the deepest nesting of groups */

/* Like regcomp(), for POSIX extended expressions; refuses back references,
 * which can take exponential time.  `err` continues a sentence that names the
 * expression: "is no ...", "repeats too much ...". */
int pattern_compile(const char *text, int flags, regex_t *out,
		    struct error *err);

/* Like regexec() for `len` bytes, which may hold NUL and end without one. */
int pattern_match(const regex_t *pattern, const char *text, size_t len,
		  size_t count, regmatch_t *found, int flags);

#endif
