/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/iap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/net/url.h"
#include "core/net/websocket.h"
#include "providers/google/auth/credentials.h"
#include "providers/google/base/gcloud.h"

#define RELAY "https://tunnel.cloudproxy.app/v4"
#define PROTOCOL "relay.tunnel.cloudproxy.app"
#define DOMAIN ".iap.jobrun"

#define DATA_MAX 16384
#define DATA_HEADER 6
/* Acknowledge after this many bytes, as Google's own client does, and the rest
 * after this long a silence. */
#define ACK_EVERY (2 * DATA_MAX)
#define ACK_AFTER_MS 2000
/* How much sent data may be unconfirmed before no more input is read. */
#define UNCONFIRMED_MAX ((size_t)4 << 20)
#define OPEN_MS 20000
/* ssh gives up a silent connection after ten seconds. */
#define RECONNECT_FOR_MS 10000
#define PAUSE_MS 50
#define PAUSE_MAX_MS 1600

enum tag {
	TAG_CONNECTED = 1,
	TAG_RECONNECTED = 2,
	TAG_DATA = 4,
	TAG_ACK = 7,
};

struct tunnel {
	struct google *google;
	const struct iap_target *target;
	int in, out;
	struct websocket *ws; /* NULL: none at the moment */
	bool open;            /* the relay has confirmed it */
	bool in_ended;
	bool over;         /* the VM has closed it */
	struct buf sid;    /* empty before the first connection */
	uint64_t received; /* total bytes from the VM */
	uint64_t acked;    /* bytes of `received` we acknowledged */
	uint64_t confirmed;
	struct buf unconfirmed; /* bytes sent after `confirmed` */
};

/* ---- names --------------------------------------------------------------- */

char *iap_host(const struct iap_target *target)
{
	return mem_printf("%s.%s.%s" DOMAIN, target->instance, target->zone,
			  target->project);
}

/* Whether a name, which goes through a shell, is as Google's are: see
 * ssh_config(5). */
static bool is_plain(const char *text)
{
	return *text &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.") ==
		       strlen(text);
}

int iap_host_parse(const char *host, struct arena *mem, struct iap_target *out,
		   struct error *err)
{
	const char *zone = strchr(host, '.');
	const char *project = zone ? strchr(zone + 1, '.') : NULL;

	if (!is_plain(host) || !project || !text_ends(project, DOMAIN) ||
	    strlen(project) <= strlen(DOMAIN) + 1)
		return error_set(err, ERROR_USAGE,
				 "'%s' is no INSTANCE.ZONE.PROJECT" DOMAIN,
				 host);
	out->instance = arena_strndup(mem, host, (size_t)(zone - host));
	zone++;
	out->zone = arena_strndup(mem, zone, (size_t)(project - zone));
	project++;
	out->project =
		arena_strndup(mem, project, strlen(project) - strlen(DOMAIN));
	return 0;
}

/* ---- connecting ---------------------------------------------------------- */

/* Adds the relay's address, which gcloud's configuration can change. */
static void add_relay(const char *what, struct buf *out)
{
	struct arena *mem = arena_new();
	const char *moved = gcloud_property("api_endpoint_overrides",
					    "iap_tunnel", mem, NULL);

	buf_puts(out, moved ? moved : RELAY);
	if (!text_ends(out->data, "/"))
		buf_putc(out, '/');
	buf_puts(out, what);
	arena_free(mem);
}

static void make_url(const struct tunnel *t, struct buf *url)
{
	char number[32];

	if (t->sid.len) {
		add_relay("reconnect", url);
		url_add_query(url, "sid", t->sid.data);
		snprintf(number, sizeof(number), "%llu",
			 (unsigned long long)t->received);
		url_add_query(url, "ack", number);
	} else {
		add_relay("connect", url);
		url_add_query(url, "project", t->target->project);
		url_add_query(url, "instance", t->target->instance);
		url_add_query(url, "interface", "nic0");
		snprintf(number, sizeof(number), "%ld", t->target->port);
		url_add_query(url, "port", number);
	}
	url_add_query(url, "zone", t->target->zone);
	url_add_query(url, "newWebsocket", "True");
}

