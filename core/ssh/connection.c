/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ssh/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/ssh/bootstrap.h"
#include "core/process/process.h"

#define CHUNK_SIZE (256 << 10)
/* The bytes of an OUTPUT beyond this are not read, but left in the pipe. */
#define REST_MIN (16 << 10)
/* How often the agent is told how much has arrived. */
#define TELL_EVERY (FRAME_WINDOW / 4)
/* Limits how long one host delays the others. */
#define ROUNDS 8
#define STDERR_MAX (16 << 10)
#define READY_MS 60000
#define SSH_FAILED 255     /* ssh's own status; others are the command's */
#define NOT_EXECUTABLE 126 /* a shell's status for this */
#define KILLED 128         /* plus the number of the signal */

struct connection {
	struct connection_deps deps;
	const struct connection_hooks *hooks;
	void *arg;
	char *script;
	struct bootstrap bootstrap;
	struct ssh_command *command;
	pid_t pid; /* 0: it has ended */
	int status;
	int in, out, err; /* our ends of its pipes; -1: closed */
	struct loop_event *in_event, *out_event, *err_event;
	struct loop_event *ready_timer;
	struct buf received;
	struct frame_output rest; /* its rest is still in the pipe */
	/* the last frame was long, and the next may be, too */
	bool is_long;
	bool is_large;        /* the pipe */
	uint64_t taken, told; /* bytes, counted from the agent's first */
	struct buf words;     /* of its standard error */
	struct wire_out queue;
	size_t sent;
	bool ready;
	bool gave_up;
	bool freed; /* freed from within a hook */
	int busy;   /* the number of nested hooks */
};

