/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job's own patterns, matched by a process beside this one, many lines at a
 * time.  regexec() may take seconds for a line and cannot be interrupted, but a
 * process can: it has LINE_MS of CPU time for a line, and each pattern an
 * account that every line fills a little.  A pattern that overdraws it is not
 * looked for until it has something again, and the lines that it missed are
 * counted.
 */
#ifndef JOBRUN_METRIC_MATCHER_H
#define JOBRUN_METRIC_MATCHER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metric_match {
	int from, to; /* of the first group; -1: it was not found */
};

struct metric_matcher;

/* Borrows the patterns.  The process begins with the first line. */
struct metric_matcher *metric_matcher_new(const regex_t *const *patterns,
					  size_t count);
void metric_matcher_free(struct metric_matcher *matcher);

/* Adds a text of at most METRIC_LINE_MAX bytes to the batch.  False if there is
 * no room for it; never for the first one. */
bool metric_matcher_add(struct metric_matcher *matcher, const char *text,
			size_t len);
size_t metric_matcher_count(const struct metric_matcher *matcher);
/*
 * Looks for all patterns in all texts of the batch.  False if that takes longer
 * than `wait_ms` (-1: as long as it takes): call it again, and add nothing.
 */
bool metric_matcher_run(struct metric_matcher *matcher, int64_t wait_ms);
/* The text of the i-th, and what was found in it: by pattern. */
const char *metric_matcher_text(const struct metric_matcher *matcher, size_t i,
				size_t *len);
const struct metric_match *
metric_matcher_found(const struct metric_matcher *matcher, size_t i);
/* Begins a new batch. */
void metric_matcher_clear(struct metric_matcher *matcher);

/* In how many lines a pattern was given up. */
uint64_t metric_matcher_missed(const struct metric_matcher *matcher,
			       size_t pattern);

#endif