static int open_with_token(struct tunnel *t, const char *url, long *status,
			   struct error *err)
{
	struct credentials *who = google_credentials(t->google, err);
	struct buf token = { 0 }, header = { 0 };
	const char *headers[] = { "Origin: bot:iap-tunneler", NULL, NULL };
	struct websocket_request request = { .url = url,
					     .protocols = PROTOCOL,
					     .headers = headers };

	if (!who || credentials_token(who, &token, err) < 0) {
		secret_done(&token);
		return -1;
	}
	/* Reserve the whole size, as growing would leave copies of the token
	 * behind. */
	buf_reserve(&header, token.len + 32);
	buf_printf(&header, "Authorization: Bearer %s", token.data);
	headers[1] = header.data;
	t->ws = websocket_open(google_http(t->google), &request, status, err);
	if (!t->ws && *status == 401)
		credentials_refused(who, token.data);
	secret_done(&header);
	secret_done(&token);
	return t->ws ? 0 : -1;
}

static int connect_relay(struct tunnel *t, struct error *err)
{
	struct buf url = { 0 };
	long status = 0;
	int ret;

	make_url(t, &url);
	ret = open_with_token(t, url.data, &status, err);
	/* A new token may be accepted. */
	if (ret < 0 && status == 401)
		ret = open_with_token(t, url.data, &status, err);
	if (ret < 0 && status / 100 == 4)
		error_set(err, ERROR_DENIED,
			  "Identity-Aware Proxy does not connect to '%s' in "
			  "%s, project '%s' (status %ld): that takes the "
			  "permission iap.tunnelInstances.accessViaIAP, which "
			  "the role roles/iap.tunnelResourceAccessor has",
			  t->target->instance, t->target->zone,
			  t->target->project, status);
	buf_done(&url);
	return ret;
}

static void disconnect(struct tunnel *t)
{
	websocket_free(t->ws);
	t->ws = NULL;
	t->open = false;
}

/* ---- what the relay says ------------------------------------------------- */

static uint64_t number_at(const unsigned char *at, int bytes)
{
	uint64_t out = 0;

	while (bytes--)
		out = out << 8 | *at++;
	return out;
}

static void put_number(unsigned char *to, uint64_t value, int bytes)
{
	while (bytes--) {
		to[bytes] = (unsigned char)value;
		value >>= 8;
	}
}

static int nonsense(struct error *err, const char *what)
{
	return error_set_final(err, ERROR_FAILED,
			       "Identity-Aware Proxy sends an invalid "
			       "response: %s",
			       what);
}

static int send_ack(struct tunnel *t, struct error *err)
{
	unsigned char frame[10];

	if (t->acked == t->received)
		return 0;
	t->acked = t->received;
	put_number(frame, TAG_ACK, 2);
	put_number(frame + 2, t->received, 8);
	return websocket_send(t->ws, frame, sizeof(frame), err);
}

/* Sends the bytes from `at` on, in pieces. */
static int send_data(struct tunnel *t, size_t at, struct error *err)
{
	unsigned char frame[DATA_HEADER + DATA_MAX];
	int ret = 0;

	while (ret == 0 && at < t->unconfirmed.len) {
		size_t n = t->unconfirmed.len - at;

		if (n > DATA_MAX)
			n = DATA_MAX;
		put_number(frame, TAG_DATA, 2);
		put_number(frame + 2, n, 4);
		memcpy(frame + DATA_HEADER, t->unconfirmed.data + at, n);
		ret = websocket_send(t->ws, frame, DATA_HEADER + n, err);
		at += n;
	}
	return ret;
}

