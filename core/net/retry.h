/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides when to retry a request, and how long to wait before.  The caller
 * says which requests may be repeated at all (HTTP_REPEATABLE).
 */
#ifndef JOBRUN_RETRY_H
#define JOBRUN_RETRY_H

#include <stdint.h>

enum retry_verdict {
	RETRY_NEVER, /* the answer will not change */
	/* only if idempotent: the server may have done it, and its answer was
	 * lost */
	RETRY_REPEATABLE,
	RETRY_ALWAYS, /* the server has not seen it */
};

struct retry_policy {
	/* before the second try; doubled for each further one */
	int64_t first_ms;
	int64_t max_ms;   /* the longest delay, except for Retry-After */
	int64_t total_ms; /* no try begins later than this after the first */
};

/* The policy of Google's storage clients, except for the total: callers retry
 * by themselves (1 s, doubled up to 32 s, in all 60 s). */
extern const struct retry_policy retry_policy_default;

/* The verdict from the HTTP status alone. */
enum retry_verdict retry_status(long status);

/*
 * How long to wait after try number `failed` (from 1) has failed: the backoff
 * plus a random share of it (at most a second), so that many clients do not
 * retry at once; never less than `after_ms`, which the server asked for.
 */
int64_t retry_delay_ms(const struct retry_policy *policy, int failed,
		       int64_t after_ms);

#endif
