/* SPDX-License-Identifier: Apache-2.0 */
/* Timers, descriptors, and callbacks that remove each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/loop.h"

struct trace {
	struct loop *loop;
	struct loop_event *other;
	struct buf text;
	int fd;
	int count;
};

static void add_a(void *arg, uint32_t events)
{
	struct trace *trace = arg;

	assert_int_equal(events, 0);
	buf_putc(&trace->text, 'a');
}

static void add_b(void *arg, uint32_t events)
{
	(void)events;
	buf_putc(&((struct trace *)arg)->text, 'b');
}

static void stop(void *arg, uint32_t events)
{
	(void)events;
	loop_stop(((struct trace *)arg)->loop);
}

static void timers_fire_in_order(void **state)
{
	struct error err = { 0 };
	struct trace trace = { .loop = loop_new(&err) };
	int64_t start = time_monotonic_ms();
	struct loop_event *gone;

	(void)state;
	assert_int_equal(loop_run(trace.loop, &err), 0); /* nothing to do */
	loop_add_timer(trace.loop, 30, add_b, &trace);
	loop_add_timer(trace.loop, 10, add_a, &trace);
	loop_add_timer(trace.loop, -5, add_b, &trace);
	loop_add_timer(trace.loop, 10, add_a, &trace);
	gone = loop_add_timer(trace.loop, 20, add_b, &trace);
	loop_remove(trace.loop, gone);
	loop_remove(trace.loop, NULL);
	assert_int_equal(loop_run(trace.loop, &err), 0);
	assert_string_equal(buf_text(&trace.text), "baab");
	assert_true(time_monotonic_ms() - start >= 30);

	loop_add_timer(trace.loop, 0, stop, &trace);
	loop_add_timer(trace.loop, 60000, add_a, &trace);
	assert_int_equal(loop_run(trace.loop, &err), 0);
	loop_free(trace.loop);
	loop_free(NULL);
	buf_done(&trace.text);
}

static void read_some(void *arg, uint32_t events)
{
	struct trace *trace = arg;
	char text[16];
	ssize_t n = read(trace->fd, text, sizeof(text));

	if (n > 0) {
		buf_add(&trace->text, text, (size_t)n);
	} else {
		assert_true(events & EPOLLHUP);
		loop_remove(trace->loop, trace->other);
		close(trace->fd);
	}
}

static void write_one(void *arg, uint32_t events)
{
	struct trace *trace = arg;

	(void)events;
	if (trace->count < 3) {
		trace->count++;
		assert_int_equal(write(trace->fd, "x", 1), 1);
		loop_add_timer(trace->loop, 1, write_one, arg);
	} else {
		close(trace->fd);
	}
}

static void descriptors_are_served(void **state)
{
	struct error err = { 0 };
	struct loop *loop = loop_new(&err);
	struct trace in = { .loop = loop }, out = { .loop = loop };
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	in.fd = pipes[0];
	out.fd = pipes[1];
	in.other = loop_add_fd(loop, pipes[0], EPOLLIN, read_some, &in, &err);
	assert_non_null(in.other);
	loop_add_timer(loop, 0, write_one, &out);
	/* The loop ends by itself: the pipe is closed, the timer has fired. */
	assert_int_equal(loop_run(loop, &err), 0);
	assert_string_equal(buf_text(&in.text), "xxx");
	assert_null(loop_add_fd(loop, -1, EPOLLIN, read_some, &in, &err));
	assert_string_equal(err.text, "cannot wait for a descriptor: Bad file "
				      "descriptor");
	loop_free(loop);
	buf_done(&in.text);
}

/* Removes the other, whether it has been called or not. */
static void remove_other(void *arg, uint32_t events)
{
	struct trace *trace = arg;

	(void)events;
	trace->count++;
	loop_remove(trace->loop, trace->other);
	loop_stop(trace->loop);
}

static void remove_two(void *arg, uint32_t events)
{
	struct trace *traces = arg;

	(void)events;
	traces[0].count++;
	loop_remove(traces[0].loop, traces[0].other);
	loop_remove(traces[0].loop, traces[1].other);
}

static void callbacks_may_remove_each_other(void **state)
{
	struct error err = { 0 };
	struct loop *loop = loop_new(&err);
	struct trace one = { .loop = loop }, two[2] = { { .loop = loop } };
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	two[0].other =
		loop_add_fd(loop, pipes[0], EPOLLIN, remove_two, two, &err);
	two[1].other =
		loop_add_fd(loop, pipes[1], EPOLLOUT, remove_two, two, &err);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(two[0].count, 1);

	/* Both are due by now, so that one round fires them: an event that has
	 * fired may be removed until the round ends. */
	one.other = loop_add_timer(loop, 0, add_a, &one);
	loop_add_timer(loop, 0, remove_other, &one);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(one.count, 1);
	/* These are left in the loop for loop_free(). */
	loop_add_timer(loop, 5, add_a, &one);
	assert_non_null(
		loop_add_fd(loop, pipes[0], EPOLLIN, read_some, &one, &err));
	loop_free(loop);
	close(pipes[0]);
	close(pipes[1]);
	buf_done(&one.text);
}

static void again_now(void *arg, uint32_t events)
{
	struct trace *trace = arg;

	(void)events;
	if (trace->count++ < 1000000)
		loop_add_timer(trace->loop, 0, again_now, arg);
}

/* A timer that renews itself for "now" must not starve descriptors. */
static void timers_leave_room(void **state)
{
	struct error err = { 0 };
	struct trace trace = { .loop = loop_new(&err) };
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	assert_non_null(
		loop_add_fd(trace.loop, pipes[0], EPOLLIN, stop, &trace, &err));
	loop_add_timer(trace.loop, 0, again_now, &trace);
	assert_int_equal(loop_run(trace.loop, &err), 0);
	assert_true(trace.count < 1000000);
	loop_free(trace.loop);
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_fire_in_order),
		cmocka_unit_test(descriptors_are_served),
		cmocka_unit_test(callbacks_may_remove_each_other),
		cmocka_unit_test(timers_leave_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