static int confirm(struct tunnel *t, uint64_t count, struct error *err)
{
	if (count < t->confirmed || count - t->confirmed > t->unconfirmed.len)
		return nonsense(err, "it has another number of bytes than it "
				     "was sent");
	buf_drop(&t->unconfirmed, (size_t)(count - t->confirmed));
	t->confirmed = count;
	return 0;
}

static int take_data(struct tunnel *t, const unsigned char *data, size_t len,
		     struct error *err)
{
	if (fd_write(t->out, data, len) < 0)
		return errno == EPIPE ? error_set_final(err, ERROR_INTERRUPTED,
							"nobody reads any more")
				      : error_errno(err, "cannot write");
	t->received += len;
	return t->received - t->acked > ACK_EVERY ? send_ack(t, err) : 0;
}

static int take_opened(struct tunnel *t, enum tag tag,
		       const unsigned char *data, size_t len, struct error *err)
{
	size_t sid = len >= 4 ? (size_t)number_at(data, 4) : 0;

	if (t->open)
		return nonsense(err, "it connects twice");
	t->open = true;
	if (tag == TAG_CONNECTED) {
		if (t->sid.len || !sid || sid > len - 4 ||
		    memchr(data + 4, '\0', sid))
			return nonsense(err, "a connection without a name");
		buf_add(&t->sid, data + 4, sid);
		return send_data(t, 0, err);
	}
	if (!t->sid.len || len < 8)
		return nonsense(err, "it connects again to nothing");
	t->acked = t->received;
	if (confirm(t, number_at(data, 8), err) < 0)
		return -1;
	return send_data(t, 0, err);
}

static int take_message(struct tunnel *t, const unsigned char *data, size_t len,
			struct error *err)
{
	unsigned tag = len >= 2 ? (unsigned)number_at(data, 2) : 0;

	if (tag == TAG_CONNECTED || tag == TAG_RECONNECTED)
		return take_opened(t, (enum tag)tag, data + 2, len - 2, err);
	if (tag != TAG_DATA && tag != TAG_ACK)
		return 0; /* a tag of a later version */
	if (!t->open)
		return nonsense(err, "data before there is a connection");
	if (tag == TAG_ACK)
		return len < 10 ? nonsense(err, "a number that is cut off")
				: confirm(t, number_at(data + 2, 8), err);
	if (len < DATA_HEADER || number_at(data + 2, 4) > len - DATA_HEADER)
		return nonsense(err, "data that is cut off");
	return take_data(t, data + DATA_HEADER, (size_t)number_at(data + 2, 4),
			 err);
}

/* Reports a close code after which another try would fail, too. */
static int take_close(struct tunnel *t, struct error *err)
{
	int code = websocket_close_code(t->ws);
	const char *why = websocket_close_reason(t->ws);

	if (code == 1000) {
		t->over = true;
		return 0;
	}
	/* Codes below 4000, such as 1001, are about the connection only. */
	if (code < 4000)
		return error_set(err, ERROR_UNREACHABLE,
				 "Identity-Aware Proxy has closed the "
				 "connection (%d%s%s)",
				 code, *why ? ": " : "", why);
	return error_set_final(
		err, ERROR_UNREACHABLE,
		"Identity-Aware Proxy can't reach port %ld of '%s' (%d%s%s)%s",
		t->target->port, t->target->instance, code, *why ? ": " : "",
		why,
		code == 4003 ? ": does sshd run there, and does a firewall "
			       "rule let 35.235.240.0/20 in?"
			     : "");
}

static int receive(struct tunnel *t, struct error *err)
{
	const void *data;
	size_t len;
	int ret = 0;

	while (ret == 0 && !t->over) {
		switch (websocket_receive(t->ws, &data, &len, err)) {
		case WEBSOCKET_MESSAGE:
			ret = take_message(t, data, len, err);
			break;
		case WEBSOCKET_CLOSED:
			ret = take_close(t, err);
			break;
		case WEBSOCKET_BROKEN:
			return -1;
		case WEBSOCKET_NOTHING:
			return 0;
		}
	}
	return ret;
}

