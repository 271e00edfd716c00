/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the client the contents of the tasks' output folder. */
#include "cmd/jobrun-host/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/ssh/agent_archive.h"

/* Reading from the packer stops while this much waits to be sent. */
#define QUEUED_MAX (1 << 20)
#define PAUSE_MS 5

struct host_fetch {
	struct agent *agent;
	struct channel *channel; /* the one that asked; both end together */
	int from;
	struct loop_event *event;
	unsigned char frame[FRAME_HEADER + FRAME_PIECE];
};

static void on_packed(void *arg, uint32_t events);

static void end(struct host_fetch *fetch)
{
	loop_remove(fetch->agent->loop, fetch->event);
	close(fetch->from);
	free(fetch);
}

static int listen_to_packer(struct host_fetch *fetch)
{
	struct error err;

	fetch->event = loop_add_fd(fetch->agent->loop, fetch->from, EPOLLIN,
				   on_packed, fetch, &err);
	return fetch->event ? 0 : -1;
}

static void go_on(void *arg, uint32_t events)
{
	struct host_fetch *fetch = arg;

	fetch->event = NULL;
	on_packed(fetch, events);
}

static void on_packed(void *arg, uint32_t events)
{
	struct host_fetch *fetch = arg;
	struct agent *agent = fetch->agent;
	struct wire_out out = { 0 };
	ssize_t n;

	(void)events;
	loop_remove(agent->loop, fetch->event);
	fetch->event = NULL;
	if (agent->channel != fetch->channel) {
		end(fetch);
		return;
	}
	if (channel_queued(agent->channel) > QUEUED_MAX) {
		fetch->event =
			loop_add_timer(agent->loop, PAUSE_MS, go_on, fetch);
		return;
	}
	n = read(fetch->from, fetch->frame + FRAME_HEADER, FRAME_PIECE);
	if (n < 0)
		n = 0;
	frame_header(fetch->frame, FRAME_SHIP, (size_t)n);
	wire_put_bytes(&out, fetch->frame, FRAME_HEADER + (size_t)n);
	if (n == 0 || listen_to_packer(fetch) < 0) {
		end(fetch);
	}
	agent_send(agent, &out);
	wire_out_done(&out);
}

int fetch_begin(struct agent *agent, struct wire_in *in, struct error *err)
{
	char *folder = wire_get_string(in);
	pid_t parent = getpid();
	struct host_fetch *fetch;
	int ends[2];
	pid_t pid;

	if (!folder || pipe2(ends, O_CLOEXEC) < 0) {
		free(folder);
		return folder ? error_errno(err, "cannot create a pipe")
			      : error_set(err, ERROR_FAILED, "it is invalid");
	}
	pid = fork();
	if (pid == 0) {
		struct error ignored;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		/* After a failure the archive lacks its end, which the client
		 * notices. */
		_exit(archive_pack(folder, ends[1], &ignored) < 0);
	}
	free(folder);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return error_errno(err, "cannot fork");
	}
	fetch = mem_alloc(sizeof(*fetch));
	fetch->agent = agent;
	fetch->channel = agent->channel;
	fetch->from = ends[0];
	if (listen_to_packer(fetch) < 0) {
		end(fetch);
		return error_set(err, ERROR_FAILED, "cannot read its output");
	}
	return 0;
}
