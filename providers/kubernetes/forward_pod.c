/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hidden command `forward-pod`: one connection to a port of a pod, by the
 * API server's `portforward` over a WebSocket, subprotocol v4.channel.k8s.io
 * (k8s.io/kubelet, pkg/cri/streaming/portforward/websocket.go).  The first byte
 * of a message is its channel, 0 for the data and 1 for an error; each begins
 * with the port, two bytes, the lower first.  The input has no end of its own.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/enter/port.h"
#include "core/net/url.h"
#include "core/net/websocket.h"
#include "providers/kubernetes/kube_enter.h"
#include "providers/kubernetes/kube_internal.h"
#include "providers/kubernetes/kubernetes.h"
#include "providers/kubernetes/manifest/objects.h"

#define PROTOCOL "v4.channel.k8s.io"
#define INPUT_MAX 16384
#define PORT_BYTES 2
/* How much input may wait to be sent before no more is read. */
#define PENDING_MAX ((size_t)1 << 20)
/* A client that has closed its side may want the answer still: the connection
 * ends when nothing has come for this long. */
#define SILENT_MS 10000

enum channel {
	CHANNEL_DATA = 0,
	CHANNEL_ERROR = 1,
	CHANNEL_COUNT,
};

struct forward {
	const char *pod;
	long port;
	struct websocket *ws;
	size_t header[CHANNEL_COUNT]; /* bytes of the port that have come */
	bool in_ended;
	bool over;
	int64_t heard_ms;
};

/* ---- the server's messages --------------------------------------------- */

static int take_error(const struct forward *f, const unsigned char *text,
		      size_t len, struct error *err)
{
	char *line = mem_printf("%.*s", (int)len, (const char *)text);

	line[strcspn(line, "\n")] = '\0';
	text_make_printable(line);
	error_set(err, ERROR_FAILED, "port %ld of pod '%s': %s", f->port,
		  f->pod, line);
	free(line);
	return -1;
}

static int take_message(struct forward *f, const unsigned char *data,
			size_t len, struct error *err)
{
	size_t channel, skip;

	if (!len || data[0] >= CHANNEL_COUNT)
		return 0;
	channel = *data++;
	len--;
	skip = PORT_BYTES - f->header[channel];
	if (skip > len)
		skip = len;
	f->header[channel] += skip;
	data += skip;
	len -= skip;
	if (!len)
		return 0;
	if (channel == CHANNEL_ERROR)
		return take_error(f, data, len, err);
	if (fd_write(STDOUT_FILENO, data, len) == 0)
		return 0;
	f->over = true;
	return errno == EPIPE || errno == ECONNRESET
		       ? 0
		       : error_errno(err, "cannot write");
}

static int receive(struct forward *f, struct error *err)
{
	const void *data;
	size_t len;
	int ret = 0;

	while (ret == 0 && !f->over) {
		switch (websocket_receive(f->ws, &data, &len, err)) {
		case WEBSOCKET_MESSAGE:
			f->heard_ms = time_monotonic_ms();
			ret = take_message(f, data, len, err);
			break;
		case WEBSOCKET_CLOSED:
			f->over = true;
			break;
		case WEBSOCKET_BROKEN:
			return error_set(err, ERROR_UNREACHABLE,
					 "the connection to pod '%s' was cut",
					 f->pod);
		case WEBSOCKET_NOTHING:
			return 0;
		}
	}
	return ret;
}

/* ---- our side ---------------------------------------------------------- */

static int send_input(struct forward *f, struct error *err)
{
	unsigned char data[1 + INPUT_MAX] = { CHANNEL_DATA };
	ssize_t n = read(STDIN_FILENO, data + 1, INPUT_MAX);

	if (n > 0)
		return websocket_send(f->ws, data, 1 + (size_t)n, err);
	if (n < 0 && errno == EINTR)
		return 0;
	f->in_ended = true;
	f->heard_ms = time_monotonic_ms();
	return 0;
}

static int turn(struct forward *f, struct error *err)
{
	bool reads = !f->in_ended && websocket_pending(f->ws) < PENDING_MAX;
	struct pollfd fds[] = {
		{ .fd = websocket_fd(f->ws), .events = POLLIN },
		{ .fd = reads ? STDIN_FILENO : -1, .events = POLLIN },
		{ .fd = STDOUT_FILENO },
	};
	int64_t left_ms = f->heard_ms + SILENT_MS - time_monotonic_ms();
	int wait_ms = !f->in_ended ? -1 : left_ms > 0 ? (int)left_ms : 0;

	if (websocket_pending(f->ws))
		fds[0].events |= POLLOUT;
	if (poll(fds, COUNT(fds), wait_ms) < 0 && errno != EINTR)
		return error_errno(err, "cannot wait");
	f->over = (f->in_ended && left_ms <= 0) || fds[2].revents & POLLERR;
	if (websocket_flush(f->ws, err) < 0)
		return -1;
	return fds[1].revents ? send_input(f, err) : 0;
}

static int relay(struct forward *f, struct error *err)
{
	while (!f->over) {
		/* Data may have come together with the handshake. */
		if (receive(f, err) < 0)
			return -1;
		if (!f->over && turn(f, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- opening ----------------------------------------------------------- */

static struct websocket *connect_to(const struct kube_at *at,
				    const struct forward *f, struct error *err)
{
	struct arena *mem = arena_new();
	struct websocket *ws;
	struct buf url = { 0 };
	long status = 0;

	buf_printf(&url, "%s/portforward",
		   type_path(&type_pod, at, f->pod, mem));
	url_add_query(&url, "ports", arena_printf(mem, "%ld", f->port));
	ws = apiserver_websocket(at->api, url.data, PROTOCOL, &status, err);
	if (!ws && status == 403)
		error_set(err, ERROR_DENIED,
			  "the cluster lets you reach no port of pod '%s': "
			  "that takes the rights get and create on "
			  "pods/portforward in namespace '%s'",
			  f->pod, at->name_space);
	else if (!ws && status == 404)
		error_set(err, ERROR_FAILED, "pod '%s' is gone", f->pod);
	buf_done(&url);
	arena_free(mem);
	return ws;
}

static int run(const void *given, char *const *args,
	       const struct provider_env *env, struct buf *out,
	       struct error *err)
{
	struct forward f = { .pod = args[1] };
	struct kube_at at;
	void *kube;
	int ret = -1;

	(void)given;
	(void)out;
	if (number_parse(args[2], 1, PORT_MAX, &f.port, err) < 0)
		return -1;
	kube = provider_kubernetes.open(env, err);
	if (!kube)
		return -1;
	signal(SIGPIPE, SIG_IGN);
	if (kube_find(kube, args[0], &at, err) == 0) {
		f.ws = connect_to(&at, &f, err);
		if (f.ws)
			ret = relay(&f, err);
		if (f.ws && ret == 0)
			websocket_close(f.ws);
		websocket_free(f.ws);
	}
	provider_kubernetes.close(kube);
	return ret;
}

const struct provider_command kubernetes_forward_pod = {
	.name = "forward-pod",
	.args = "PLACE POD PORT",
	.summary = "connect to a port of a pod; called by 'forward'",
	.arg_count = 3,
	.remote = true,
	.run = run,
};
