/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/units.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define DURATION_MAX (100L * 365 * 86400)
#define SIZE_LARGEST (UINT64_C(1000000000) * 1000000000)

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
		snprintf(out, size, "%lds", s < 0 ? 0 : s);
	else if (s < 3600)
		snprintf(out, size, "%ldm%02lds", s / 60, s % 60);
	else if (s < 86400)
		snprintf(out, size, "%ldh%02ldm", s / 3600, s / 60 % 60);
	else
		snprintf(out, size, "%ldd%02ldh", s / 86400, s / 3600 % 24);
}

/* The bytes in a unit, 0 if it is unknown. */
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
	/* A unit is divided no finer than into thousandths. */
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

/* Only glibc has sigabbrev_np(), and the agent is not linked with it. */
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
