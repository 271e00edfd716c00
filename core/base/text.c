/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/alloc.h"

#define WORD_MAX 64
#define DURATION_MAX (100L * 365 * 86400)
#define SIZE_LARGEST (UINT64_C(1000000000) * 1000000000)

bool text_starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool text_ends(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);

	return n >= m && strcmp(text + n - m, suffix) == 0;
}

size_t text_utf8_len(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n, i;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		n = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		n = 4;
	else
		return 0;
	for (i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

bool text_is_utf8(const char *text)
{
	size_t n;

	for (; *text; text += n) {
		n = text_utf8_len(text);
		if (!n)
			return false;
	}
	return true;
}

void text_make_printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			*text = '?';
}

/* Optimal string alignment over three rows. */
unsigned text_distance(const char *a, const char *b, unsigned limit)
{
	unsigned rows[3][WORD_MAX + 1];
	size_t n = strlen(a), m = strlen(b);
	size_t i, j;

	if (n > WORD_MAX || m > WORD_MAX)
		return limit + 1;
	for (j = 0; j <= m; j++)
		rows[0][j] = (unsigned)j;
	for (i = 1; i <= n; i++) {
		unsigned *row = rows[i % 3];
		unsigned *up = rows[(i + 2) % 3];
		unsigned *up2 = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (j = 1; j <= m; j++) {
			unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1 < best)
				best = up[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best)
				best = up2[j - 2] + 1;
			row[j] = best;
		}
	}
	return rows[n % 3][m] > limit ? limit + 1 : rows[n % 3][m];
}

static void fold(const char *word, char out[WORD_MAX + 1])
{
	size_t n = 0;

	for (; *word && n < WORD_MAX; word++)
		if (*word != '_' && *word != '-')
			out[n++] = (char)tolower((unsigned char)*word);
	out[n] = '\0';
}

const char *text_nearest(const char *word, const char *const *names,
			 size_t count)
{
	char folded[WORD_MAX + 1], name[WORD_MAX + 1];
	const char *best = NULL;
	unsigned least, d;
	size_t i;

	if (strlen(word) > WORD_MAX)
		return NULL;
	fold(word, folded);
	/* A third of the letters wrong is a guess, more is another word. */
	least = (unsigned)strlen(folded) / 3 + 1;
	for (i = 0; i < count; i++) {
		fold(names[i], name);
		d = text_distance(folded, name, least);
		if (d < least) {
			least = d;
			best = names[i];
		}
	}
	return best;
}

int number_parse(const char *text, long min, long max, long *out,
		 struct error *err)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end || isspace((unsigned char)text[0]))
		return error_set(err, ERROR_USAGE, "'%s' is not a whole number",
				 text);
	if (errno || value < min || value > max)
		return error_set(err, ERROR_USAGE,
				 "'%s' is not between %ld and %ld", text, min,
				 max);
	*out = value;
	return 0;
}

static long unit_seconds(char unit)
{
	switch (unit) {
	case 'd':
		return 86400;
	case 'h':
		return 3600;
	case 'm':
		return 60;
	case 's':
	case '\0':
		return 1;
	default:
		return 0;
	}
}

int duration_parse(const char *text, long *seconds, struct error *err)
{
	const char *p = text;
	long last = DURATION_MAX + 1;
	long total = 0;

	if (!*text)
		return error_set(err, ERROR_USAGE, "an empty duration");
	while (*p) {
		long value = 0, unit;

		if (!isdigit((unsigned char)*p))
			goto bad;
		for (; isdigit((unsigned char)*p); p++) {
			value = value * 10 + (*p - '0');
			if (value > DURATION_MAX)
				goto large;
		}
		unit = unit_seconds(*p);
		if (!unit || unit >= last)
			goto bad;
		if (value > (DURATION_MAX - total) / unit)
			goto large;
		total += value * unit;
		last = unit;
		if (*p)
			p++;
	}
	*seconds = total;
	return 0;
large:
	return error_set(err, ERROR_USAGE, "'%.40s' is too long", text);
bad:
	return error_set(err, ERROR_USAGE,
			 "'%.40s' is not a duration such as 90s, 10m or 2h30m",
			 text);
}

void duration_format(long s, char *out, size_t size)
{
	if (s < 60)
		snprintf(out, size, "%lds", s);
	else if (s < 3600)
		snprintf(out, size, "%ldm%02lds", s / 60, s % 60);
	else if (s < 86400)
		snprintf(out, size, "%ldh%02ldm", s / 3600, s / 60 % 60);
	else
		snprintf(out, size, "%ldd%02ldh", s / 86400, s / 3600 % 24);
}

