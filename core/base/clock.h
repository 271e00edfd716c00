/* SPDX-License-Identifier: Apache-2.0 */
/* The clock, timestamps as text, and sleeping. */
#ifndef JOBRUN_CLOCK_H
#define JOBRUN_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Milliseconds since 1970 as RFC 3339 in UTC: "2026-11-21T02:38:57.120Z". */
void time_format(int64_t time_ms, char *out, size_t size);
/* Parses RFC 3339 in UTC ("Z"), with or without a fraction; -1 if invalid. */
int64_t time_parse(const char *text);
/* As PyTorch/XLA's launcher logged times, in local time: "2020-08-06
 * 02:38:57". */
void time_format_log(int64_t time_ms, char *out, size_t size);
/* The same in UTC: "2020-08-06 00:38:57Z". */
void time_format_log_utc(int64_t time_ms, char *out, size_t size);

int64_t time_now_ms(void);       /* since 1970 */
int64_t time_monotonic_ms(void); /* for intervals */
int64_t time_monotonic_us(void); /* for short ones */
/* Sleeps for the whole time, even if signals are handled meanwhile. */
void time_pause(int64_t ms);

#endif
