/* SPDX-License-Identifier: Apache-2.0 */
/* Forwards ports of this machine to a task's machine.  Each connection is a
 * process of its own, `jobrun forward JOB stdio:PORT`, which becomes what
 * reaches the task as it is then: a restart of the run only cuts connections. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/interrupt.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/ui/waiting.h"
#include "cmd/jobrun/view/beside.h"
#include "cmd/jobrun/view/outcome.h"
#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/enter/port.h"
#include "core/process/process.h"

#define PORTS_MAX 32
/* More than this many connections wait until one ends. */
#define CONNECTIONS_MAX 64
#define END_MS 2000
/* The words of a connection's process. */
#define WORDS_MAX 14

struct forwarding;

/* A port here, and the one that it leads to. */
struct forward_port {
	struct forwarding *all;
	bool is_stdio;
	long here; /* 0: any that is free */
	long there;
	int listener;
	struct loop_event *event; /* NULL: too many connections */
};

struct forward_connection {
	struct forwarding *all;
	pid_t pid; /* 0: none */
	int end;   /* a pidfd */
	struct loop_event *event;
};

struct forwarding {
	struct app *app;
	const struct beside_opts *opts;
	const char *job_id;
	struct loop *loop;
	struct forward_port ports[PORTS_MAX];
	size_t port_count;
	struct forward_connection connections[CONNECTIONS_MAX];
	size_t connection_count;
	char program[PATH_MAX];
};

/* ---- the words --------------------------------------------------------- */

/* Takes "PORT", "HERE:PORT", ":PORT" or "stdio:PORT". */
static int parse_port(const char *word, struct forward_port *out,
		      struct error *err)
{
	size_t len = strcspn(word, ":");
	const char *there = word[len] ? word + len + 1 : word;
	struct error ignored;
	char here[8];

	*out = (struct forward_port){ .listener = -1 };
	snprintf(here, sizeof(here), "%.*s", (int)len, word);
	out->is_stdio = there != word && !strcmp(here, "stdio");
	if (len < sizeof(here) &&
	    number_parse(there, 1, PORT_MAX, &out->there, &ignored) == 0 &&
	    (!len || out->is_stdio ||
	     number_parse(here, 1, PORT_MAX, &out->here, &ignored) == 0))
		return 0;
	return error_set(err, ERROR_USAGE,
			 "'%s' is not [LOCAL:]PORT, with ports from 1 to %d",
			 word, PORT_MAX);
}

static int parse_ports(struct forwarding *f, char **words, int count,
		       struct error *err)
{
	int i;

	if (count > PORTS_MAX)
		return error_set(err, ERROR_USAGE,
				 "no more than %d ports can be forwarded",
				 PORTS_MAX);
	for (i = 0; i < count; i++) {
		if (parse_port(words[i], &f->ports[i], err) < 0)
			return -1;
		if (f->ports[i].is_stdio && count > 1)
			return error_set(err, ERROR_USAGE,
					 "'%s' takes standard input and "
					 "output: give it alone",
					 words[i]);
		f->ports[i].all = f;
		f->port_count++;
	}
	return 0;
}

/* ---- connections ------------------------------------------------------- */

static int start(struct forwarding *f, long port, int fd, struct error *err)
{
	const struct beside_opts *of = f->opts;
	char index[32], trial[32], word[32];
	struct rlimit no_files;
	const char *argv[WORDS_MAX] = { f->program, "forward", "--index",
					index };
	struct process_start what = { .path = f->program,
				      .argv = (char *const *)argv,
				      .envp = environ,
				      .directory = ".",
				      .no_files = &no_files,
				      .in = fd,
				      .out = fd,
				      .err = STDERR_FILENO };
	size_t n = 4;

	getrlimit(RLIMIT_NOFILE, &no_files);
	snprintf(index, sizeof(index), "%ld", of->index);
	snprintf(trial, sizeof(trial), "%ld", of->trial);
	snprintf(word, sizeof(word), "stdio:%ld", port);
	if (of->task) {
		argv[n++] = "--task";
		argv[n++] = of->task;
	}
	if (of->trial) {
		argv[n++] = "--trial";
		argv[n++] = trial;
	}
	if (f->app->trace_http) {
		argv[n++] = "--trace-http";
		argv[n++] = f->app->trace_http;
	}
	argv[n++] = f->job_id;
	argv[n] = word;
	return process_start(&what, err);
}

