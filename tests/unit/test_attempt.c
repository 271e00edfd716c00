/* SPDX-License-Identifier: Apache-2.0 */
/* How an attempt handles the reports of its backend, whenever these come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/loop.h"
#include "core/supervise/attempt.h"

#define EXITED(code) ((code) << 8)
#define TASKS 3

/* A backend that only records its calls. */
struct fake {
	struct backend base;
	int prepared, started, finished, hurried;
	int signals[TASKS + 1]; /* by task, then for all tasks: the last */
	bool refuses;           /* to prepare */
};

static int fake_prepare(struct backend *backend, struct error *err)
{
	struct fake *fake = (struct fake *)backend;

	fake->prepared++;
	return fake->refuses ? error_set(err, ERROR_FAILED, "no disk") : 0;
}

static void fake_start(struct backend *backend)
{
	((struct fake *)backend)->started++;
}

static void fake_signal(struct backend *backend, size_t ordinal, int number)
{
	struct fake *fake = (struct fake *)backend;

	fake->signals[ordinal == BACKEND_ALL ? TASKS : ordinal] = number;
}

static void fake_finish(struct backend *backend)
{
	((struct fake *)backend)->finished++;
}

static void fake_hurry(struct backend *backend, int64_t grace_ms)
{
	((struct fake *)backend)->hurried++;
	backend->grace_ms = grace_ms;
}

static const struct backend_ops fake_ops = {
	.prepare = fake_prepare,
	.start = fake_start,
	.signal = fake_signal,
	.finish = fake_finish,
	.hurry = fake_hurry,
};

struct fixture {
	struct fake fake;
	struct task_place places[TASKS];
	struct run_spec spec;
	struct task_record tasks[TASKS];
	struct loop *loop;
	struct attempt *attempt;
	int ended;
	int running; /* times that it became so */
};

static void on_task_changed(void *arg, size_t ordinal)
{
	(void)arg;
	assert_true(ordinal < TASKS);
}

static void on_state_changed(void *arg)
{
	struct fixture *f = arg;

	f->running += attempt_state(f->attempt) == RUN_RUNNING;
}

static void on_ended(void *arg)
{
	((struct fixture *)arg)->ended++;
}

static const struct attempt_hooks hooks = {
	.task_changed = on_task_changed,
	.state_changed = on_state_changed,
	.ended = on_ended,
};

/* Begins with a master, a worker and a parameter server; the limit is
 * `max_running_ms`. */
static void begin(struct fixture *f, int64_t max_running_ms)
{
	struct attempt_deps deps;
	struct error err;

	f->fake.base.ops = &fake_ops;
	f->places[0] = (struct task_place){ .type = TASK_MASTER, .host = "h" };
	f->places[1] = (struct task_place){ .type = TASK_WORKER, .host = "h" };
	f->places[2] = (struct task_place){ .type = TASK_PS, .host = "h" };
	f->spec = (struct run_spec){
		.job_id = "a",
		.folder = "/nonexistent",
		.grace_s = 60,
		.max_running_time_s = 1,
		.topology = { .tasks = f->places, .count = TASKS },
	};
	f->loop = loop_new(&err);
	assert_non_null(f->loop);
	deps = (struct attempt_deps){ .spec = &f->spec,
				      .loop = f->loop,
				      .backend = &f->fake.base,
				      .tasks = f->tasks,
				      .max_running_ms = max_running_ms };
	f->attempt = attempt_new(&deps, &hooks, f);
	attempt_begin(f->attempt);
}

static int setup(void **state)
{
	*state = mem_alloc(sizeof(struct fixture));
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	attempt_free(f->attempt);
	loop_free(f->loop);
	free(f);
	return 0;
}

static const struct backend_owner *owner(const struct fixture *f)
{
	return f->fake.base.owner;
}

static void run_all(struct fixture *f)
{
	begin(f, 0);
	owner(f)->prepared(f->attempt, 0, NULL);
	for (size_t i = 0; i < TASKS; i++)
		owner(f)->task_started(f->attempt, i, 100 + (int64_t)i);
	assert_int_equal(attempt_state(f->attempt), RUN_RUNNING);
}

static void end_task(struct fixture *f, size_t ordinal, int status)
{
	owner(f)->task_ended(f->attempt, ordinal, status);
}

static void finish(struct fixture *f)
{
	assert_int_equal(f->fake.finished, 1);
	owner(f)->finished(f->attempt);
	assert_int_equal(f->ended, 1);
	assert_null(f->fake.base.owner);
}

static void assert_outcome(const struct fixture *f, enum run_state state,
			   enum attempt_cause cause, int exit_code,
			   const char *why)
{
	struct attempt_outcome outcome = attempt_outcome(f->attempt);

	assert_int_equal(attempt_state(f->attempt), state);
	assert_int_equal(outcome.cause, cause);
	assert_int_equal(outcome.exit_code, exit_code);
	if (why)
		assert_string_equal(outcome.why, why);
	else
		assert_null(outcome.why);
}

