/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of the spool of a host's agent: output for the logs, and
 * events. */
#include "core/supervise/hosts_internal.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"

/* Whether the logs belong to that round: late output of an earlier attempt must
 * not get into them. */
static bool is_of_logs(const struct hosts *all, uint32_t round)
{
	return !all->before || round > all->before;
}

/* Returns the log for the output; NULL if the task is not on this host or the
 * output is not of this attempt. */
static struct log_writer *log_of(const struct host *host,
				 const struct frame_output *output)
{
	const struct hosts *all = host->all;

	return output->task < all->task_count &&
			       host_task(host, output->task) == output->task &&
			       is_of_logs(all, output->round)
		       ? all->deps.logs[output->task]
		       : NULL;
}

void host_take_output(struct host *host, const struct frame *frame)
{
	struct frame_output output;
	struct log_writer *log;

	if (!frame_get_output(frame, &output))
		return;
	log = log_of(host, &output);
	if (log)
		log_writer_add(log, (enum log_stream)output.stream, output.data,
			       output.len,
			       (int64_t)output.time_ms + host->clock_ms);
}

ssize_t host_take_rest(void *arg, const struct frame_output *output, int fd)
{
	struct host *host = arg;
	struct log_writer *log = log_of(host, output);
	char nowhere[4096];

	host->heard_ms = host->spoke_ms = time_monotonic_ms();
	if (log)
		return log_writer_take(
			log, (enum log_stream)output->stream, fd, output->len,
			(int64_t)output->time_ms + host->clock_ms);
	return read(fd, nowhere,
		    output->len < sizeof(nowhere) ? output->len
						  : sizeof(nowhere));
}

static void on_all_ended(struct host *host, const struct frame_event *event)
{
	struct hosts *all = host->all;
	struct backend *backend = &all->base;
	char *why = mem_printf("host '%s': %.*s", host->target.name,
			       (int)event->text.len, event->text.data);
	size_t i;

	host->stage = HOST_ENDED;
	host->may_run = false;
	/* The agent cannot report the exit of a task it did not see end. */
	for (i = host_task(host, 0); i < all->task_count;
	     i = host_task(host, i + 1)) {
		if (all->tasks[i] != TASK_STARTED)
			continue;
		all->tasks[i] = TASK_ENDED;
		if (backend->owner)
			backend->owner->task_lost(backend->owner_arg, i, why);
	}
	free(why);
	host->agent_stage = STAGE_ENDED;
	if (all->stage == HOSTS_REACHING && host->agent_round &&
	    !host_must_lease(host))
		host_settle(host, HOST_ENDED);
	hosts_ended(all);
}

/* Handles output that the agent has freed.  A client has received it; if that
 * was another client, or its log was lost, the output is lost. */
static void take_freed(struct host *host, const struct frame_event *event)
{
	struct log_writer *log = host->all->deps.logs[event->task];
	enum log_stream stream = (enum log_stream)event->stream;
	uint64_t have = log_writer_position(log, stream);

	if (is_of_logs(host->all, event->round) &&
	    (uint64_t)event->value > have)
		log_writer_lose(log, stream, (uint64_t)event->value - have,
				(int64_t)event->time_ms + host->clock_ms);
}

/* Whether the frame tells how an earlier attempt to prepare the host has ended,
 * which is being prepared again. */
static bool is_told_again(const struct host *host, const struct frame *frame,
			  const struct frame_event *event)
{
	return (frame->type == FRAME_PREPARE_FAILED ||
		frame->type == FRAME_ALL_ENDED) &&
	       host->stage == HOST_PREPARING &&
	       event->time_ms < host->greeted_ms;
}

void host_take_event(struct host *host, const struct frame *frame)
{
	struct hosts *all = host->all;
	struct frame_event event;
	char *why;

	if (!frame_get_event(frame, &event) || event.task >= all->task_count)
		return;
	if (frame->type == FRAME_ROUND || is_told_again(host, frame, &event)) {
		return;
	} else if (frame->type == FRAME_LOST) {
		if (is_of_logs(all, event.round))
			log_writer_lose(all->deps.logs[event.task],
					(enum log_stream)event.stream,
					(uint64_t)event.value,
					(int64_t)event.time_ms +
						host->clock_ms);
	} else if (frame->type == FRAME_FREED) {
		take_freed(host, &event);
	} else if (frame->type == FRAME_PREPARE_FAILED) {
		why = mem_printf("%.*s", (int)event.text.len, event.text.data);
		host->stage = HOST_READY;
		host->failed = true;
		hosts_failed(all, host, why);
		free(why);
	} else if (frame->type == FRAME_ALL_ENDED) {
		/* The end of an earlier round does not mean that the current
		 * one has ended. */
		if (event.round == host->agent_round)
			on_all_ended(host, &event);
	} else if (all->begun && event.round == all->begun) {
		hosts_task_event(all, frame, &event);
	}
}