static void on_connection(void *arg, uint32_t events);

/* Listens while there is room for one more connection. */
static int listen_again(struct forwarding *f, struct error *err)
{
	size_t i;

	for (i = 0; i < f->port_count; i++) {
		struct forward_port *port = &f->ports[i];

		if (!port->event)
			port->event =
				loop_add_fd(f->loop, port->listener, EPOLLIN,
					    on_connection, port, err);
		if (!port->event)
			return -1;
	}
	return 0;
}

static void rest(struct forwarding *f)
{
	size_t i;

	for (i = 0; i < f->port_count; i++) {
		loop_remove(f->loop, f->ports[i].event);
		f->ports[i].event = NULL;
	}
}

static void forget(struct forward_connection *one)
{
	loop_remove(one->all->loop, one->event);
	close(one->end);
	one->pid = 0;
	one->all->connection_count--;
}

static void on_end(void *arg, uint32_t events)
{
	struct forward_connection *one = arg;
	struct error err;

	(void)events;
	waitpid(one->pid, NULL, 0);
	forget(one);
	if (listen_again(one->all, &err) < 0)
		app_fail(one->all->app, &err);
}

static void on_connection(void *arg, uint32_t events)
{
	struct forward_port *port = arg;
	struct forwarding *f = port->all;
	struct forward_connection *one = f->connections;
	struct error err;
	int fd;

	(void)events;
	fd = accept4(port->listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return; /* the client has gone */
	while (one->pid)
		one++;
	one->all = f;
	one->pid = start(f, port->there, fd, &err);
	close(fd);
	if (one->pid < 0) {
		one->pid = 0;
		app_fail(f->app, &err);
		return;
	}
	f->connection_count++;
	one->end = (int)syscall(SYS_pidfd_open, one->pid, 0);
	one->event = loop_add_fd(f->loop, one->end, EPOLLIN, on_end, one, &err);
	if (!one->event) {
		app_fail(f->app, &err);
		process_end(one->pid, time_monotonic_ms(), NULL);
		forget(one);
	}
	if (f->connection_count == CONNECTIONS_MAX)
		rest(f);
}

/* ---- ports ------------------------------------------------------------- */

static int open_listener(struct forward_port *port, struct error *err)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port->here),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(at);
	int on = 1;

	port->listener =
		socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (port->listener >= 0 &&
	    setsockopt(port->listener, SOL_SOCKET, SO_REUSEADDR, &on,
		       sizeof(on)) == 0 &&
	    bind(port->listener, (struct sockaddr *)&at, size) == 0 &&
	    listen(port->listener, SOMAXCONN) == 0 &&
	    getsockname(port->listener, (struct sockaddr *)&at, &size) == 0) {
		port->here = ntohs(at.sin_port);
		return 0;
	}
	if (errno == EADDRINUSE)
		return error_set(err, ERROR_FAILED,
				 "port %ld is in use on this machine; ':%ld' "
				 "takes one that is free",
				 port->here, port->there);
	return error_errno(err, "cannot listen on port %ld", port->here);
}

/* The task would find its own port taken. */
static int check_here(const struct forwarding *f, struct error *err)
{
	size_t i;

	for (i = 0; i < f->port_count; i++)
		if (f->ports[i].here == f->ports[i].there)
			return error_set(
				err, ERROR_USAGE,
				"%s runs on this machine: its port %ld is "
				"127.0.0.1:%ld already",
				f->job_id, f->ports[i].there,
				f->ports[i].there);
	return 0;
}

