/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon of one run on one host: see agent.h. */
#include "cmd/jobrun-host/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/units.h"
#include "core/process/process.h"
#include "core/process/reserve.h"

#define TOUCH_MS 5000 /* time between touches of a file */

void agent_heard(struct agent *agent)
{
	agent->heard_ms = time_monotonic_ms();
	if (agent->heard_ms - agent->touched_ms < TOUCH_MS)
		return;
	agent->touched_ms = agent->heard_ms;
	utimensat(AT_FDCWD, AGENT_HEARD, NULL, 0);
}

void agent_send(struct agent *agent, struct wire_out *out)
{
	if (agent->channel)
		channel_send(agent->channel, out);
}

void agent_report(struct agent *agent, enum frame_type type, uint32_t task,
		  int64_t value, const char *text)
{
	struct frame_event event = {
		.task = task,
		.round = agent->round,
		.time_ms = (uint64_t)time_now_ms(),
		.value = value,
		.text = { text ? text : "", text ? strlen(text) : 0 },
	};
	struct wire_out out = { 0 };

	frame_put_event(&out, type, &event);
	/* If the disk is full, a connected client gets the event
	 * nevertheless. */
	if (!spool_add(agent->spool, out.data, out.len))
		agent_send(agent, &out);
	else if (agent->channel)
		channel_pump(agent->channel);
	wire_out_done(&out);
}

void agent_channel_lost(struct agent *agent)
{
	channel_free(agent->channel);
	agent->channel = NULL;
	agent->heard_ms = time_monotonic_ms();
	prepare_interrupted(agent);
	lease_check(agent);
	agent_rearm_watch(agent);
}

static void refuse(struct agent *agent, const char *why)
{
	struct wire_out out = { 0 };

	wire_begin(&out, FRAME_REFUSED);
	wire_put_text(&out, why);
	wire_end(&out);
	agent_send(agent, &out);
	wire_out_done(&out);
	if (agent->channel)
		channel_flush(agent->channel);
}

void agent_address(char *out, size_t size)
{
	char text[256] = "";
	const char *from = getenv("SSH_CONNECTION");
	char *save = NULL;
	const char *part;

	if (from)
		snprintf(text, sizeof(text), "%s", from);
	part = strtok_r(text, " ", &save);
	part = part ? strtok_r(NULL, " ", &save) : NULL;
	part = part ? strtok_r(NULL, " ", &save) : NULL;
	snprintf(out, size, "%s", part ? part : "");
}

/* Tests set by how much this host's clock is off. */
static int64_t clock_ms(void)
{
	const char *off_ms = getenv("JOBRUN_TEST_CLOCK_MS");

	return time_now_ms() + (off_ms ? strtoll(off_ms, NULL, 10) : 0);
}

static void welcome(struct agent *agent)
{
	static const enum welcome_stage stages[] = {
		[AGENT_NEW] = STAGE_NEW,
		[AGENT_SHIPPING] = STAGE_NEW,
		[AGENT_PREPARING] = STAGE_PREPARING,
		[AGENT_READY] = STAGE_READY,
		[AGENT_STARTED] = STAGE_STARTED,
		[AGENT_ENDING] = STAGE_STARTED,
		[AGENT_ENDED] = STAGE_ENDED,
	};
	struct wire_out out = { 0 };
	struct statvfs disk;
	char address[256], *machine = lease_machine();

	agent_address(address, sizeof(address));
	wire_begin(&out, FRAME_WELCOME);
	wire_put_u64(&out, (uint64_t)clock_ms());
	wire_put_u64(&out, statvfs(".", &disk) == 0
				   ? (uint64_t)disk.f_bavail * disk.f_frsize
				   : UINT64_MAX);
	wire_put_u32(&out, agent->state == AGENT_ENDED && !agent->prepared
				   ? STAGE_NEW
				   : stages[agent->state]);
	wire_put_u32(&out, agent->round);
	wire_put_text(&out, address);
	wire_put_text(&out, agent->folder);
	wire_put_text(&out, getenv("HOME"));
	wire_put_text(&out, machine);
	wire_end(&out);
	agent_send(agent, &out);
	wire_out_done(&out);
	free(machine);
}

