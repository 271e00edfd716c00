/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lines of several streams a pattern matches.  A long line comes in
 * pieces: what lies across two of them is found as well, as long as it is not
 * longer than LOG_GREP_BEFORE, and '^' and '$' stand for the ends of the line,
 * not of a piece.
 */
#ifndef JOBRUN_LOG_GREP_H
#define JOBRUN_LOG_GREP_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/log/log.h"

#define LOG_GREP_BEFORE ((size_t)4096) /* bytes of the piece before */

struct log_grep;

/* Borrows the pattern. */
struct log_grep *log_grep_new(const regex_t *pattern, size_t streams);
void log_grep_free(struct log_grep *grep);

/*
 * Whether the next line of a stream, or piece of one, matches.  A piece that
 * does so only with the end of the one before, which did not, has that end in
 * its text from then on: valid until the next call.
 */
bool log_grep_take(struct log_grep *grep, size_t stream, struct log_line *line);
/* The same for a line that is not complete, without going on to the next. */
bool log_grep_look(struct log_grep *grep, size_t stream,
		   const struct log_line *line);
/* The next line of the stream does not follow the last one. */
void log_grep_forget(struct log_grep *grep, size_t stream);

#endif
