/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches a pattern against the lines of several streams.  A long line comes in
 * pieces: matches across two pieces are also found, up to a length of
 * LOG_GREP_BEFORE, and '^' and '$' match at the ends of the line, not of a
 * piece.
 */
#ifndef JOBRUN_LOG_GREP_H
#define JOBRUN_LOG_GREP_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/log/log.h"

#define LOG_GREP_BEFORE ((size_t)4096) /* bytes kept of the previous piece */

struct log_grep;

/* Borrows the pattern. */
struct log_grep *log_grep_new(const regex_t *pattern, size_t streams);
void log_grep_free(struct log_grep *grep);

/*
 * Whether the next line of a stream, or piece of one, matches.  If a piece
 * matches only together with the end of the previous one, which did not match,
 * its text is extended by that end: valid until the next call.
 */
bool log_grep_take(struct log_grep *grep, size_t stream, struct log_line *line);
/* The same for an incomplete line, without advancing to the next. */
bool log_grep_look(struct log_grep *grep, size_t stream,
		   const struct log_line *line);
/* Records that the next line of the stream does not follow the last one. */
void log_grep_forget(struct log_grep *grep, size_t stream);

#endif
