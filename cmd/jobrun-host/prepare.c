/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares a host for the start: files arrive, ports are chosen and held open,
 * so that peers can check that they reach them, and setup runs. */
#include "cmd/jobrun-host/agent.h"
#include "cmd/jobrun-host/sink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/ssh/agent_archive.h"
#include "core/process/ports.h"
#include "core/process/process.h"

#define BLOCK (256 << 10)
#define UNPACKED_MAX (UINT64_C(1) << 40)
#define ENTRIES_MAX 4000000
#define BACKLOG 4096

struct prepare {
	char *ship; /* digest of the shipped files, or "" */
	char *directory;
	char **setup;
	char **env;
	uint32_t first_port;
	uint32_t port_count;
	uint32_t fixed_count; /* named ports, which come last */
	char *part;           /* file with the part received, or NULL */
	int part_fd;
	pid_t unpacker;
	int unpacker_says; /* pipe with the unpacker's error */
	/* An element for each port, chosen or named. */
	int *ports;
	int *listeners;
	struct port_leases **leases;
	struct peer_sink *sink; /* NULL: nothing is read from them */
};

static void drop_part(struct prepare *prepare)
{
	if (!prepare->part)
		return;
	close(prepare->part_fd);
	unlink(prepare->part);
	free(prepare->part);
	prepare->part = NULL;
}

void prepare_free(struct prepare *prepare)
{
	uint32_t i;

	if (!prepare)
		return;
	sink_free(prepare->sink);
	for (i = 0; i < prepare->port_count + prepare->fixed_count; i++) {
		if (prepare->listeners[i] >= 0)
			close(prepare->listeners[i]);
		ports_return(prepare->leases[i]);
	}
	drop_part(prepare);
	if (prepare->unpacker_says >= 0)
		close(prepare->unpacker_says);
	free(prepare->ports);
	free(prepare->listeners);
	free(prepare->leases);
	free(prepare->ship);
	free(prepare->directory);
	wire_list_free(prepare->setup);
	wire_list_free(prepare->env);
	free(prepare);
}

static void failed(struct agent *agent, int status, const char *why)
{
	agent_report(agent, FRAME_PREPARE_FAILED, agent->setup.ordinal, status,
		     why);
	agent_end(agent, 0);
}

static char *ship_path(const struct agent *agent, const char *end)
{
	return mem_printf("%s/ship-%s%s", agent->cache, agent->prepare->ship,
			  end);
}

/* ---- ports ---- */

/* Listens on all addresses, of both families if the system has both. */
static int listen_on(int port)
{
	struct sockaddr_in6 both = { .sin6_family = AF_INET6,
				     .sin6_port = htons((uint16_t)port) };
	struct sockaddr_in old = { .sin_family = AF_INET,
				   .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1, off = 0;
	int ret;

	if (fd >= 0) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		ret = bind(fd, (struct sockaddr *)&both, sizeof(both));
		if (ret == 0 && listen(fd, BACKLOG) == 0)
			return fd;
		close(fd);
		if (ret < 0 && errno == EADDRINUSE)
			return -1;
	}
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&old, sizeof(old)) == 0 &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Listens on the one address that peers know, as other jobs may use other
 * addresses of the same machine; returns -1 with errno. */
static int listen_here(int port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_NUMERICHOST };
	struct addrinfo *found = NULL;
	char address[256], text[16];
	int fd, on = 1;

	agent_address(address, sizeof(address));
	snprintf(text, sizeof(text), "%d", port);
	if (getaddrinfo(address, text, &hints, &found))
		return listen_on(port);
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (bind(fd, found->ai_addr, found->ai_addrlen) < 0 ||
		    listen(fd, BACKLOG) < 0) {
			int saved = errno;

			close(fd);
			errno = saved;
			fd = -1;
		}
	}
	freeaddrinfo(found);
	return fd;
}

/* Opens the named ports, as the program will need exactly these. */
static int open_fixed_ports(struct prepare *prepare, struct error *err)
{
	uint32_t i;

	for (i = prepare->port_count;
	     i < prepare->port_count + prepare->fixed_count; i++) {
		prepare->listeners[i] = listen_here(prepare->ports[i]);
		if (prepare->listeners[i] < 0 && errno == EADDRINUSE)
			return error_set(err, ERROR_FAILED,
					 "port %d, which the program needs, is "
					 "taken: is another run, or a leftover "
					 "of one, still running there?",
					 prepare->ports[i]);
		if (prepare->listeners[i] < 0)
			return error_errno(err, "cannot listen at port %d",
					   prepare->ports[i]);
	}
	return 0;
}

/* Opens the ports without accepting connections: it only matters that peers get
 * through, and closing them then leaves no port in TIME_WAIT. */
static int open_ports(struct prepare *prepare, struct error *err)
{
	int port = (int)prepare->first_port - 1;
	uint32_t i;

	for (i = 0; i < prepare->port_count; i++) {
		do {
			ports_return(prepare->leases[i]);
			prepare->leases[i] =
				ports_lease(port + 1, 1, &port, err);
			if (!prepare->leases[i])
				return -1;
			prepare->listeners[i] = listen_on(port);
		} while (prepare->listeners[i] < 0);
		prepare->ports[i] = port;
	}
	return open_fixed_ports(prepare, err);
}