/* ---- the end ---- */

static void kill_all(void *arg, uint32_t events)
{
	struct agent *agent = arg;
	size_t i;

	(void)events;
	agent->kill_timer = NULL;
	task_signal(&agent->setup.task, SIGKILL);
	for (i = 0; i < agent->task_count; i++)
		task_signal(&agent->tasks[i].task, SIGKILL);
	if (prepare_pid(agent))
		kill(prepare_pid(agent), SIGKILL);
}

void agent_end_if_done(struct agent *agent)
{
	size_t i;

	if ((agent->state != AGENT_STARTED && agent->state != AGENT_ENDING) ||
	    agent->alive || prepare_pid(agent))
		return;
	/* We are the subreaper of processes that the tasks have left behind. */
	process_end_children();
	for (i = 0; i < agent->task_count; i++)
		child_drain(&agent->tasks[i]);
	child_drain(&agent->setup);
	prepare_close_ports(agent);
	loop_remove(agent->loop, agent->kill_timer);
	loop_remove(agent->loop, agent->limit_timer);
	agent->kill_timer = agent->limit_timer = NULL;
	agent->state = AGENT_ENDED;
	agent->heard_ms = time_monotonic_ms();
	agent_report(agent, FRAME_ALL_ENDED, 0, 0, agent->why);
	lease_check(agent);
	if (agent->evicted)
		loop_stop(agent->loop);
}

void agent_end(struct agent *agent, long grace_ms)
{
	size_t i;

	if (agent->state == AGENT_ENDED)
		return;
	prepare_interrupted(agent);
	agent->state = AGENT_ENDING;
	task_signal(&agent->setup.task, SIGTERM);
	for (i = 0; i < agent->task_count; i++)
		task_signal(&agent->tasks[i].task, SIGTERM);
	loop_remove(agent->loop, agent->kill_timer);
	agent->kill_timer = NULL;
	if (grace_ms > 0)
		agent->kill_timer =
			loop_add_timer(agent->loop, grace_ms, kill_all, agent);
	else
		kill_all(agent, 0);
	agent_end_if_done(agent);
}

static void end_alone(struct agent *agent, const char *why)
{
	if (agent->state == AGENT_ENDING || agent->state == AGENT_ENDED)
		return;
	snprintf(agent->why, sizeof(agent->why), "%s", why);
	agent_end(agent, agent->lease_s ? 10000 : 0);
}

void agent_out_of_time(void *arg, uint32_t events)
{
	struct agent *agent = arg;

	(void)events;
	agent->limit_timer = NULL;
	end_alone(agent, "the maximum running time was over");
}

static int forget_run(const struct agent *agent, struct error *err)
{
	if (chdir("/") < 0)
		return error_errno(err, "cannot leave '%s'", agent->folder);
	return folder_remove(agent->folder, err);
}

/* Returns how long the agent stays without a client. */
static int64_t patience(const struct agent *agent)
{
	if (agent->state == AGENT_STARTED || agent->state == AGENT_ENDING)
		return agent->lease_s * INT64_C(1000);
	return agent->state == AGENT_NEW && !agent->channel ? AGENT_NEW_MS
							    : AGENT_IDLE_MS;
}

/* Ends the tasks if no client was heard for too long; without tasks the agent
 * itself is not needed either. */
