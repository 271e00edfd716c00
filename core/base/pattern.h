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

/* What an expression may be, with all that it repeats written out. */
#define PATTERN_COST_MAX 2000
#define PATTERN_DEPTH_MAX 32 /* groups in one another */

/* As regcomp(), for POSIX extended ones without references back, which can take
 * for ever to look for.  `err` goes on where the text was named: "is no ...",
 * "repeats too much ...". */
int pattern_compile(const char *text, int flags, regex_t *out,
		    struct error *err);

#endif