static void close_end(struct connection *c, int *fd, struct loop_event **event)
{
	loop_remove(c->deps.loop, *event);
	*event = NULL;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void release(struct connection *c)
{
	buf_done(&c->received);
	buf_done(&c->words);
	wire_out_done(&c->queue);
	free(c->script);
	bootstrap_done(&c->bootstrap);
	free(c->command);
	free(c);
}

void connection_free(struct connection *c)
{
	if (!c || c->freed)
		return;
	close_end(c, &c->in, &c->in_event);
	close_end(c, &c->out, &c->out_event);
	close_end(c, &c->err, &c->err_event);
	loop_remove(c->deps.loop, c->ready_timer);
	c->ready_timer = NULL;
	c->freed = true;
	/* Its end is still to be reported. */
	if (c->pid)
		kill(-c->pid, SIGKILL);
	else if (!c->busy)
		release(c);
}

/* Frees what was freed from within a hook; returns true if so. */
static bool left(struct connection *c)
{
	c->busy--;
	if (!c->freed)
		return false;
	if (!c->pid && !c->busy)
		release(c);
	return true;
}

static void read_words(struct connection *c)
{
	char text[4096];
	ssize_t n;

	while (c->err >= 0 && (n = read(c->err, text, sizeof(text))) > 0)
		if (c->words.len < STDERR_MAX)
			buf_add(&c->words, text, (size_t)n);
}

/* Explains the end of the command on the host by its own words rather than
 * ssh's: a shell that may not run the agent reports much the same as a refused
 * login. */
static enum ssh_trouble explain_command(const struct connection *c,
					struct error *err)
{
	bool runs = WEXITSTATUS(c->status) != NOT_EXECUTABLE;
	bool killed = WEXITSTATUS(c->status) > KILLED;
	char line[256];

	text_last_words(buf_text(&c->words), c->words.len, line, sizeof(line));
	if (!runs)
		error_set(err, ERROR_FAILED,
			  "it may not run the agent there (%s): if that file "
			  "system is mounted noexec, set jobrun.hostDirectory "
			  "to a directory on another",
			  line);
	else
		error_set(err, ERROR_FAILED, "%s",
			  *line      ? line
			  : killed   ? "what connects there was killed"
			  : c->ready ? "the agent there ended"
				     : "the agent does not start there");
	return (c->ready && runs) || killed ? SSH_UNREACHABLE : SSH_UNKNOWN;
}

/* Reports the end once ssh has ended and all its output was read. */
static void report_closed(struct connection *c)
{
	/* If we killed ssh, the host's reason is unknown. */
	bool killed = WIFSIGNALED(c->status) && !c->gave_up;
	enum ssh_trouble trouble;
	struct error err = { 0 };

	if (c->pid || c->out >= 0)
		return;
	read_words(c);
	if (WIFEXITED(c->status) && WEXITSTATUS(c->status) != SSH_FAILED)
		trouble = explain_command(c, &err);
	else
		trouble = ssh_explain(buf_text(&c->words), &err);
	if (killed)
		trouble = SSH_UNREACHABLE;
	if (killed && !c->words.len)
		error_set(&err, ERROR_FAILED, "ssh was killed");
	c->busy++;
	c->hooks->closed(c->arg, trouble, &err);
	left(c);
}

static void ssh_ended(void *arg, int status)
{
	struct connection *c = arg;

	c->pid = 0;
	c->status = status;
	--*c->deps.running;
	if (c->freed) {
		if (!c->busy)
			release(c);
		return;
	}
	/* The loop will read the rest of its output first. */
	report_closed(c);
}

static void give_up(void *arg, uint32_t events)
{
	struct connection *c = arg;

	(void)events;
	c->ready_timer = NULL;
	buf_puts(&c->words, "\nConnection timed out before the agent answered");
	c->gave_up = true;
	if (c->pid)
		kill(-c->pid, SIGKILL);
}

static void on_err(void *arg, uint32_t events)
{
	struct connection *c = arg;

	read_words(c);
	if (events & EPOLLHUP)
		close_end(c, &c->err, &c->err_event);
}

/* ---- sending ---- */

static void pump(struct connection *c);

static void on_in(void *arg, uint32_t events)
{
	(void)events;
	pump(arg);
}

static void pump(struct connection *c)
{
	struct error err;

	while (c->in >= 0 && c->sent < c->queue.len) {
		ssize_t n = write(c->in, c->queue.data + c->sent,
				  c->queue.len - c->sent);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (!c->in_event)
				c->in_event =
					loop_add_fd(c->deps.loop, c->in,
						    EPOLLOUT, on_in, c, &err);
			return;
		}
		if (n < 0) { /* ssh has ended, which is reported elsewhere */
			close_end(c, &c->in, &c->in_event);
			return;
		}
		c->sent += (size_t)n;
	}
	if (c->queue.len)
		explicit_bzero(c->queue.data, c->queue.len);
	c->queue.len = c->sent = 0;
	if (!c->in_event)
		return;
	loop_remove(c->deps.loop, c->in_event);
	c->in_event = NULL;
	c->busy++;
	c->hooks->drained(c->arg);
	left(c);
}

void connection_send(struct connection *c, const struct wire_out *out)
{
	if (c->freed || c->in < 0)
		return;
	wire_put_bytes(&c->queue, out->data, out->len);
	/* The loop writes it, so that no hook is called from here. */
	if (!c->in_event) {
		struct error err;

		c->in_event = loop_add_fd(c->deps.loop, c->in, EPOLLOUT, on_in,
					  c, &err);
	}
}

bool connection_flush(struct connection *c, int limit_ms)
{
	int64_t until_ms = time_monotonic_ms() + limit_ms;

	while (!c->freed && c->in >= 0 && c->sent < c->queue.len) {
		struct pollfd room = { .fd = c->in, .events = POLLOUT };
		int64_t left_ms = until_ms - time_monotonic_ms();
		ssize_t n;

		if (left_ms <= 0 || poll(&room, 1, (int)left_ms) <= 0)
			return false;
		n = write(c->in, c->queue.data + c->sent,
			  c->queue.len - c->sent);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		c->sent += n > 0 ? (size_t)n : 0;
	}
	return !c->freed && c->in >= 0;
}

