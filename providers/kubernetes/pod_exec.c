/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/pod_exec.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/net/url.h"
#include "core/net/websocket.h"

#define V5 "v5.channel.k8s.io"
#define PROTOCOLS V5 ", v4.channel.k8s.io"
#define INPUT_MAX 16384
/* How many messages are taken before the other side has a turn. */
#define MESSAGES_MAX 64
/* How much input may wait to be sent before no more is read. */
#define PENDING_MAX ((size_t)1 << 20)
/* How long the server may take to close a connection that has nothing left, and
 * a command to end whose output nobody reads. */
#define END_MS 2000

enum channel {
	CHANNEL_INPUT = 0,
	CHANNEL_OUTPUT = 1,
	CHANNEL_ERRORS = 2,
	CHANNEL_STATUS = 3,
	CHANNEL_SIZE = 4,
	CHANNEL_END = 255,
};

struct pod_exec {
	const struct pod_exec_wish *wish;
	struct websocket *ws;
	int in;        /* -1: at its end */
	int signals;   /* signalfd(2) */
	int status;    /* -1: the command goes on */
	bool closed;   /* by the server */
	bool has_more; /* messages that were already read */
	bool lost_reader;
	int64_t until_ms;      /* 0: for ever */
	struct termios before; /* settings of our terminal */
	bool is_raw;
};

/* ---- the server's messages --------------------------------------------- */

/* Returns the exit status in a Status about a command, or -1. */
static int take_status(const json_t *status, struct error *err)
{
	const json_t *details = json_object_get(status, "details"), *cause;
	long code;
	size_t i;

	if (!strcmp(json_get_text(status, "status", ""), "Success"))
		return 0;
	json_array_foreach(
		json_object_get(details, "causes"), i,
		cause) if (!strcmp(json_get_text(cause, "reason", ""),
				   "ExitCode") &&
			   number_parse(json_get_text(cause, "message", ""), 0,
					255, &code, err) == 0) return (int)code;
	return error_set(err, ERROR_FAILED, "the command did not run: %s",
			 json_get_text(status, "message",
				       "the cluster does not say why"));
}

static void end_soon(struct pod_exec *e)
{
	if (!e->until_ms)
		e->until_ms = time_monotonic_ms() + END_MS;
}

/* A reader that goes may have all that it wanted, of a command that ends. */
static void lose_reader(struct pod_exec *e)
{
	e->lost_reader = true;
	end_soon(e);
}

static int hand_on(struct pod_exec *e, int fd, const void *data, size_t len,
		   struct error *err)
{
	if (fd < 0 || e->lost_reader || fd_write(fd, data, len) == 0)
		return 0;
	if (errno != EPIPE)
		return error_errno(err, "cannot write");
	lose_reader(e);
	return 0;
}

static int take_message(struct pod_exec *e, const unsigned char *data,
			size_t len, struct error *err)
{
	json_t *status;

	/* Servers begin with an empty message for each channel. */
	if (len < 2)
		return 0;
	if (data[0] == CHANNEL_OUTPUT)
		return hand_on(e, e->wish->out, data + 1, len - 1, err);
	if (data[0] == CHANNEL_ERRORS)
		return hand_on(e, e->wish->errors, data + 1, len - 1, err);
	if (data[0] != CHANNEL_STATUS || e->status >= 0)
		return 0;
	status = json_read((const char *)data + 1, len - 1, "answer", err);
	if (!status)
		return -1;
	e->status = take_status(status, err);
	json_decref(status);
	end_soon(e);
	return e->status < 0 ? -1 : 0;
}

static int receive(struct pod_exec *e, struct error *err)
{
	const void *data;
	size_t len;
	int ret = 0, i;

	e->has_more = false;
	for (i = 0; ret == 0 && !e->closed && i < MESSAGES_MAX; i++) {
		switch (websocket_receive(e->ws, &data, &len, err)) {
		case WEBSOCKET_MESSAGE:
			ret = take_message(e, data, len, err);
			break;
		case WEBSOCKET_BROKEN:
		case WEBSOCKET_CLOSED:
			e->closed = true;
			break;
		case WEBSOCKET_NOTHING:
			return 0;
		}
	}
	e->has_more = i == MESSAGES_MAX;
	return ret;
}

/* ---- our side ---------------------------------------------------------- */