static void watch(void *arg, uint32_t events)
{
	struct agent *agent = arg;
	int64_t silent_ms = time_monotonic_ms() - agent->heard_ms;
	int64_t limit_ms = patience(agent);
	struct error ignored;
	char text[32], why[96];

	(void)events;
	if (silent_ms < limit_ms) {
		agent->watch_timer = loop_add_timer(
			agent->loop, limit_ms - silent_ms, watch, agent);
		return;
	}
	agent->watch_timer =
		loop_add_timer(agent->loop, AGENT_IDLE_MS, watch, agent);
	if (agent->state == AGENT_ENDED || agent->state == AGENT_NEW) {
		/* Nobody needs the files of a run that never began. */
		if (!agent->round)
			forget_run(agent, &ignored);
		loop_stop(agent->loop);
	} else {
		duration_format((long)(silent_ms / 1000), text, sizeof(text));
		snprintf(why, sizeof(why), "heard nothing for %s", text);
		end_alone(agent, why);
	}
}

void agent_rearm_watch(struct agent *agent)
{
	loop_remove(agent->loop, agent->watch_timer);
	agent->watch_timer = NULL;
	watch(agent, 0);
}

/* ---- what it is asked ---- */

static void pong(struct agent *agent)
{
	struct wire_out out = { 0 };

	wire_begin(&out, FRAME_PONG);
	wire_end(&out);
	agent_send(agent, &out);
	wire_out_done(&out);
}

static int release(struct agent *agent, struct error *err)
{
	struct wire_out out = { 0 };

	if (agent->state != AGENT_ENDED && agent->state != AGENT_NEW &&
	    agent->state != AGENT_READY)
		return error_set(err, ERROR_FAILED,
				 "something is running "
				 "there");
	if (forget_run(agent, err) < 0)
		return -1;
	wire_begin(&out, FRAME_RELEASED);
	wire_end(&out);
	agent_send(agent, &out);
	wire_out_done(&out);
	if (agent->channel)
		channel_flush(agent->channel);
	loop_stop(agent->loop);
	return 0;
}

static void signal_task(struct agent *agent, uint32_t task, uint32_t number)
{
	size_t i;

	for (i = 0; i < agent->task_count; i++)
		if (agent->tasks[i].ordinal == task)
			task_signal(&agent->tasks[i].task, (int)number);
}

static int obey(struct agent *agent, const struct frame *frame,
		struct error *err)
{
	struct wire_in in = frame_fields(frame);
	uint32_t task;

	switch (frame->type) {
	case FRAME_LEASE:
		return lease_begin(agent, &in, err);
	case FRAME_PREPARE:
		return prepare_begin(agent, &in, err);
	case FRAME_SHIP:
		return prepare_ship(agent, frame, err);
	case FRAME_CHECK:
		return check_peers(agent, &in, err);
	case FRAME_START:
		return agent_start(agent, in, err);
	case FRAME_FOLLOW:
		return channel_follow(agent->channel, &in) < 0
			       ? error_set(err, ERROR_FAILED, "it is invalid")
			       : 0;
	case FRAME_SIGNAL:
		task = wire_get_u32(&in);
		signal_task(agent, task, wire_get_u32(&in));
		return 0;
	case FRAME_END:
		agent_end(agent, (long)wire_get_u32(&in));
		return 0;
	case FRAME_PING:
		pong(agent);
		return 0;
	case FRAME_TAKEN:
		return channel_taken(agent->channel, &in) < 0
			       ? error_set(err, ERROR_FAILED, "it is invalid")
			       : 0;
	case FRAME_FETCH:
		return fetch_begin(agent, &in, err);
	case FRAME_RELEASE:
		return release(agent, err);
	default:
		return error_set(err, ERROR_FAILED, "it is not for an agent");
	}
}

int agent_receive(struct agent *agent, const struct frame *frame)
{
	char why[sizeof(((struct error *)0)->text) + 64];
	struct error err;

	if (obey(agent, frame, &err) == 0)
		return 0;
	snprintf(why, sizeof(why), "frame %d: %s", (int)frame->type, err.text);
	refuse(agent, why);
	return -1;
}

/* ---- its events ---- */

