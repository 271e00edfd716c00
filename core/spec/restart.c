/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/restart.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/units.h"

/* How a task ended: by an exit code, a signal, the loss of its host, or in an
 * unknown way. */
struct end {
	bool lost;
	int exit_code; /* -1: none */
	int signal;    /* 0: none */
};

/* Whether a code is in a range such as "1" or "64-127". */
static bool code_listed(const char *range, int code)
{
	char *end;
	long first = strtol(range, &end, 10);
	long last = *end == '-' ? strtol(end + 1, NULL, 10) : first;

	return code >= first && code <= last;
}

static bool signal_is(int number, const char *name)
{
	char text[32];

	signal_format(number, text, sizeof(text));
	return !strcmp(text, name);
}

static bool rule_holds(const struct restart_rule *rule, const struct end *end)
{
	/* Shells report the signal of a child as 128 plus its number. */
	int number = !end->signal && end->exit_code > 128 ? end->exit_code - 128
							  : end->signal;

	if (!rule->exit_codes.count && !rule->signals.count && !rule->preempted)
		return true;
	if (end->lost)
		return rule->preempted;
	for (size_t i = 0; !end->signal && i < rule->exit_codes.count; i++)
		if (code_listed(rule->exit_codes.items[i], end->exit_code))
			return true;
	for (size_t i = 0; number && i < rule->signals.count; i++)
		if (signal_is(number, rule->signals.items[i]))
			return true;
	return false;
}

/* The delay doubles each time. */
static int64_t delay_ms(const struct restart *policy, int before)
{
	int64_t delay = (int64_t)policy->backoff_s * 1000;
	int64_t most = (int64_t)policy->max_backoff_s * 1000;

	while (before-- > 0 && delay < most)
		delay *= 2;
	return delay < most ? delay : most;
}

void restart_decide(const struct restart *policy,
		    const struct restart_counts *so_far,
		    const struct attempt_outcome *outcome,
		    struct restart_decision *out)
{
	const struct restart_rule *rules = policy->rules.items;
	struct end end = { .lost = outcome->cause == OUTCOME_LOST,
			   .exit_code = -1 };
	long most = end.lost ? policy->max_preemptions : policy->max_restarts;
	int before = end.lost ? so_far->preemptions : so_far->failures;

	*out = (struct restart_decision){ .counts = *so_far };
	if (outcome->cause == OUTCOME_SUCCESS ||
	    outcome->cause == OUTCOME_CANCEL || outcome->cause == OUTCOME_HELD)
		return;
	if (outcome->cause == OUTCOME_TASK) {
		end.exit_code = outcome->task->exit_code;
		end.signal = outcome->task->signal;
	}
	for (size_t i = 0; i < policy->rules.count; i++) {
		if (!rule_holds(&rules[i], &end))
			continue;
		if (rules[i].action == RESTART_ACTION_RESTART)
			break;
		if (most)
			snprintf(out->why_not, sizeof(out->why_not),
				 "by rule %zu of jobrun.restart", i + 1);
		return;
	}
	if (before >= most) {
		if (before)
			snprintf(out->why_not, sizeof(out->why_not),
				 "already restarted %d time%s "
				 "(jobrun.restart.%s)",
				 before, before > 1 ? "s" : "",
				 end.lost ? "maxPreemptions" : "maxRestarts");
		return;
	}
	out->again = true;
	out->delay_ms = delay_ms(policy, before);
	if (end.lost)
		out->counts.preemptions++;
	else
		out->counts.failures++;
}
