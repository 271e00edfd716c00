/* SPDX-License-Identifier: Apache-2.0 */
/* START: begins the tasks of a round. */
#include "cmd/jobrun-host/agent.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/file.h"

#define LIMIT_SLACK_MS 30000 /* the client's own limit comes first */

static int start_task(struct child *task, struct wire_in *in)
{
	char *directory, **argv, **env;
	struct error err;

	task->ordinal = wire_get_u32(in);
	directory = wire_get_string(in);
	argv = wire_get_list(in);
	env = wire_get_list(in);
	task->after = wire_get_list(in);
	if (task->after && !task->after[0]) {
		wire_list_free(task->after);
		task->after = NULL;
	}
	if (in->bad) {
		/* is_start() has checked the whole frame before. */
	} else if (child_start(task, argv, env, directory, &err) < 0) {
		agent_report(task->agent, FRAME_TASK_FAILED, task->ordinal, 0,
			     err.text);
	} else {
		task->agent->alive++;
		agent_report(task->agent, FRAME_TASK_STARTED, task->ordinal,
			     task->task.pid, NULL);
	}
	free(directory);
	wire_list_free(argv);
	wire_list_free(env);
	return in->bad ? -1 : 0;
}

/* Whether the frame is complete; otherwise no task is started. */
static bool is_start(struct wire_in in)
{
	uint32_t i, count;
	int list;

	wire_get_u32(&in);
	wire_get_u32(&in);
	wire_get_u32(&in);
	free(wire_get_string(&in));
	count = wire_get_count(&in, FRAME_TASKS_MAX, 20);
	for (i = 0; i < count && !in.bad; i++) {
		wire_get_u32(&in);
		free(wire_get_string(&in));
		for (list = 0; list < 3 && !in.bad; list++)
			wire_list_free(wire_get_list(&in));
	}
	return wire_is_done(&in);
}

void agent_forget_tasks(struct agent *agent)
{
	size_t i;

	for (i = 0; i < agent->task_count; i++) {
		child_drain(&agent->tasks[i]);
		wire_list_free(agent->tasks[i].after);
	}
	free(agent->tasks);
	agent->tasks = NULL;
	agent->task_count = 0;
}

/* Makes the output folder for the tasks of a round. */
static void make_output(struct wire_in *in)
{
	char *folder = wire_get_string(in);
	struct error err;

	/* A task that needs the folder explains its absence better. */
	if (folder && folder_make(folder, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	free(folder);
}

int agent_start(struct agent *agent, struct wire_in in, struct error *err)
{
	uint32_t i, round, limit_s;

	if (!is_start(in))
		return error_set(err, ERROR_FAILED, "it is invalid");
	round = wire_get_u32(&in);
	if (round <= agent->round)
		return 0;
	if ((agent->state != AGENT_READY && agent->state != AGENT_ENDED) ||
	    !agent->prepared)
		return error_set(err, ERROR_FAILED, "the host is not ready");
	if (lease_keep(agent, err) < 0)
		return -1;
	prepare_close_ports(agent);
	agent_forget_tasks(agent);
	agent->state = AGENT_STARTED;
	agent->round = round;
	agent->why[0] = '\0';
	agent_report(agent, FRAME_ROUND, 0, 0, NULL);
	agent->lease_s = (long)wire_get_u32(&in);
	limit_s = wire_get_u32(&in);
	make_output(&in);
	agent->task_count = wire_get_count(&in, FRAME_TASKS_MAX, 20);
	agent->tasks = mem_alloc(agent->task_count * sizeof(*agent->tasks));
	for (i = 0; i < agent->task_count; i++) {
		child_init(&agent->tasks[i], agent, false);
		if (start_task(&agent->tasks[i], &in) < 0)
			return error_set(err, ERROR_FAILED, "it is invalid");
	}
	if (limit_s)
		agent->limit_timer = loop_add_timer(
			agent->loop, limit_s * INT64_C(1000) + LIMIT_SLACK_MS,
			agent_out_of_time, agent);
	agent_rearm_watch(agent);
	agent_end_if_done(agent);
	return 0;
}