/* What a unit stands for, 0 if there is none such. */
static uint64_t unit_bytes(const char *unit)
{
	static const char letters[] = "kMGTP";
	const char *at =
		*unit ? strchr(letters, *unit == 'K' ? 'k' : *unit) : NULL;
	uint64_t step = 1000, bytes = 1;
	size_t i;

	if (at) {
		unit++;
		if (*unit == 'i') {
			step = 1024;
			unit++;
		}
		for (i = 0; i <= (size_t)(at - letters); i++)
			bytes *= step;
	}
	return !*unit || !strcmp(unit, "B") ? bytes : 0;
}

int size_parse(const char *text, uint64_t *bytes, struct error *err)
{
	uint64_t value = 0, part = 0, parts = 1, unit;
	const char *p = text;

	if (!isdigit((unsigned char)*p))
		goto bad;
	for (; isdigit((unsigned char)*p); p++) {
		value = value * 10 + (uint64_t)(*p - '0');
		if (value > SIZE_LARGEST)
			goto large;
	}
	/* A thousandth is as fine as a unit is divided. */
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p) && parts < 1000; p++) {
			part = part * 10 + (uint64_t)(*p - '0');
			parts *= 10;
		}
	unit = unit_bytes(p);
	if (!unit || (parts > 1 && unit == 1))
		goto bad;
	if (value > SIZE_LARGEST / unit)
		goto large;
	*bytes = value * unit + part * unit / parts;
	return 0;
large:
	return error_set(err, ERROR_USAGE, "'%.40s' is too large", text);
bad:
	return error_set(err, ERROR_USAGE,
			 "'%.40s' is not a size such as 500kB, 64MB or 1GiB",
			 text);
}

const char *text_last_line(const char *text, size_t len, size_t *line)
{
	size_t from;

	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	for (from = len; from && text[from - 1] != '\n'; from--)
		;
	*line = len - from;
	return text + from;
}

void text_last_words(const char *text, size_t len, char *out, size_t size)
{
	size_t n, i;
	const char *line = text_last_line(text, len, &n);

	for (i = 0; i + 1 < size && i < n; i++) {
		unsigned char c = (unsigned char)line[i];

		out[i] = c < ' ' || c == 127 ? '?' : (char)c;
	}
	out[i] = '\0';
}

void size_format(uint64_t bytes, char *out, size_t size)
{
	static const char *const units[] = { "B",  "kB", "MB", "GB",
					     "TB", "PB", "EB" };
	double value = (double)bytes;
	size_t i = 0;

	for (; value >= 999.5 && i < 6; i++)
		value /= 1000;
	snprintf(out, size, i && value < 9.95 ? "%.1f %s" : "%.0f %s", value,
		 units[i]);
}

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

static int64_t clock_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* "Z", "+01:00": from that to UTC.  -1: it is none of these. */
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

void time_pause(int64_t ms)
{
	struct timespec left = { .tv_sec = ms / 1000,
				 .tv_nsec = ms % 1000 * 1000000 };

	while (ms > 0 && nanosleep(&left, &left) < 0)
		;
}

/* glibc alone has sigabbrev_np(), and the agent is not linked with it. */
static const char *const signal_names[] = {
	[SIGHUP] = "HUP",   [SIGINT] = "INT",   [SIGQUIT] = "QUIT",
	[SIGILL] = "ILL",   [SIGTRAP] = "TRAP", [SIGABRT] = "ABRT",
	[SIGBUS] = "BUS",   [SIGFPE] = "FPE",   [SIGKILL] = "KILL",
	[SIGUSR1] = "USR1", [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
	[SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM",
	[SIGCHLD] = "CHLD", [SIGCONT] = "CONT", [SIGSTOP] = "STOP",
	[SIGTSTP] = "TSTP", [SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU",
	[SIGURG] = "URG",   [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ",
	[SIGPROF] = "PROF", [SIGSYS] = "SYS",   [SIGVTALRM] = "VTALRM",
	[SIGIO] = "IO",     [SIGPWR] = "PWR",   [SIGWINCH] = "WINCH",
};

void signal_format(int number, char *out, size_t size)
{
	if (number > 0 && (size_t)number < COUNT(signal_names) &&
	    signal_names[number])
		snprintf(out, size, "SIG%s", signal_names[number]);
	else
		snprintf(out, size, "signal %d", number);
}

void number_format(double value, char out[NUMBER_SIZE])
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, NUMBER_SIZE, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			break;
	}
}
