/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void time_format(int64_t time_ms, char *out, size_t size)
{
	time_t s = (time_t)(time_ms / 1000);
	char day[32];
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out, size, "%s.%03dZ", day, (int)(time_ms % 1000));
}

void time_format_log(int64_t time_ms, char *out, size_t size)
{
	time_t s = (time_t)(time_ms / 1000);
	struct tm tm;

	localtime_r(&s, &tm);
	strftime(out, size, "%Y-%m-%d %H:%M:%S", &tm);
}

void time_format_log_utc(int64_t time_ms, char *out, size_t size)
{
	time_t s = (time_t)(time_ms / 1000);
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(out, size, "%Y-%m-%d %H:%M:%SZ", &tm);
}

static int64_t clock_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Parses an offset from UTC: "Z", "+01:00".  -1: neither form. */
static int read_offset(const char *text, int64_t *out_ms)
{
	int hours, minutes, used = 0;

	*out_ms = 0;
	if (!strcmp(text, "Z"))
		return 0;
	if ((*text != '+' && *text != '-') ||
	    sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &used) != 2 ||
	    used != 5 || text[6])
		return -1;
	*out_ms = (hours * 60 + minutes) * INT64_C(60000);
	if (*text == '+')
		*out_ms = -*out_ms;
	return 0;
}

int64_t time_parse(const char *text)
{
	struct tm tm = { 0 };
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	int64_t ms = 0, offset_ms;
	int unit = 100;

	if (!end)
		return -1;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10)
			ms += (*end - '0') * unit;
	if (read_offset(end, &offset_ms) < 0)
		return -1;
	return (int64_t)timegm(&tm) * 1000 + ms + offset_ms;
}

int64_t time_now_ms(void)
{
	return clock_ms(CLOCK_REALTIME);
}

int64_t time_monotonic_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

int64_t time_monotonic_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void time_pause(int64_t ms)
{
	struct timespec left = { .tv_sec = ms / 1000,
				 .tv_nsec = ms % 1000 * 1000000 };

	while (ms > 0 && nanosleep(&left, &left) < 0)
		;
}
