/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/restart.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/units.h"

/* What has ended: an exit code, a signal, a host, or neither is known. */
struct end {
	bool lost;
	int exit_code; /* -1: none */
	int signal;    /* 0: none */
};

/* "1" or "64-127" */
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
	/* Shells say so of what they ran. */
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

/* Twice as long each time. */
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
	    outcome->cause == OUTCOME_CANCEL)
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
				 "rule %zu of jobrun.restart says so", i + 1);
		return;
	}
	if (before >= most) {
		if (before)
			snprintf(out->why_not, sizeof(out->why_not),
				 "it was restarted %d time%s already "
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

json_t *restart_json(const struct restart *policy)
{
	const struct restart_rule *rules = policy->rules.items;
	json_t *out = json_object();
	json_t *list = json_array();

	json_put_int(out, "maxRestarts", policy->max_restarts);
	json_put_int(out, "maxPreemptions", policy->max_preemptions);
	json_put_int(out, "backoffS", policy->backoff_s);
	json_put_int(out, "maxBackoffS", policy->max_backoff_s);
	for (size_t i = 0; i < policy->rules.count; i++) {
		json_t *rule = json_object();

		json_put(rule, "exitCodes",
			 json_texts(rules[i].exit_codes.items,
				    rules[i].exit_codes.count));
		json_put(rule, "signals",
			 json_texts(rules[i].signals.items,
				    rules[i].signals.count));
		json_put(rule, "preempted", json_boolean(rules[i].preempted));
		json_put(rule, "fail",
			 json_boolean(rules[i].action == RESTART_ACTION_FAIL));
		json_array_append_new(list, rule);
	}
	json_put(out, "rules", list);
	return out;
}

static void read_texts(const json_t *array, struct arena *mem,
		       struct strings *out)
{
	out->items =
		arena_alloc(mem, json_array_size(array) * sizeof(*out->items));
	for (size_t i = 0; i < json_array_size(array); i++) {
		const char *text = json_string_value(json_array_get(array, i));

		if (text)
			out->items[out->count++] = arena_strdup(mem, text);
	}
}

void restart_from_json(const json_t *value, struct arena *mem,
		       struct restart *out)
{
	const json_t *list = json_object_get(value, "rules");
	size_t count = json_array_size(list);
	struct restart_rule *rules = arena_alloc(mem, count * sizeof(*rules));

	*out = (struct restart){
		.rules = { .count = count, .items = rules },
		.max_restarts = (long)json_get_int(value, "maxRestarts", 0),
		.max_preemptions =
			(long)json_get_int(value, "maxPreemptions", 0),
		.backoff_s = (long)json_get_int(value, "backoffS", 0),
		.max_backoff_s = (long)json_get_int(value, "maxBackoffS", 0),
	};
	for (size_t i = 0; i < count; i++) {
		const json_t *rule = json_array_get(list, i);

		read_texts(json_object_get(rule, "exitCodes"), mem,
			   &rules[i].exit_codes);
		read_texts(json_object_get(rule, "signals"), mem,
			   &rules[i].signals);
		rules[i].preempted =
			json_is_true(json_object_get(rule, "preempted"));
		rules[i].action = json_is_true(json_object_get(rule, "fail"))
					  ? RESTART_ACTION_FAIL
					  : RESTART_ACTION_RESTART;
	}
}