bool connection_await_end(struct connection *c, int limit_ms)
{
	int64_t until_ms = time_monotonic_ms() + limit_ms;
	char nowhere[4096];

	while (!c->freed && c->out >= 0) {
		struct pollfd more = { .fd = c->out, .events = POLLIN };
		int64_t left_ms = until_ms - time_monotonic_ms();
		ssize_t n;

		if (left_ms <= 0 || poll(&more, 1, (int)left_ms) <= 0)
			return false;
		n = read(c->out, nowhere, sizeof(nowhere));
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return true;
	}
	return true;
}

size_t connection_queued(const struct connection *c)
{
	return c->queue.len - c->sent;
}

/* ---- receiving ---- */

/* As bootstrap_take(). */
static int bootstrap(struct connection *c)
{
	struct wire_out answer = { 0 };
	struct error err;
	int ret = bootstrap_take(&c->bootstrap, &c->received, &answer, &err);

	if (answer.len)
		connection_send(c, &answer);
	wire_out_done(&answer);
	if (ret < 0) {
		buf_printf(&c->words, "\n%s", err.text);
		kill(-c->pid, SIGKILL);
	}
	return ret;
}

/* Delivers the part of an OUTPUT that has arrived; false if that is too
 * little. */
static bool deliver_part(struct connection *c, size_t at)
{
	const unsigned char *start =
		(const unsigned char *)buf_text(&c->received) + at;
	size_t len = c->received.len - at;
	struct frame frame = { .type = FRAME_OUTPUT };
	struct frame_output output;
	size_t left;

	if (!frame_get_output_part(start, len, &output, &left) ||
	    left < REST_MIN)
		return false;
	frame.body = start + FRAME_HEADER;
	frame.len = len - FRAME_HEADER;
	if (output.len)
		c->hooks->frame(c->arg, &frame);
	c->rest = output;
	c->rest.data = NULL;
	c->rest.len = left;
	return true;
}

static void deliver(struct connection *c)
{
	struct frame frame;
	size_t at = 0, used;

	c->rest.len = 0;
	c->is_long = false;
	while (!c->freed) {
		enum frame_found found =
			frame_find(buf_text(&c->received) + at,
				   c->received.len - at, &frame, &used);

		if (found == FRAME_BROKEN) {
			buf_puts(&c->words, "\nwhat it sends is no frame");
			kill(-c->pid, SIGKILL);
			return;
		}
		if (found == FRAME_NONE) {
			c->is_long = deliver_part(c, at);
			break;
		}
		at += used;
		c->hooks->frame(c->arg, &frame);
	}
	if (c->freed)
		return;
	buf_drop(&c->received, c->is_long ? c->received.len : at);
	if (c->is_long && !c->is_large && c->deps.pipe_size) {
		c->is_large = true;
		fcntl(c->out, F_SETPIPE_SZ, c->deps.pipe_size);
	}
}

/* Returns false if the connection is gone. */
static bool on_received(struct connection *c)
{
	int ret = 1;

	c->busy++;
	if (!c->ready)
		ret = bootstrap(c);
	if (ret > 0 && !c->ready) {
		c->ready = true;
		c->taken = c->received.len;
		loop_remove(c->deps.loop, c->ready_timer);
		c->ready_timer = NULL;
		c->hooks->ready(c->arg);
	}
	if (ret > 0 && !c->freed)
		deliver(c);
	return !left(c);
}

/* Reports how much has arrived; if the pipe is full, does so later. */
static void tell_taken(struct connection *c)
{
	struct wire_out out = { 0 };

	if (c->taken - c->told < TELL_EVERY || c->queue.len || c->in < 0)
		return;
	wire_begin(&out, FRAME_TAKEN);
	wire_put_u64(&out, c->taken);
	wire_end(&out);
	/* A write this short is all or nothing. */
	if (write(c->in, out.data, out.len) == (ssize_t)out.len)
		c->told = c->taken;
	wire_out_done(&out);
}