static int open_ports(struct forwarding *f, struct error *err)
{
	struct buf out = { 0 };
	size_t i;
	int ret = 0;

	for (i = 0; ret == 0 && i < f->port_count; i++) {
		struct forward_port *port = &f->ports[i];

		ret = open_listener(port, err);
		buf_printf(&out,
			   "127.0.0.1:%ld leads to port %ld of %s %ld of %s\n",
			   port->here, port->there,
			   f->opts->task ? f->opts->task : "master",
			   f->opts->index, f->job_id);
	}
	if (ret == 0)
		ret = listen_again(f, err);
	if (ret == 0)
		app_print(f->app, &out);
	buf_done(&out);
	return ret;
}

static void close_all(struct forwarding *f)
{
	int64_t until_ms = time_monotonic_ms() + END_MS;
	struct forward_connection *one;
	size_t i;

	rest(f);
	for (i = 0; i < f->port_count; i++)
		if (f->ports[i].listener >= 0)
			close(f->ports[i].listener);
	for (i = 0; i < CONNECTIONS_MAX; i++)
		if (f->connections[i].pid)
			kill(-f->connections[i].pid, SIGTERM);
	for (one = f->connections; one < f->connections + CONNECTIONS_MAX;
	     one++) {
		if (!one->pid)
			continue;
		process_end(one->pid, until_ms, NULL);
		forget(one);
	}
}

/* ---- the command ------------------------------------------------------- */

/* Returns the exit status, or -1. */
static int await_end(struct forwarding *f, struct arena *mem, struct error *err)
{
	struct session session = { 0 };
	struct run_record run;
	int ret = -1;

	if (session_open(&session, f->app, 0, err) == 0 &&
	    session_run(&session, f->job_id, 0, mem, &run, err) == 0)
		ret = waiting_run(&session, f->loop, mem, &run, -1,
				  interrupt_stop, f->loop, err);
	if (ret == 0 && run_state_is_final(run.state))
		outcome_say(&session, &run);
	session_close(&session);
	return ret;
}

static int forward(struct forwarding *f, struct arena *mem, struct error *err)
{
	struct beside_opts one = *f->opts;
	struct enter_way way = { 0 };
	int ret;

	one.port = f->ports[0].there;
	if (beside_find(f->app, f->job_id, &one, NULL, mem, &way, err) < 0)
		return -1;
	if (f->ports[0].is_stdio)
		return beside_enter(&way, NULL, err);
	if (way.target && check_here(f, err) < 0)
		return -1;
	process_self(f->program, sizeof(f->program));
	f->loop = loop_new(err);
	if (!f->loop)
		return -1;
	ret = open_ports(f, err);
	if (ret == 0)
		ret = await_end(f, mem, err);
	close_all(f);
	loop_free(f->loop);
	return ret;
}

static int run(struct app *app, int argc, char **argv)
{
	struct beside_opts opts = { 0 };
	struct forwarding *f;
	struct arena *mem;
	struct error err;
	int status, first, ret;

	first = options_parse(app, &cmd_forward, argc, argv, &opts, 2, INT_MAX,
			      &status);
	if (first < 0)
		return status;
	mem = arena_new();
	f = arena_alloc(mem, sizeof(*f));
	*f = (struct forwarding){ .app = app,
				  .opts = &opts,
				  .job_id = argv[first] };
	ret = parse_ports(f, argv + first + 1, argc - first - 1, &err);
	if (ret == 0)
		ret = forward(f, mem, &err);
	arena_free(mem);
	return ret < 0 ? app_fail(app, &err) : ret;
}

const struct command cmd_forward = {
	.name = "forward",
	.group = GROUP_WATCH,
	.args = "[--task TYPE] [--index N] [--trial N] JOB [LOCAL:]PORT...",
	.summary = "reach a port of a running job's task from here",
	.help = "For TensorBoard, debuggers and notebooks beside the program. "
		"Without LOCAL it is\n"
		"the same port here.  ':PORT' takes one that is free, "
		"'stdio:PORT' the standard\n"
		"input and output.  The command ends with the run.\n"
		"  jobrun forward quickstart 6006 :5678\n"
		"  jobrun forward quickstart --task worker --index 1 "
		"8080:6006\n",
	.options = beside_rows,
	.remote = true,
	.run = run,
};