/* Takes a byte and the two ends of a channel from a connection of `connect`. */
static void on_connection(void *arg, uint32_t events)
{
	struct agent *agent = arg;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	char byte;
	struct iovec data = { &byte, 1 };
	struct msghdr frame = { .msg_iov = &data,
				.msg_iovlen = 1,
				.msg_control = &control,
				.msg_controllen = sizeof(control) };
	struct cmsghdr *head;
	int ends[2];
	ssize_t n;
	struct timeval patience = { .tv_sec = 1 };
	int fd = accept4(agent->listener, NULL, NULL, SOCK_CLOEXEC);

	(void)events;
	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	n = recvmsg(fd, &frame, MSG_CMSG_CLOEXEC);
	if (n == 0) { /* it only checked that we are here */
		close(fd);
		return;
	}
	head = n > 0 ? CMSG_FIRSTHDR(&frame) : NULL;
	if (!head || head->cmsg_type != SCM_RIGHTS ||
	    head->cmsg_len != CMSG_LEN(sizeof(ends))) {
		/* Another run takes the place of this one, and waits until we
		 * close this connection by ending. */
		agent->evicted = true;
		snprintf(agent->why, sizeof(agent->why),
			 "another run took its place");
		agent_end(agent, 0);
		if (agent->state == AGENT_ENDED)
			loop_stop(agent->loop);
		return;
	}
	memcpy(ends, CMSG_DATA(head), sizeof(ends));
	if (agent->channel)
		agent_channel_lost(agent);
	agent->heard_ms = time_monotonic_ms();
	agent->channel = channel_new(agent, ends[0], ends[1], fd);
	welcome(agent);
}

static void hear(void *arg, int number, bool from_kernel)
{
	struct agent *agent = arg;

	(void)from_kernel;
	if (number == SIGCHLD)
		agent_end_if_done(agent);
	else
		end_alone(agent, "the agent was sent SIGTERM");
}

/* ---- its own start and end ---- */

static int begin(struct agent *agent, struct error *err)
{
	sigset_t signals;
	bool begun;

	begun = access("begun", F_OK) == 0;
	if (!begun && (folder_make("output", err) < 0 ||
		       folder_make(agent->cache, err) < 0 ||
		       file_write("begun", "", 0, err) < 0))
		return -1;
	agent_tidy_cache(agent);
	agent->spool = spool_open("spool", err);
	if (!agent->spool)
		return -1;
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	if (task_parent_own(&agent->parent, &signals, hear, agent, err) < 0)
		return -1;
	agent->loop = agent->parent.loop;
	if (!loop_add_fd(agent->loop, agent->listener, EPOLLIN, on_connection,
			 agent, err))
		return -1;
	agent->no_files = reserve_files();
	agent->parent.no_files = &agent->no_files;
	task_parent_open(&agent->parent, 0);
	agent->heard_ms = time_monotonic_ms();
	if (begun)
		agent_take_up(agent);
	watch(agent, 0);
	return 0;
}

char *agent_cache(const char *directory)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	if (directory)
		return mem_strdup(directory);
	if (cache && *cache == '/')
		return mem_printf("%s/jobrun", cache);
	return mem_printf("%s/.cache/jobrun", home ? home : "");
}

int agent_main(const char *directory, const char *folder, int listener)
{
	struct agent agent = { .folder = mem_strdup(folder),
			       .listener = listener };
	struct error err;
	int ret = 1;

	agent.cache = agent_cache(directory);
	child_init(&agent.setup, &agent, true);
	prctl(PR_SET_NAME, "jobrun-host");
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	if (begin(&agent, &err) < 0 || loop_run(agent.loop, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	else
		ret = 0;
	process_end_children();
	lease_drop(&agent);
	channel_free(agent.channel);
	agent.channel = NULL;
	prepare_free(agent.prepare);
	child_drain(&agent.setup);
	agent_forget_tasks(&agent);
	close(listener);
	spool_close(agent.spool);
	task_parent_close(&agent.parent);
	free(agent.folder);
	free(agent.cache);
	return ret;
}
