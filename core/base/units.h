/* SPDX-License-Identifier: Apache-2.0 */
/* Values as people write them: numbers, durations, sizes, signals. */
#ifndef JOBRUN_UNITS_H
#define JOBRUN_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* A whole decimal number from `min` to `max`, with nothing before or after
 * it. */
int number_parse(const char *text, long min, long max, long *out,
		 struct error *err);

/* "90s", "15m", "2h30m", "1d", or plain seconds; up to 100 years. */
int duration_parse(const char *text, long *seconds, struct error *err);
/* "8s", "1m05s", "2h03m", "3d04h": at most `size` bytes with the NUL. */
void duration_format(long seconds, char *out, size_t size);

/* "500000", "64MB", "1.5GB", "256MiB": kB, MB, GB, TB and PB are powers of
 * 1000, KiB and so on of 1024; the B can be left out.  At most 1000 PB. */
int size_parse(const char *text, uint64_t *bytes, struct error *err);

/* "812 B", "3.4 kB", "12 MB" (powers of 1000). */
void size_format(uint64_t bytes, char *out, size_t size);

/* "SIGTERM", or "signal 35" where there is no name. */
void signal_format(int number, char *out, size_t size);

/* The fewest digits that distinguish the number from all other doubles. */
#define NUMBER_SIZE 40
void number_format(double value, char out[NUMBER_SIZE]);

#endif
