/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about and small forms of text: names, durations, sizes, times. */
#ifndef JOBRUN_TEXT_H
#define JOBRUN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

bool text_starts(const char *text, const char *prefix);
bool text_ends(const char *text, const char *suffix);

/* The length of the UTF-8 sequence at `text`, or 0 if there is no valid one. */
size_t text_utf8_len(const char *text);
bool text_is_utf8(const char *text);

/* Names come from others: no control characters on somebody's terminal. */
void text_make_printable(char *text); /* they become '?' */

/* The number of single-letter edits (a swap counts one) between two words;
 * anything over `limit` is returned as limit + 1. */
unsigned text_distance(const char *a, const char *b, unsigned limit);

/*
 * The nearest of `count` names to a misspelt one, or NULL if none is near
 * enough to be meant.  Case and underscores do not count.
 */
const char *text_nearest(const char *word, const char *const *names,
			 size_t count);

/* A whole decimal number from `min` to `max`, nothing before or after it. */
int number_parse(const char *text, long min, long max, long *out,
		 struct error *err);

/* "90s", "15m", "2h30m", "1d", or plain seconds; up to 100 years. */
int duration_parse(const char *text, long *seconds, struct error *err);
/* "8s", "1m05s", "2h03m", "3d04h": at most `size` bytes with the NUL. */
void duration_format(long seconds, char *out, size_t size);

/* "500000", "64MB", "1.5GB", "256MiB": kB, MB, GB, TB and PB are powers of
 * 1000, KiB and so on of 1024; the B can be left out.  At most 1000 PB. */
int size_parse(const char *text, uint64_t *bytes, struct error *err);
/* The last line of `len` bytes that is not empty, of `*line` bytes without the
 * white space behind it. */
const char *text_last_line(const char *text, size_t len, size_t *line);
/* The same, as far as it fits, for a terminal: control characters become '?'. */
void text_last_words(const char *text, size_t len, char *out, size_t size);

/* "812 B", "3.4 kB", "12 MB" (powers of 1000). */
void size_format(uint64_t bytes, char *out, size_t size);

/* Milliseconds since 1970 as RFC 3339 in UTC: "2026-11-21T02:38:57.120Z". */
void time_format(int64_t time_ms, char *out, size_t size);
/* RFC 3339 in UTC ("Z"), with or without a fraction; -1 if it is not. */
int64_t time_parse(const char *text);
/* As PyTorch/XLA's launcher logged it, in local time: "2020-08-06 02:38:57". */
void time_format_log(int64_t time_ms, char *out, size_t size);

int64_t time_now_ms(void);       /* since 1970 */
int64_t time_monotonic_ms(void); /* for intervals */
/* So long, whatever signals are handled meanwhile. */
void time_pause(int64_t ms);

/* "SIGTERM", or "signal 35" where there is no name. */
void signal_format(int number, char *out, size_t size);

/* With no more digits than tell it from all other doubles. */
#define NUMBER_SIZE 40
void number_format(double value, char out[NUMBER_SIZE]);

#endif