static void it_ends_well_when_the_master_does(void **state)
{
	struct fixture *f = *state;

	run_all(f);
	end_task(f, 1, EXITED(0));
	assert_int_equal(f->fake.finished, 0);
	end_task(f, 0, EXITED(0));
	/* Servers never end by themselves; ending them is no failure. */
	assert_int_equal(f->fake.signals[2], SIGTERM);
	assert_int_equal(f->fake.signals[TASKS], 0);
	end_task(f, 2, SIGTERM);
	assert_int_equal(f->fake.base.grace_ms, -1);
	finish(f);
	assert_outcome(f, RUN_SUCCEEDED, OUTCOME_SUCCESS, 0, NULL);
	assert_int_equal(f->tasks[2].state, RUN_CANCELLED);
}

static void the_first_failure_ends_the_others_and_stays_the_reason(void **state)
{
	struct fixture *f = *state;

	run_all(f);
	end_task(f, 1, EXITED(7));
	assert_int_equal(f->fake.signals[TASKS], SIGTERM);
	end_task(f, 0, EXITED(9));
	attempt_cancel(f->attempt, "cancelled", false);
	end_task(f, 2, SIGKILL);
	finish(f);
	assert_outcome(f, RUN_FAILED, OUTCOME_TASK, 7,
		       "worker 0 exited with 7");
	assert_ptr_equal(attempt_outcome(f->attempt).task, &f->tasks[1]);
	assert_int_equal(f->tasks[0].state, RUN_CANCELLED);
	assert_int_equal(f->tasks[2].exit_code, 128 + SIGKILL);
}

static void a_lost_host_is_another_cause_than_a_failure(void **state)
{
	struct fixture *f = *state;

	run_all(f);
	owner(f)->task_lost(f->attempt, 1, "host 'h': gone");
	end_task(f, 0, SIGTERM);
	end_task(f, 2, SIGTERM);
	finish(f);
	assert_outcome(f, RUN_FAILED, OUTCOME_LOST, -1,
		       "worker 0 was lost: host 'h': gone");
}

static void a_host_that_is_not_to_be_had_again_is_lost(void **state)
{
	struct fixture *f = *state;

	begin(f, 0);
	owner(f)->not_prepared(f->attempt, 1, OUTCOME_LOST,
			       "host 'h': no answer");
	finish(f);
	assert_outcome(f, RUN_FAILED, OUTCOME_LOST, -1, "host 'h': no answer");
	assert_int_equal(f->fake.started, 0);
}

static void a_host_that_another_owner_has_is_to_be_tried_again(void **state)
{
	struct fixture *f = *state;

	begin(f, 0);
	owner(f)->not_prepared(f->attempt, 0, OUTCOME_HELD,
			       "host 'h': 'b' runs it");
	finish(f);
	assert_outcome(f, RUN_FAILED, OUTCOME_HELD, ERROR_TRY_AGAIN,
		       "host 'h': 'b' runs it");
	assert_int_equal(f->fake.started, 0);
}

static void a_host_that_is_not_reached_gives_the_run_its_status(void **state)
{
	struct fixture *f = *state;
	struct run_record run = { .state = RUN_FAILED };

	begin(f, 0);
	owner(f)->not_prepared(f->attempt, 0, OUTCOME_AWAY, "host 'h': away");
	finish(f);
	assert_outcome(f, RUN_FAILED, OUTCOME_AWAY, ERROR_UNREACHABLE,
		       "host 'h': away");
	run.exit_code = attempt_outcome(f->attempt).exit_code;
	assert_int_equal(run_status_unbegun(&run), ERROR_UNREACHABLE);
	/* A program that exits with 69 has begun. */
	run.start_time_ms = 1;
	assert_int_equal(run_status_unbegun(&run), 0);
}

static void a_host_that_lets_nobody_in_gives_the_run_its_status(void **state)
{
	struct fixture *f = *state;

	begin(f, 0);
	owner(f)->not_prepared(f->attempt, 0, OUTCOME_DENIED, "host 'h': no");
	finish(f);
	assert_outcome(f, RUN_FAILED, OUTCOME_DENIED, ERROR_DENIED,
		       "host 'h': no");
}

static void setup_that_fails_is_no_lost_host(void **state)
{
	struct fixture *f = *state;

	begin(f, 0);
	owner(f)->prepared(f->attempt, 0, "setup exited with 9");
	finish(f);
	assert_outcome(f, RUN_FAILED, OUTCOME_OTHER, -1, "setup exited with 9");
	assert_null(attempt_outcome(f->attempt).task);
}

static void what_can_not_even_prepare_has_ended(void **state)
{
	struct fixture *f = *state;

	f->fake.refuses = true;
	begin(f, 0);
	finish(f);
	assert_outcome(f, RUN_FAILED, OUTCOME_OTHER, -1, "no disk");
}

static void a_cancel_while_it_prepares_starts_nothing(void **state)
{
	struct fixture *f = *state;

	begin(f, 0);
	attempt_cancel(f->attempt, "cancelled", false);
	assert_int_equal(attempt_state(f->attempt), RUN_CANCELLING);
	assert_int_equal(f->fake.finished, 0);
	owner(f)->prepared(f->attempt, 0, NULL);
	assert_int_equal(f->fake.started, 0);
	assert_int_equal(f->fake.base.grace_ms, 60000);
	finish(f);
	assert_outcome(f, RUN_CANCELLED, OUTCOME_CANCEL, -1, "cancelled");
	assert_int_equal(f->tasks[0].state, RUN_CANCELLED);
}

