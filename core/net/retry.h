/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides when to ask a server again, and how long to wait before.  The caller
 * says which requests may be repeated at all (HTTP_REPEATABLE).
 */
#ifndef JOBRUN_RETRY_H
#define JOBRUN_RETRY_H

#include <stdint.h>

enum retry_verdict {
	RETRY_NEVER,      /* the answer will not change */
	RETRY_REPEATABLE, /* if doing it twice is as doing it once: the server
			   * may have done it, and its answer was lost */
	RETRY_ALWAYS,     /* the server has not seen it */
};

struct retry_policy {
	int64_t first_ms; /* before the second try; doubled for each more */
	int64_t max_ms;   /* never longer than this, but for Retry-After */
	int64_t total_ms; /* no try begins later than this after the first */
};

/* The policy of Google's storage clients, but for the total: the callers of
 * these requests retry by themselves (1 s, doubled up to 32 s, in all 60 s). */
extern const struct retry_policy retry_policy_default;

/* The verdict of an HTTP status alone. */
enum retry_verdict retry_status(long status);

/*
 * How long to wait after the `failed`-th try (from 1) has failed: the backoff
 * plus a random share of it (at most a second), so that many clients do not
 * come back at once; never less than `after_ms`, what the server asked for.
 */
int64_t retry_delay_ms(const struct retry_policy *policy, int failed,
		       int64_t after_ms);

#endif