int prepare_receive(struct agent *agent, struct error *err)
{
	struct prepare *prepare = agent->prepare;

	if (!prepare || prepare->sink || !prepare->port_count ||
	    prepare->listeners[0] < 0)
		return 0;
	prepare->sink = sink_new(agent->loop, prepare->listeners[0], err);
	return prepare->sink ? 0 : -1;
}

void prepare_close_ports(struct agent *agent)
{
	struct prepare *prepare = agent->prepare;
	uint32_t i;

	if (!prepare)
		return;
	sink_free(prepare->sink);
	prepare->sink = NULL;
	for (i = 0; i < prepare->port_count + prepare->fixed_count; i++) {
		if (prepare->listeners[i] >= 0)
			close(prepare->listeners[i]);
		prepare->listeners[i] = -1;
	}
}

static void prepare_say_ready(struct agent *agent)
{
	struct prepare *prepare = agent->prepare;
	struct wire_out out = { 0 };
	uint32_t i;

	wire_begin(&out, FRAME_READY);
	wire_put_u32(&out, prepare->port_count);
	for (i = 0; i < prepare->port_count; i++)
		wire_put_u32(&out, (uint32_t)prepare->ports[i]);
	wire_end(&out);
	agent_send(agent, &out);
	wire_out_done(&out);
}

/* ---- setup ---- */

static void be_ready(struct agent *agent)
{
	agent->state = AGENT_READY;
	agent->prepared = true;
	prepare_say_ready(agent);
}

static void run_setup(struct agent *agent)
{
	struct prepare *prepare = agent->prepare;
	char why[sizeof(((struct error *)0)->text) + 32];
	struct error err;

	if (open_ports(prepare, &err) < 0) {
		failed(agent, -1, err.text);
	} else if (!prepare->setup[0]) {
		be_ready(agent);
	} else if (child_start(&agent->setup, prepare->setup, prepare->env,
			       prepare->directory, &err) < 0) {
		snprintf(why, sizeof(why), "setup did not start: %s", err.text);
		failed(agent, -1, why);
	}
}

void prepare_setup_ended(struct agent *agent, int status)
{
	char how[64], why[96];

	if (agent->state != AGENT_PREPARING)
		return;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		be_ready(agent);
		return;
	}
	process_status_format(status, how, sizeof(how));
	snprintf(why, sizeof(why), "setup %s", how);
	failed(agent, status, why);
}

/* ---- files ---- */

static int unpack(const char *path, struct error *err)
{
	struct unpacking *unpacking = NULL;
	char *block = mem_alloc(BLOCK);
	int from = open(path, O_RDONLY | O_CLOEXEC);
	int root = -1;
	int ret = -1;
	ssize_t n;

	if (from < 0 || (mkdir("files", 0700) < 0 && errno != EEXIST)) {
		error_errno(err, "cannot unpack '%s'", path);
		goto out;
	}
	root = open("files", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unpacking = unpacking_new(root, UNPACKED_MAX, ENTRIES_MAX);
	while ((n = read(from, block, BLOCK)) > 0)
		if (unpacking_add(unpacking, block, (size_t)n, err) < 0)
			goto out;
	if (unpacking_is_done(unpacking))
		ret = 0;
	else
		error_set(err, ERROR_FAILED, "'%s' ends too early", path);
	/* The file is kept for later runs, by the time of its last use. */
	futimens(from, NULL);
out:
	unpacking_free(unpacking);
	if (from >= 0)
		close(from);
	if (root >= 0)
		close(root);
	free(block);
	return ret;
}

static void unpacker_ended(void *arg, int status)
{
	struct agent *agent = arg;
	struct prepare *prepare = agent->prepare;
	char why[sizeof(((struct error *)0)->text)];
	ssize_t n;

	prepare->unpacker = 0;
	if (agent->state != AGENT_PREPARING)
		return;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		run_setup(agent);
		return;
	}
	n = read(prepare->unpacker_says, why, sizeof(why) - 1);
	why[n > 0 ? n : 0] = '\0';
	failed(agent, -1, n > 0 ? why : "the files could not be unpacked");
}

/* Starts the unpacker in its own process, as it may take long. */
static int start_unpacker(struct agent *agent, struct error *err)
{
	struct prepare *prepare = agent->prepare;
	pid_t parent = getpid();
	int says[2];

	if (pipe2(says, O_CLOEXEC) < 0)
		return error_errno(err, "cannot create a pipe");
	prepare->unpacker = fork();
	if (prepare->unpacker == 0) {
		char *path = ship_path(agent, "");
		struct error why;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		if (unpack(path, &why) == 0)
			_exit(0);
		fd_write(says[1], why.text, strlen(why.text));
		_exit(1);
	}
	close(says[1]);
	if (prepare->unpacker < 0) {
		close(says[0]);
		prepare->unpacker = 0;
		return error_errno(err, "cannot fork");
	}
	reaper_watch(agent->parent.reaper, prepare->unpacker, unpacker_ended,
		     agent);
	prepare->unpacker_says = says[0];
	agent->state = AGENT_PREPARING;
	return 0;
}

