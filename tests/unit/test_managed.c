/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the messages of Google's managed services. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "providers/google/managed/managed_internal.h"

static struct task_place places[] = {
	{ .type = TASK_MASTER, .index = 0 },
	{ .type = TASK_WORKER, .index = 0 },
	{ .type = TASK_WORKER, .index = 1 },
	{ .type = TASK_PS, .index = 0 },
};
static const struct topology all = { .tasks = places, .count = COUNT(places) };

static void tasks_have_many_names(void **state)
{
	static const struct {
		const char *name;
		int ordinal;
	} cases[] = {
		{ "master-replica-0", 0 },
		{ "chief-replica-0", 0 },
		{ "worker-replica-1", 2 },
		{ "ps-replica-0", 3 },
		{ "workerpool0-0", 0 },
		{ "workerpool1-1", 2 },
		{ "workerpool2-0", 3 },
		{ "worker 1", 2 },
		{ "master 0", 0 },
		{ "worker-replica-2", -1 },
		{ "workerpool4-0", -1 },
		{ "workerpool1-1x", -1 },
		{ "service", -1 },
		{ "", -1 },
		{ "worker-replica-", -1 },
		{ "worker-replica--1", -1 },
		{ "evaluator-replica-0", -1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		if (managed_task(&all, cases[i].name) != cases[i].ordinal)
			fail_msg("'%s'", cases[i].name);
}

/* Shows how the tasks ended, "S" for success, "F7" for failure with status 7,
 * "C" for ended, "R" for running, and the run's own exit code. */
static void show(enum run_state state, const char *error, char *out,
		 size_t size)
{
	struct task_record tasks[COUNT(places)];
	size_t i, n = 0;
	int code;

	managed_tasks(&all, state, error, tasks, &code);
	for (i = 0; i < COUNT(places); i++) {
		n += (size_t)snprintf(out + n, size - n, "%c",
				      run_state_name(tasks[i].state)[0]);
		if (tasks[i].exit_code >= 0)
			n += (size_t)snprintf(out + n, size - n, "%d",
					      tasks[i].exit_code);
	}
	snprintf(out + n, size - n, " %d", code);
}

static void ends_of_tasks_are_what_the_service_says(void **state)
{
	static const struct {
		enum run_state state;
		const char *error;
		const char *shown;
	} cases[] = {
		{ RUN_RUNNING, NULL, "RRRR -1" },
		{ RUN_SUCCEEDED, NULL, "S0SSS 0" },
		{ RUN_CANCELLED, "Job is cancelled by the user.", "CCCC -1" },
		{ RUN_FAILED, NULL, "FFFF -1" },
		{ RUN_FAILED, "Internal error occurred.", "FFFF -1" },
		{ RUN_FAILED,
		  "The replica master 0 exited with a non-zero status of 1.",
		  "F1CCC 1" },
		{ RUN_FAILED,
		  "The replica workerpool1-1 exited with a non-zero status "
		  "of 137. To find out more",
		  "CCF137C 137" },
		{ RUN_FAILED,
		  "The replicas worker 0, worker 1 exited with a non-zero "
		  "status of 2. Termination reason: Error.",
		  "CF2F2C 2" },
		{ RUN_FAILED,
		  "The replica ps 0 ran out-of-memory and exited with a "
		  "non-zero status of 9(SIGKILL).",
		  "CCCF137 137" },
		{ RUN_FAILED,
		  "The replica worker 0 exited with a non-zero status of 3. "
		  "The replica worker 1 exited with a non-zero status of 4.",
		  "CF3F4C 3" },
		/* The message names no known task. */
		{ RUN_FAILED,
		  "The replica worker 7 exited with a non-zero status of 5.",
		  "CCCC 5" },
		{ RUN_FAILED, "The replica exited with a non-zero status of ",
		  "FFFF -1" },
		{ RUN_FAILED,
		  "The replica , exited with a non-zero status of x",
		  "FFFF -1" },
		{ RUN_FAILED, "The replica", "FFFF -1" },
	};
	char got[64];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		show(cases[i].state, cases[i].error, got, sizeof(got));
		assert_string_equal(got, cases[i].shown);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_have_many_names),
		cmocka_unit_test(ends_of_tasks_are_what_the_service_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