static int send_size(struct pod_exec *e, struct error *err)
{
	struct winsize size = { 0 };
	char text[80];
	int len;

	if (ioctl(e->wish->in, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return 0;
	len = snprintf(text, sizeof(text), "%c{\"Width\":%u,\"Height\":%u}",
		       CHANNEL_SIZE, size.ws_col, size.ws_row);
	return websocket_send(e->ws, text, (size_t)len, err);
}

static int send_input(struct pod_exec *e, struct error *err)
{
	static const unsigned char end[] = { CHANNEL_END, CHANNEL_INPUT };
	unsigned char data[1 + INPUT_MAX] = { CHANNEL_INPUT };
	ssize_t n = read(e->in, data + 1, INPUT_MAX);

	if (n > 0)
		return websocket_send(e->ws, data, 1 + (size_t)n, err);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	e->in = -1;
	if (strcmp(websocket_protocol(e->ws), V5) != 0)
		return 0;
	return websocket_send(e->ws, end, sizeof(end), err);
}

/* Returns the signal that ends us, or 0. */
static int hear(struct pod_exec *e, struct error *err)
{
	struct signalfd_siginfo info;
	int ret = 0;

	while (ret == 0 &&
	       read(e->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGWINCH)
			return (int)info.ssi_signo;
		if (e->wish->terminal)
			ret = send_size(e, err);
	}
	return ret;
}

static bool wants_input(const struct pod_exec *e)
{
	return e->status < 0 && websocket_pending(e->ws) < PENDING_MAX;
}

/* Waits for either side.  Returns the signal that ends us, or 0. */
static int turn(struct pod_exec *e, struct error *err)
{
	struct pollfd fds[] = {
		{ .fd = websocket_fd(e->ws), .events = POLLIN },
		{ .fd = wants_input(e) ? e->in : -1, .events = POLLIN },
		{ .fd = e->signals, .events = POLLIN },
		/* A reader that goes is noticed without anything to write. */
		{ .fd = e->lost_reader ? -1 : e->wish->out },
	};
	int64_t left_ms = e->until_ms - time_monotonic_ms();
	int wait_ms = !e->until_ms ? -1 : left_ms > 0 ? (int)left_ms : 0;

	if (e->has_more)
		wait_ms = 0;
	if (websocket_pending(e->ws))
		fds[0].events |= POLLOUT;
	if (poll(fds, 4, wait_ms) < 0 && errno != EINTR)
		return error_errno(err, "cannot wait");
	if (fds[3].revents & POLLERR)
		lose_reader(e);
	if (websocket_flush(e->ws, err) < 0) {
		e->closed = true;
		return 0;
	}
	if (fds[1].revents && send_input(e, err) < 0)
		return -1;
	return fds[2].revents ? hear(e, err) : 0;
}

static int relay(struct pod_exec *e, struct error *err)
{
	int signal_number = 0;

	if (e->wish->terminal && send_size(e, err) < 0)
		return -1;
	while (signal_number == 0) {
		if (receive(e, err) < 0)
			return -1;
		if (e->closed ||
		    (e->until_ms && time_monotonic_ms() >= e->until_ms))
			break;
		signal_number = turn(e, err);
	}
	if (signal_number != 0)
		return signal_number < 0 ? -1 : 128 + signal_number;
	if (e->status < 0 && e->lost_reader)
		return 128 + SIGPIPE;
	if (e->status < 0)
		error_set(err, ERROR_UNREACHABLE,
			  "the connection to pod '%s' was cut before the "
			  "command ended",
			  e->wish->pod);
	return e->status;
}

/* ---- opening ----------------------------------------------------------- */

static const char *flag(bool is)
{
	return is ? "true" : "false";
}

static struct websocket *connect_to(const struct kube_at *at,
				    const struct pod_exec_wish *wish,
				    struct error *err)
{
	struct arena *mem = arena_new();
	struct websocket *ws;
	struct buf url = { 0 };
	long status = 0;
	size_t i;

	buf_printf(&url, "%s/exec", type_path(&type_pod, at, wish->pod, mem));
	url_add_query(&url, "container", "main");
	for (i = 0; wish->argv[i]; i++)
		url_add_query(&url, "command", wish->argv[i]);
	url_add_query(&url, "stdin", flag(wish->in >= 0));
	url_add_query(&url, "stdout", flag(wish->out >= 0));
	url_add_query(&url, "stderr",
		      flag(wish->errors >= 0 && !wish->terminal));
	url_add_query(&url, "tty", flag(wish->terminal));
	ws = apiserver_websocket(at->api, url.data, PROTOCOLS, &status, err);
	if (!ws && status == 403)
		error_set(err, ERROR_DENIED,
			  "the cluster lets you run no command in pod '%s': "
			  "that takes the rights get and create on pods/exec "
			  "in namespace '%s'",
			  wish->pod, at->name_space);
	else if (!ws && status == 404)
		error_set(err, ERROR_FAILED, "pod '%s' is gone", wish->pod);
	buf_done(&url);
	arena_free(mem);
	return ws;
}

static void make_raw(struct pod_exec *e)
{
	struct termios raw;

	if (!e->wish->terminal || tcgetattr(e->wish->in, &e->before) < 0)
		return;
	raw = e->before;
	cfmakeraw(&raw);
	e->is_raw = tcsetattr(e->wish->in, TCSADRAIN, &raw) == 0;
}

int pod_exec(const struct kube_at *at, const struct pod_exec_wish *wish,
	     bool *ended, struct error *err)
{
	struct pod_exec e = {
		.wish = wish, .in = wish->in, .signals = -1, .status = -1
	};
	sigset_t set;
	int ret = -1;

	*ended = true;
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	e.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (e.signals < 0)
		return error_errno(err, "cannot take signals");
	e.ws = connect_to(at, wish, err);
	if (e.ws) {
		*ended = false;
		make_raw(&e);
		ret = relay(&e, err);
		*ended = e.status >= 0;
		if (e.is_raw)
			tcsetattr(wish->in, TCSADRAIN, &e.before);
		websocket_close(e.ws);
	}
	websocket_free(e.ws);
	close(e.signals);
	return ret;
}
