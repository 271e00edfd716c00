/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a call failed, in a form that needs no clean-up.  Every function that
 * can fail takes a `struct error *` last, returns -1 (or NULL) and sets it;
 * on success it is left alone.
 */
#ifndef JOBRUN_ERROR_H
#define JOBRUN_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

/* The values are the program's exit statuses (sysexits.h where it has one). */
enum error_code {
	ERROR_FAILED = 1,       /* the job or an action failed */
	ERROR_USAGE = 64,       /* wrong options or arguments */
	ERROR_INVALID = 65,     /* a job file is invalid */
	ERROR_NO_RUN = 66,      /* no run of that name is known */
	ERROR_UNREACHABLE = 69, /* a provider can't be reached */
	ERROR_TRY_AGAIN = 75,   /* lock held, quota, stale plan */
	ERROR_DENIED = 77,      /* not authorised */
	ERROR_TIMEOUT = 124,
	ERROR_INTERRUPTED = 130,

	/* No credentials or no cluster are configured, so no request was made.
	 * The exit status is the low byte, see error_status(). */
	ERROR_NO_CREDENTIALS = 0x100 | ERROR_DENIED,
	ERROR_NO_CLUSTER = 0x100 | ERROR_UNREACHABLE,
};

/* Why a call failed.  Holds no pointers: copy it, keep it. */
struct error {
	enum error_code code; /* decides the exit status */
	/* Trying again cannot help, whatever the code says: the quota is
	 * smaller than the request, for instance. */
	bool final;
	char where[160]; /* "job.yaml:12:9", or "" */
	char text[512];  /* lower case, no full stop, no newline */
};

int error_status(const struct error *err);
/* ERROR_DENIED or ERROR_NO_CREDENTIALS. */
bool error_is_denied(const struct error *err);
/* Whether no request was made, for lack of configuration. */
bool error_is_unasked(const struct error *err);

/* All of these return -1, so that a failing path is one statement. */
int error_set(struct error *err, enum error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ERROR_FAILED, or ERROR_DENIED for EACCES and EPERM; adds ": " strerror. */
int error_errno(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Like error_set(), and sets `final`. */
int error_set_final(struct error *err, enum error_code code, const char *format,
		    ...) __attribute__((format(printf, 3, 4)));

/* Appends to the text. */
int error_append(struct error *err, const char *text);

/* Puts "PREFIX: " before the text. */
int error_prefix(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