static ssize_t take_rest(struct connection *c)
{
	ssize_t n;

	c->busy++;
	n = c->hooks->rest(c->arg, &c->rest, c->out);
	c->rest.len -= n > 0 ? (size_t)n : 0;
	if (left(c)) {
		errno = EAGAIN;
		return -1;
	}
	return n;
}

/* After a long OUTPUT reads only as much as shows the length of the next, so
 * that the next stays in the pipe, too. */
static ssize_t read_more(struct connection *c)
{
	size_t most = c->is_long ? OUTPUT_HEADER : CHUNK_SIZE;
	ssize_t n = read(c->out, buf_reserve(&c->received, most), most);

	if (n > 0)
		c->received.len += (size_t)n;
	return n;
}

static void on_out(void *arg, uint32_t events)
{
	struct connection *c = arg;
	ssize_t n = 1;

	(void)events;
	for (int i = 0; i < ROUNDS && n > 0; i++) {
		bool rest = c->rest.len;

		n = rest ? take_rest(c) : read_more(c);
		if (n > 0)
			c->taken += (uint64_t)n;
		if (n > 0 && !rest && !on_received(c))
			return;
		if (n > 0 && c->ready)
			tell_taken(c);
		/* A short read means that the pipe is empty. */
		if (n > 0 && !c->is_long)
			return;
	}
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	close_end(c, &c->out, &c->out_event);
	report_closed(c);
}

/* ---- the start ---- */

static int open_pipes(struct connection *c, int theirs[3], struct error *err)
{
	int *ours[3] = { &c->in, &c->out, &c->err };

	for (int i = 0; i < 3; i++) {
		int ends[2];
		int mine = i == 0;

		if (pipe2(ends, O_CLOEXEC) < 0)
			return error_errno(err, "cannot create a pipe");
		fcntl(ends[mine], F_SETFL, O_NONBLOCK);
		*ours[i] = ends[mine];
		theirs[i] = ends[!mine];
	}
	c->out_event =
		loop_add_fd(c->deps.loop, c->out, EPOLLIN, on_out, c, err);
	c->err_event =
		loop_add_fd(c->deps.loop, c->err, EPOLLIN, on_err, c, err);
	return c->out_event && c->err_event ? 0 : -1;
}

static int start_ssh(struct connection *c, struct error *err)
{
	const char *name = getenv("JOBRUN_SSH");
	struct rlimit no_files = { 0 };
	struct process_start start = { .argv = c->command->argv,
				       .envp = environ,
				       .directory = "/",
				       .no_files = &no_files };
	int theirs[3] = { -1, -1, -1 };
	char *path = NULL;
	int ret = -1;

	getrlimit(RLIMIT_NOFILE, &no_files);
	path = process_find(name && *name ? name : "ssh", "/", environ, err);
	if (!path || open_pipes(c, theirs, err) < 0)
		goto out;
	start.path = path;
	start.in = theirs[0];
	start.out = theirs[1];
	start.err = theirs[2];
	c->pid = process_start(&start, err);
	if (c->pid > 0)
		ret = 0;
	else
		c->pid = 0;
out:
	for (int i = 0; i < 3; i++)
		if (theirs[i] >= 0)
			close(theirs[i]);
	free(path);
	return ret;
}

struct connection *connection_new(const struct connection_deps *deps,
				  const struct ssh_target *target,
				  const struct connection_hooks *hooks,
				  void *arg, struct error *err)
{
	struct connection *c = mem_alloc(sizeof(*c));

	c->deps = *deps;
	c->hooks = hooks;
	c->arg = arg;
	c->in = c->out = c->err = -1;
	c->script = bootstrap_command(deps->directory);
	c->command = ssh_command_new(target, deps->config, c->script);
	if (start_ssh(c, err) < 0) {
		connection_free(c);
		return NULL;
	}
	reaper_watch(deps->reaper, c->pid, ssh_ended, c);
	++*deps->running;
	c->ready_timer = loop_add_timer(deps->loop, READY_MS, give_up, c);
	return c;
}
