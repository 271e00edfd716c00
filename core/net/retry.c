/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/retry.h"

#include <sys/random.h>

#define JITTER_MAX_MS 1000

const struct retry_policy retry_policy_default = {
	.first_ms = 1000,
	.max_ms = 32000,
	.total_ms = 60000,
};

enum retry_verdict retry_status(long status)
{
	switch (status) {
	case 408: /* the server's own timeout */
	case 429: /* too many requests */
	case 500:
	case 502:
	case 503:
	case 504:
		return RETRY_REPEATABLE;
	default:
		return RETRY_NEVER;
	}
}

static int64_t random_below(int64_t limit)
{
	uint64_t bits = 0;

	if (limit <= 0 || getrandom(&bits, sizeof(bits), GRND_NONBLOCK) < 0)
		return 0;
	return (int64_t)(bits % (uint64_t)limit);
}

int64_t retry_delay_ms(const struct retry_policy *policy, int failed,
		       int64_t after_ms)
{
	int64_t delay = policy->first_ms;
	int i;

	for (i = 1; i < failed && delay < policy->max_ms; i++)
		delay *= 2;
	if (delay > policy->max_ms)
		delay = policy->max_ms;
	if (delay < after_ms)
		delay = after_ms;
	return delay +
	       random_below(delay < JITTER_MAX_MS ? delay + 1 : JITTER_MAX_MS);
}