/* ---- going on ------------------------------------------------------------ */

static int read_in(struct tunnel *t, struct error *err)
{
	size_t at = t->unconfirmed.len;
	ssize_t n =
		read(t->in, buf_reserve(&t->unconfirmed, DATA_MAX), DATA_MAX);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR
			       ? 0
			       : error_errno(err, "cannot read");
	t->in_ended = !n;
	t->unconfirmed.len += (size_t)n;
	return n ? send_data(t, at, err) : 0;
}

static bool wants_input(const struct tunnel *t)
{
	return t->open && !t->in_ended && !websocket_pending(t->ws) &&
	       t->unconfirmed.len < UNCONFIRMED_MAX;
}

/* Waits for either side.  A relay that must answer, and has not at `until_ms`,
 * counts as lost. */
static int turn(struct tunnel *t, int64_t until_ms, struct error *err)
{
	struct pollfd fds[] = {
		{ .fd = websocket_fd(t->ws), .events = POLLIN },
		{ .fd = wants_input(t) ? t->in : -1, .events = POLLIN },
	};
	int64_t wait_ms = ACK_AFTER_MS;
	int n;

	if (!t->open) {
		wait_ms = until_ms - time_monotonic_ms();
		if (wait_ms <= 0)
			return error_set(err, ERROR_UNREACHABLE,
					 "Identity-Aware Proxy does not "
					 "answer");
	}
	if (websocket_pending(t->ws))
		fds[0].events |= POLLOUT;
	n = poll(fds, 2, (int)wait_ms);
	if (n < 0 && errno != EINTR)
		return error_errno(err, "cannot wait");
	if (websocket_flush(t->ws, err) < 0)
		return -1;
	if (n == 0 && t->open)
		return send_ack(t, err);
	return n > 0 && fds[1].revents ? read_in(t, err) : 0;
}

/* Serves one connection until it ends; frames begun are sent completely. */
static int serve(struct tunnel *t, struct error *err)
{
	int64_t until_ms = time_monotonic_ms() + OPEN_MS;

	for (;;) {
		/* Data may have come together with the handshake. */
		if (receive(t, err) < 0)
			return -1;
		if (t->over || (t->in_ended && !websocket_pending(t->ws)))
			return 0;
		if (turn(t, until_ms, err) < 0)
			return -1;
	}
}

static bool is_worth_another(const struct tunnel *t, const struct error *err)
{
	return t->sid.len && !err->final && err->code == ERROR_UNREACHABLE;
}

static int run(struct tunnel *t, struct error *err)
{
	int64_t until_ms = 0;
	long pause = 0;

	for (;;) {
		struct error why = { 0 };

		if (connect_relay(t, &why) == 0 && serve(t, &why) == 0)
			return 0;
		/* After a connection that worked, the whole time to reconnect
		 * is available again. */
		if (t->open) {
			until_ms = time_monotonic_ms() + RECONNECT_FOR_MS;
			pause = PAUSE_MS;
		}
		disconnect(t);
		if (!is_worth_another(t, &why) ||
		    time_monotonic_ms() >= until_ms) {
			*err = why;
			return -1;
		}
		time_pause(pause);
		pause = 2 * pause < PAUSE_MAX_MS ? 2 * pause : PAUSE_MAX_MS;
	}
}

int iap_tunnel(struct google *google, const struct iap_target *target, int in,
	       int out, struct error *err)
{
	struct tunnel t = {
		.google = google, .target = target, .in = in, .out = out
	};
	int ret = run(&t, err);

	if (t.ws && !t.over)
		websocket_close(t.ws);
	disconnect(&t);
	buf_done(&t.sid);
	buf_done(&t.unconfirmed);
	/* A reader that has gone has all that it wanted. */
	return ret < 0 && err->code == ERROR_INTERRUPTED ? 0 : ret;
}
