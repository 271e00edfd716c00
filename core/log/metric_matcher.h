/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches a job's own patterns in a separate process, many lines at a time.
 * regexec() may take seconds for a line and cannot be interrupted, but a
 * process can be: it gets LINE_MS of CPU time per line, and each pattern a
 * budget that every line refills a little.  A pattern over its budget is
 * skipped until it has some again, and the lines that it missed are counted.
 */
#ifndef JOBRUN_METRIC_MATCHER_H
#define JOBRUN_METRIC_MATCHER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metric_match {
	int from, to; /* offsets of the first group; -1: not found */
};

struct metric_matcher;

/* Borrows the patterns.  The process starts with the first line. */
struct metric_matcher *metric_matcher_new(const regex_t *const *patterns,
					  size_t count);
void metric_matcher_free(struct metric_matcher *matcher);

/* Adds a string of at most METRIC_LINE_MAX bytes to the batch.  False if there
 * is no room; the first one always fits. */
bool metric_matcher_add(struct metric_matcher *matcher, const char *text,
			size_t len);
size_t metric_matcher_count(const struct metric_matcher *matcher);
/*
 * Matches all patterns against all strings of the batch.  False if that takes
 * longer than `wait_ms` (-1: no limit): then call it again, and add nothing.
 */
bool metric_matcher_run(struct metric_matcher *matcher, int64_t wait_ms);
/* The i-th string, and its matches by pattern. */
const char *metric_matcher_text(const struct metric_matcher *matcher, size_t i,
				size_t *len);
const struct metric_match *
metric_matcher_found(const struct metric_matcher *matcher, size_t i);
/* Starts a new batch. */
void metric_matcher_clear(struct metric_matcher *matcher);

/* The number of lines that a pattern missed. */
uint64_t metric_matcher_missed(const struct metric_matcher *matcher,
			       size_t pattern);

#endif
