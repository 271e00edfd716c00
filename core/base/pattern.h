/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions that come with a job file.  regcomp() unrolls what is
 * repeated and recurses into what is nested, without a limit: thirty
 * characters take all memory, and a line of parentheses the stack.
 */
#ifndef JOBRUN_PATTERN_H
#define JOBRUN_PATTERN_H

#include <regex.h>

#include "core/base/error.h"

/* The limits of an expression, with all repetitions written out. */
#define PATTERN_COST_MAX 2000
#define PATTERN_DEPTH_MAX 32 /* groups in one another */

/* As regcomp(), for POSIX extended expressions without back references, which
 * can take exponential time.  `err` continues a sentence that names the text:
 * "is no ...", "repeats too much ...". */
int pattern_compile(const char *text, int flags, regex_t *out,
		    struct error *err);

#endif
