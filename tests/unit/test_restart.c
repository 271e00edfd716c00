/* SPDX-License-Identifier: Apache-2.0 */
/* What follows when an attempt has failed. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/spec/restart.h"

static const char *codes_64[] = { "1", "64-127" };
static const char *codes_3[] = { "3" };
static const char *segv[] = { "SIGSEGV", "SIGKILL" };

static struct restart_rule rules[] = {
	{ .exit_codes = { 1, codes_3 }, .action = RESTART_ACTION_FAIL },
	{ .exit_codes = { 2, codes_64 }, .action = RESTART_ACTION_RESTART },
	{ .signals = { 2, segv }, .action = RESTART_ACTION_RESTART },
	{ .preempted = true, .action = RESTART_ACTION_RESTART },
	{ .action = RESTART_ACTION_FAIL },
};

static const struct restart policy = {
	.rules = { .count = 5, .items = rules },
	.max_restarts = 3,
	.max_preemptions = 5,
	.backoff_s = 10,
	.max_backoff_s = 35,
};

#define BY_RULE(n) "by rule " #n " of jobrun.restart"

static void rules_and_counts_decide(void **state)
{
	static const struct {
		enum attempt_cause cause;
		int exit_code;
		int signal;
		int failures;
		int preemptions;
		bool again;
		int delay_s;
		const char *why_not;
	} cases[] = {
		/* None of these is a failure. */
		{ OUTCOME_SUCCESS, 0, 0, 0, 0, false, 0, "" },
		{ OUTCOME_CANCEL, 0, 0, 0, 0, false, 0, "" },
		{ OUTCOME_HELD, 75, 0, 0, 0, false, 0, "" },
		/* The first rule that matches decides. */
		{ OUTCOME_TASK, 3, 0, 0, 0, false, 0, BY_RULE(1) },
		{ OUTCOME_TASK, 1, 0, 0, 0, true, 10, "" },
		{ OUTCOME_TASK, 63, 0, 0, 0, false, 0, BY_RULE(5) },
		{ OUTCOME_TASK, 64, 0, 0, 0, true, 10, "" },
		{ OUTCOME_TASK, 127, 0, 0, 0, true, 10, "" },
		{ OUTCOME_TASK, 128, 0, 0, 0, false, 0, BY_RULE(5) },
		{ OUTCOME_TASK, 139, SIGSEGV, 0, 0, true, 10, "" },
		{ OUTCOME_TASK, 134, SIGABRT, 0, 0, false, 0, BY_RULE(5) },
		/* A shell reports signals in this way. */
		{ OUTCOME_TASK, 137, 0, 0, 0, true, 10, "" },
		{ OUTCOME_LOST, -1, 0, 0, 0, true, 10, "" },
		{ OUTCOME_OTHER, -1, 0, 0, 0, false, 0, BY_RULE(5) },
		/* The delay doubles each time, up to the limit. */
		{ OUTCOME_TASK, 1, 0, 1, 0, true, 20, "" },
		{ OUTCOME_TASK, 1, 0, 2, 0, true, 35, "" },
		{ OUTCOME_TASK, 1, 0, 3, 0, false, 0,
		  "already restarted 3 times (jobrun.restart.maxRestarts)" },
		/* Failures and preemptions are counted separately. */
		{ OUTCOME_LOST, -1, 0, 3, 0, true, 10, "" },
		{ OUTCOME_LOST, -1, 0, 0, 4, true, 35, "" },
		{ OUTCOME_TASK, 1, 0, 0, 5, true, 10, "" },
		{ OUTCOME_LOST, -1, 0, 0, 5, false, 0,
		  "already restarted 5 times (jobrun.restart.maxPreemptions)" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct restart_counts counts = { cases[i].failures,
						       cases[i].preemptions };
		const struct task_record task = {
			.exit_code = cases[i].exit_code,
			.signal = cases[i].signal,
		};
		const struct attempt_outcome outcome = {
			.cause = cases[i].cause,
			.task = &task,
			.exit_code = cases[i].exit_code,
		};
		struct restart_decision out;

		restart_decide(&policy, &counts, &outcome, &out);
		if (out.again != cases[i].again ||
		    strcmp(out.why_not, cases[i].why_not) != 0)
			print_message("case %zu\n", i);
		assert_int_equal(out.again, cases[i].again);
		assert_int_equal(out.delay_ms, cases[i].delay_s * 1000);
		assert_string_equal(out.why_not, cases[i].why_not);
		assert_int_equal(
			out.counts.failures,
			cases[i].failures +
				(out.again && cases[i].cause != OUTCOME_LOST));
		assert_int_equal(
			out.counts.preemptions,
			cases[i].preemptions +
				(out.again && cases[i].cause == OUTCOME_LOST));
	}
}

static void without_restarts_nothing_is_said(void **state)
{
	const struct restart none = { .max_preemptions = 10 };
	const struct task_record task = { .exit_code = 1 };
	const struct attempt_outcome outcome = { .cause = OUTCOME_TASK,
						 .task = &task };
	struct restart_decision out;

	(void)state;
	restart_decide(&none, &(struct restart_counts){ 0 }, &outcome, &out);
	assert_false(out.again);
	assert_string_equal(out.why_not, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_and_counts_decide),
		cmocka_unit_test(without_restarts_nothing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
