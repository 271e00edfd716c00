/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of the run: they are started, their output goes into the spool,
 * their end is reported. */
#include "cmd/jobrun-host/agent.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/environment.h"

#define AFTER_S 20

/* Reports lost output as soon as there is room for that. */
static void report_lost(struct child *child, int stream)
{
	struct frame_event event = { .task = child->ordinal,
				     .stream = (uint32_t)stream,
				     .round = child->agent->round,
				     .time_ms = (uint64_t)time_now_ms(),
				     .value = (int64_t)child->lost[stream] };
	struct wire_out out = { 0 };

	frame_put_event(&out, FRAME_LOST, &event);
	if (spool_add(child->agent->spool, out.data, out.len))
		child->lost[stream] = 0;
	wire_out_done(&out);
}

/* Reads and drops a piece of output, as not even the loss of earlier output
 * could be reported yet. */
static ssize_t drop_piece(struct child *child, int stream, int pipe)
{
	char block[4096];
	ssize_t n = read(pipe, block, sizeof(block));

	child->lost[stream] += n > 0 ? (uint64_t)n : 0;
	return n;
}

static ssize_t take_output(void *arg, int stream, int pipe, size_t limit)
{
	struct child *child = arg;
	struct agent *agent = child->agent;
	const struct frame_output frame = { .task = child->ordinal,
					    .stream = (uint32_t)stream,
					    .round = agent->round,
					    .time_ms =
						    (uint64_t)time_now_ms() };
	bool kept;
	ssize_t n;

	(void)limit; /* a frame holds less */
	if (child->lost[stream] && spool_has_room(agent->spool))
		report_lost(child, stream);
	if (child->lost[stream])
		return drop_piece(child, stream, pipe);
	n = spool_take(agent->spool, pipe, &frame, &kept);
	if (n <= 0)
		return n;
	if (!kept)
		child->lost[stream] += (uint64_t)n;
	if (agent->channel)
		channel_pump(agent->channel);
	return n;
}

int child_start(struct child *child, char *const *argv, char *const *env,
		const char *directory, struct error *err)
{
	struct environment whole = { 0 };
	int ret;

	environment_inherit(&whole, env);
	environment_inherit(&whole, environ);
	ret = task_start(&child->task, argv, whole.items, directory, err);
	environment_done(&whole);
	return ret;
}

void child_drain(struct child *child)
{
	task_drain(&child->task);
	for (int i = 0; i < TASK_STREAMS; i++)
		if (child->lost[i])
			report_lost(child, i);
}

static void after_ended(void *arg, int status)
{
	struct child *child = arg;

	(void)status;
	child->agent->alive--;
}

/* Runs the command that removes what a task may have left elsewhere.  The run
 * on this host goes on during that time, within limits. */
static void run_after(struct child *child)
{
	pid_t pid;
	int null;

	if (!child->after)
		return;
	pid = fork();
	if (pid > 0) {
		reaper_watch(child->agent->parent.reaper, pid, after_ended,
			     child);
		child->agent->alive++;
	}
	if (pid != 0)
		return;
	null = open("/dev/null", O_RDWR);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	setpgid(0, 0);
	alarm(AFTER_S);
	execvp(child->after[0], child->after);
	_exit(127);
}

static void task_ended(void *arg, int status)
{
	struct child *child = arg;

	child->agent->alive--;
	/* The rest of its output comes before its end. */
	task_take(&child->task);
	agent_report(child->agent, FRAME_TASK_ENDED, child->ordinal, status,
		     NULL);
	run_after(child);
}

static void setup_ended(void *arg, int status)
{
	struct child *setup = arg;

	child_drain(setup);
	prepare_setup_ended(setup->agent, status);
}

static const struct task_hooks task_hooks = { .take = take_output,
					      .ended = task_ended };
static const struct task_hooks setup_hooks = { .take = take_output,
					       .ended = setup_ended };

void child_init(struct child *child, struct agent *agent, bool is_setup)
{
	child->agent = agent;
	task_init(&child->task, &agent->parent,
		  is_setup ? &setup_hooks : &task_hooks, child);
}