static void a_task_that_starts_after_the_end_is_told_of_it(void **state)
{
	struct fixture *f = *state;

	begin(f, 0);
	owner(f)->prepared(f->attempt, 0, NULL);
	owner(f)->task_started(f->attempt, 0, 100);
	owner(f)->task_not_started(f->attempt, 1, "no such file");
	f->fake.signals[2] = 0;
	owner(f)->task_started(f->attempt, 2, 102);
	assert_int_equal(f->fake.signals[2], SIGTERM);
	end_task(f, 0, SIGTERM);
	end_task(f, 2, SIGTERM);
	finish(f);
	assert_outcome(f, RUN_FAILED, OUTCOME_OTHER, -1,
		       "worker 0 did not start: no such file");
}

static void a_task_that_ends_before_the_last_starts_has_run(void **state)
{
	struct fixture *f = *state;

	begin(f, 0);
	owner(f)->prepared(f->attempt, 0, NULL);
	owner(f)->task_started(f->attempt, 1, 101);
	assert_int_equal(f->running, 0);
	end_task(f, 1, EXITED(0));
	assert_int_equal(f->running, 1);
	owner(f)->task_started(f->attempt, 0, 100);
	end_task(f, 0, EXITED(0));
	owner(f)->task_started(f->attempt, 2, 102);
	assert_int_equal(f->fake.signals[2], SIGTERM);
	end_task(f, 2, SIGTERM);
	assert_int_equal(f->running, 1);
	finish(f);
	assert_outcome(f, RUN_SUCCEEDED, OUTCOME_SUCCESS, 0, NULL);
}

static void a_second_cancel_kills(void **state)
{
	struct fixture *f = *state;

	run_all(f);
	attempt_cancel(f->attempt, "cancelled", false);
	assert_int_equal(f->fake.signals[TASKS], SIGTERM);
	attempt_cancel(f->attempt, "cancelled", true);
	assert_int_equal(f->fake.signals[TASKS], SIGKILL);
	for (size_t i = 0; i < TASKS; i++)
		end_task(f, i, SIGKILL);
	/* Saving what is left gets no more time. */
	attempt_cancel(f->attempt, "cancelled", true);
	assert_int_equal(f->fake.hurried, 1);
	assert_int_equal(f->fake.base.grace_ms, 0);
	finish(f);
	assert_outcome(f, RUN_CANCELLED, OUTCOME_CANCEL, -1, "cancelled");
}

static void a_wish_to_cancel_outranks_success_only(void **state)
{
	struct fixture *f = *state;

	run_all(f);
	end_task(f, 0, EXITED(0));
	attempt_cancel(f->attempt, "cancelled", false);
	end_task(f, 1, SIGTERM);
	end_task(f, 2, SIGTERM);
	finish(f);
	assert_outcome(f, RUN_CANCELLED, OUTCOME_CANCEL, -1, "cancelled");
}

static void stop_loop(void *arg, uint32_t events)
{
	(void)events;
	loop_stop(arg);
}

static void out_of_time_is_a_cancel_that_says_so(void **state)
{
	struct fixture *f = *state;
	struct error err;

	begin(f, 1);
	owner(f)->prepared(f->attempt, 0, NULL);
	for (size_t i = 0; i < TASKS; i++)
		owner(f)->task_started(f->attempt, i, 100 + (int64_t)i);
	/* The limit comes before the stop, as timers fire in order. */
	loop_add_timer(f->loop, 50, stop_loop, f->loop);
	assert_int_equal(loop_run(f->loop, &err), 0);
	assert_int_equal(f->fake.signals[TASKS], SIGTERM);
	for (size_t i = 0; i < TASKS; i++)
		end_task(f, i, SIGTERM);
	finish(f);
	assert_outcome(f, RUN_CANCELLED, OUTCOME_CANCEL, -1,
		       "cancelled for exceeding the maximum running time of 1s "
		       "(scheduling.maxRunningTime)");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_ends_well_when_the_master_does),
		TEST(the_first_failure_ends_the_others_and_stays_the_reason),
		TEST(a_lost_host_is_another_cause_than_a_failure),
		TEST(a_host_that_is_not_to_be_had_again_is_lost),
		TEST(a_host_that_another_owner_has_is_to_be_tried_again),
		TEST(a_host_that_is_not_reached_gives_the_run_its_status),
		TEST(a_host_that_lets_nobody_in_gives_the_run_its_status),
		TEST(setup_that_fails_is_no_lost_host),
		TEST(what_can_not_even_prepare_has_ended),
		TEST(a_cancel_while_it_prepares_starts_nothing),
		TEST(a_task_that_starts_after_the_end_is_told_of_it),
		TEST(a_task_that_ends_before_the_last_starts_has_run),
		TEST(a_second_cancel_kills),
		TEST(a_wish_to_cancel_outranks_success_only),
		TEST(out_of_time_is_a_cancel_that_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