static int await_ship(struct agent *agent, struct error *err)
{
	struct prepare *prepare = agent->prepare;
	struct wire_out out = { 0 };
	char *part = ship_path(agent, ".XXXXXX");

	prepare->part_fd = mkostemp(part, O_CLOEXEC);
	if (prepare->part_fd < 0) {
		error_errno(err, "cannot write '%s'", part);
		free(part);
		return -1;
	}
	prepare->part = part;
	agent->state = AGENT_SHIPPING;
	wire_begin(&out, FRAME_WANT_SHIP);
	wire_end(&out);
	agent_send(agent, &out);
	wire_out_done(&out);
	return 0;
}

/* Gives the received file its final name. */
static int keep_part(struct agent *agent, struct error *err)
{
	struct prepare *prepare = agent->prepare;
	char *path = ship_path(agent, "");
	int ret = 0;

	if (rename(prepare->part, path) < 0)
		ret = error_errno(err, "cannot write '%s'", path);
	drop_part(prepare);
	free(path);
	return ret;
}

int prepare_ship(struct agent *agent, const struct frame *frame,
		 struct error *err)
{
	struct prepare *prepare = agent->prepare;

	if (agent->state != AGENT_SHIPPING)
		return error_set(err, ERROR_FAILED, "nothing was asked for");
	if (frame->len) {
		if (fd_write(prepare->part_fd, frame->body, frame->len) < 0)
			return error_errno(err, "cannot write below '%s'",
					   agent->cache);
		return 0;
	}
	return keep_part(agent, err) < 0 ? -1 : start_unpacker(agent, err);
}

void prepare_interrupted(struct agent *agent)
{
	if (agent->state != AGENT_SHIPPING)
		return;
	prepare_free(agent->prepare);
	agent->prepare = NULL;
	agent->state = AGENT_NEW;
}

static bool is_name(const char *text)
{
	return strspn(text, "0123456789abcdef") == strlen(text);
}

static struct prepare *read_request(struct wire_in *in, uint32_t *setup_task)
{
	struct prepare *prepare = mem_alloc(sizeof(*prepare));
	uint32_t fixed[FRAME_FIXED_MAX];
	uint32_t count, i;

	prepare->unpacker_says = -1;
	prepare->ship = wire_get_string(in);
	prepare->port_count = wire_get_u32(in);
	prepare->first_port = wire_get_u32(in);
	prepare->fixed_count = wire_get_count(in, FRAME_FIXED_MAX, 4);
	for (i = 0; i < prepare->fixed_count; i++)
		fixed[i] = wire_get_u32(in);
	prepare->directory = wire_get_string(in);
	prepare->setup = wire_get_list(in);
	prepare->env = wire_get_list(in);
	*setup_task = wire_get_u32(in);
	if (!wire_is_done(in) || prepare->port_count > FRAME_PORTS_MAX ||
	    !prepare->first_port || prepare->first_port > 65535 ||
	    !is_name(prepare->ship)) {
		prepare->port_count = prepare->fixed_count = 0;
		prepare_free(prepare);
		return NULL;
	}
	count = prepare->port_count + prepare->fixed_count;
	prepare->ports = mem_alloc(count * sizeof(int));
	prepare->listeners = mem_alloc(count * sizeof(int));
	prepare->leases = mem_alloc(count * sizeof(*prepare->leases));
	for (i = 0; i < count; i++)
		prepare->listeners[i] = -1;
	for (i = 0; i < prepare->fixed_count; i++)
		prepare->ports[prepare->port_count + i] = (int)fixed[i];
	return prepare;
}

int prepare_begin(struct agent *agent, struct wire_in *in, struct error *err)
{
	struct prepare *prepare;
	uint32_t setup_task;
	char *path;
	bool there;

	if (agent->state == AGENT_READY)
		prepare_say_ready(agent);
	/* It failed, or was ended in the midst: all of it again. */
	if (agent->state == AGENT_ENDED && !agent->prepared)
		agent->state = AGENT_NEW;
	if (agent->state != AGENT_NEW)
		return 0;
	prepare = read_request(in, &setup_task);
	if (!prepare)
		return error_set(err, ERROR_FAILED, "it is invalid");
	prepare_free(agent->prepare);
	agent->prepare = prepare;
	agent->setup.ordinal = setup_task;
	if (!*prepare->ship) {
		agent->state = AGENT_PREPARING;
		run_setup(agent);
		return 0;
	}
	path = ship_path(agent, "");
	there = access(path, R_OK) == 0;
	free(path);
	return there ? start_unpacker(agent, err) : await_ship(agent, err);
}

pid_t prepare_pid(const struct agent *agent)
{
	return agent->setup.task.pid ? agent->setup.task.pid
	       : agent->prepare      ? agent->prepare->unpacker
				     : 0;
}
