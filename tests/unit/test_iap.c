/* SPDX-License-Identifier: Apache-2.0 */
/* Tunnels through a stand-in of Identity-Aware Proxy to an echo server:
 * whatever breaks, every byte comes exactly once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "providers/google/iap.h"
#include "tests/support/stand_in.h"

struct fixture {
	struct stand_in server;
	struct http *http;
	struct google *google;
	int listener;
	long port;
	pthread_t echo;
};

/* Serves one client after the other. */
static void *echo(void *arg)
{
	const struct fixture *f = arg;
	char data[65536];
	ssize_t n;
	int fd;

	while ((fd = accept(f->listener, NULL, NULL)) >= 0) {
		while ((n = read(fd, data, sizeof(data))) > 0 &&
		       fd_write(fd, data, (size_t)n) == 0)
			;
		close(fd);
	}
	return NULL;
}

static void start_echo(struct fixture *f)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(at);

	f->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(f->listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(f->listener, 16), 0);
	getsockname(f->listener, (struct sockaddr *)&at, &len);
	f->port = ntohs(at.sin_port);
	assert_int_equal(pthread_create(&f->echo, NULL, echo, f), 0);
}

static int begin(void **state, int tls)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	struct error err;
	char *url;

	signal(SIGPIPE, SIG_IGN);
	stand_in_start(&f->server, tls);
	if (tls)
		setenv("CURL_CA_BUNDLE", stand_in_file(&f->server, "cert.pem"),
		       1);
	else
		unsetenv("CURL_CA_BUNDLE");
	url = mem_printf("%s/iap_tunnel/v4", f->server.base);
	setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_IAP_TUNNEL", url, 1);
	free(url);
	setenv("CLOUDSDK_CONFIG", stand_in_file(&f->server, "gcloud"), 1);
	setenv("GOOGLE_APPLICATION_CREDENTIALS",
	       stand_in_file(&f->server, "authorized_user.json"), 1);
	setenv("NO_GCE_CHECK", "true", 1);
	f->http = http_new(NULL, &err);
	assert_non_null(f->http);
	f->google = google_open(f->http);
	start_echo(f);
	*state = f;
	return 0;
}

static int set_up(void **state)
{
	return begin(state, 0);
}

static int set_up_tls(void **state)
{
	return begin(state, 1);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	json_t *wrong = stand_in_ask(&f->server, "wrong");
	char *text = json_dumps(wrong, 0);

	assert_string_equal(text, "[]");
	free(text);
	json_decref(wrong);
	shutdown(f->listener, SHUT_RDWR);
	close(f->listener);
	google_close(f->google);
	http_free(f->http);
	stand_in_stop(&f->server);
	pthread_join(f->echo, NULL);
	free(f);
	return 0;
}

/* ---- a tunnel, and who uses it ------------------------------------------- */

struct use {
	struct fixture *f;
	struct iap_target target;
	int in[2], out[2]; /* pipes */
	size_t size;       /* bytes to send and get back */
	int ret;
	struct error err;
};

static void *run_tunnel(void *arg)
{
	struct use *use = arg;

	use->ret = iap_tunnel(use->f->google, &use->target, use->in[0],
			      use->out[1], &use->err);
	close(use->in[0]);
	close(use->out[1]);
	return NULL;
}

/* Returns a byte of a sequence without short repetitions. */
static unsigned char byte_at(size_t i)
{
	return (unsigned char)((i * 2654435761u) >> 13);
}

static void *send_all(void *arg)
{
	struct use *use = arg;
	unsigned char data[5000];
	size_t at = 0, n;

	while (at < use->size) {
		for (n = 0; n < sizeof(data) && at + n < use->size; n++)
			data[n] = byte_at(at + n);
		if (fd_write(use->in[1], data, n) < 0)
			break;
		at += n;
	}
	return NULL;
}

/* Returns how many bytes came back as they were sent. */
static size_t receive_all(const struct use *use)
{
	unsigned char data[4096];
	size_t at = 0;
	ssize_t n, i;

	while (at < use->size &&
	       (n = read(use->out[0], data, sizeof(data))) > 0)
		for (i = 0; i < n; i++, at++)
			if (data[i] != byte_at(at))
				fail_msg("byte %zu is another", at);
	return at;
}

static void use_tunnel(struct fixture *f, const char *instance, size_t size,
		       struct use *use)
{
	pthread_t tunnel, sender;

	*use = (struct use){ .f = f,
			     .target = { "p-1", "europe-west4-a", instance,
					 f->port },
			     .size = size };
	assert_int_equal(pipe(use->in) | pipe(use->out), 0);
	assert_int_equal(pthread_create(&tunnel, NULL, run_tunnel, use), 0);
	assert_int_equal(pthread_create(&sender, NULL, send_all, use), 0);
	if (size)
		use->size = receive_all(use);
	pthread_join(sender, NULL);
	/* A refused tunnel ends by itself. */
	if (size)
		close(use->in[1]);
	pthread_join(tunnel, NULL);
	if (!size)
		close(use->in[1]);
	close(use->out[0]);
}

static void all_bytes_come_through(void **state)
{
	struct use use;

	stand_in_tell(&((struct fixture *)*state)->server, "state",
		      "{'iap': {'hosts': {'vm': '127.0.0.1'}}}");
	use_tunnel(*state, "vm", 1 << 20, &use);
	assert_int_equal(use.ret, 0);
	assert_int_equal(use.size, 1 << 20);
}

static void what_is_cut_goes_on_where_it_was(void **state)
{
	struct fixture *f = *state;
	size_t connects = stand_in_count(&f->server, "/iap_tunnel/v4/connect");
	struct use use;

	stand_in_tell(&f->server, "state",
		      "{'iap': {'hosts': {'vm': '127.0.0.1'}, 'away': 2, "
		      "'cut': [1, 40000, 300000, 300001, 900000], "
		      "'cut_input': [1, 20000, 500000]}}");
	use_tunnel(f, "vm", 1 << 20, &use);
	if (use.ret < 0)
		fail_msg("%s", use.err.text);
	assert_int_equal(use.size, 1 << 20);
	assert_int_equal(stand_in_count(&f->server, "/iap_tunnel/v4/connect") -
				 connects,
			 1);
	assert_int_equal(stand_in_count(&f->server, "/iap_tunnel/v4/reconnect"),
			 2 + 5 + 3);
}

static void a_token_that_is_refused_is_fetched_anew(void **state)
{
	struct fixture *f = *state;
	struct use use;

	stand_in_tell(&f->server, "state",
		      "{'iap': {'hosts': {'vm': '127.0.0.1'}}}");
	use_tunnel(f, "vm", 10, &use);
	stand_in_tell(&f->server, "forget", "{}");
	use_tunnel(f, "vm", 10, &use);
	assert_int_equal(use.ret, 0);
	assert_int_equal(use.size, 10);
}

static void who_is_not_let_through_hears_why(void **state)
{
	static const struct {
		const char *told;
		int code; /* 0: success */
		const char *text;
	} cases[] = {
		{ "{'iap': {}}", ERROR_UNREACHABLE,
		  "Identity-Aware Proxy can't reach port %ld of 'vm' (4047: "
		  "failed to lookup instance)" },
		{ "{'iap': {'hosts': {'vm': '127.0.0.2'}}}", ERROR_UNREACHABLE,
		  "Identity-Aware Proxy can't reach port %ld of 'vm' (4003: "
		  "failed to connect to backend): does sshd run there, and "
		  "does a firewall rule let 35.235.240.0/20 in?" },
		{ "{'iap': {'hosts': {'vm': '127.0.0.1'}, 'close': [1001, "
		  "'going away']}}",
		  ERROR_UNREACHABLE,
		  "Identity-Aware Proxy has closed the connection (1001: "
		  "going away)" },
		{ "{'iap': {'hosts': {'vm': '127.0.0.1'}, 'close': [1000, "
		  "'bye']}}",
		  0, "" },
	};
	struct fixture *f = *state;
	struct use use;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		char *text = mem_printf(
			"%.*s%ld%s", (int)strcspn(cases[i].text, "%"),
			cases[i].text, f->port,
			strstr(cases[i].text, "%ld")
				? strstr(cases[i].text, "%ld") + 3
				: "");

		stand_in_tell(&f->server, "state", cases[i].told);
		use_tunnel(f, "vm", 0, &use);
		assert_int_equal(use.ret, cases[i].code ? -1 : 0);
		if (cases[i].code) {
			assert_int_equal(use.err.code, cases[i].code);
			assert_string_equal(use.err.text,
					    strchr(cases[i].text, '%')
						    ? text
						    : cases[i].text);
		}
		free(text);
	}
}

/* Status 403 without the role, 200 from a server that is no relay. */
static void what_is_no_relay_is_told(void **state)
{
	/* Wrong headers in the answer. */
	static const char *const lies[] = {
		"Upgrade': 'h2c",
		"Connection': 'close",
		"Sec-WebSocket-Accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
		"Sec-WebSocket-Protocol': 'chat",
		"Sec-WebSocket-Extensions': 'permessage-deflate",
	};
	struct fixture *f = *state;
	struct use use;
	size_t i;

	stand_in_tell(&f->server, "faults",
		      "[{'do': 'status', 'path': '/iap_tunnel/', 'status': "
		      "403}]");
	use_tunnel(f, "vm", 0, &use);
	assert_int_equal(use.err.code, ERROR_DENIED);
	assert_string_equal(
		use.err.text,
		"Identity-Aware Proxy does not connect to 'vm' in "
		"europe-west4-a, project 'p-1' (status 403): that takes the "
		"permission iap.tunnelInstances.accessViaIAP, which the role "
		"roles/iap.tunnelResourceAccessor has");
	stand_in_tell(&f->server, "faults",
		      "[{'do': 'status', 'path': '/iap_tunnel/', 'status': "
		      "200}]");
	use_tunnel(f, "vm", 0, &use);
	assert_int_equal(use.err.code, ERROR_FAILED);
	assert_non_null(strstr(use.err.text, "the server answers 'HTTP/1.1 "
					     "200 OK'"));
	stand_in_tell(&f->server, "faults",
		      "[{'do': 'cut', 'path': '/iap_tunnel/'}]");
	use_tunnel(f, "vm", 0, &use);
	assert_int_equal(use.err.code, ERROR_UNREACHABLE);
	for (i = 0; i < COUNT(lies); i++) {
		char *told = mem_printf("{'iap': {'hosts': {'vm': '127.0.0.1'},"
					" 'lie': {'%s'}}}",
					lies[i]);

		stand_in_tell(&f->server, "state", told);
		use_tunnel(f, "vm", 0, &use);
		assert_int_equal(use.err.code, ERROR_FAILED);
		assert_non_null(strstr(use.err.text,
				       "the server does not speak "
				       "relay.tunnel.cloudproxy.app over "
				       "WebSockets"));
		free(told);
	}
}

/* Messages that are cut off or impossible. */
static void what_makes_no_sense_is_told(void **state)
{
	static const char *const messages[] = {
		"0004",
		"000400",
		"0004000000",
		"000400000001",
		"0004ffffffff00",
		"0007",
		"00070000000000000001",
		"0007ffffffffffffffff",
		"00010000000141",
		"00020000000000000000",
	};
	struct fixture *f = *state;
	struct use use;
	size_t i;

	for (i = 0; i < COUNT(messages); i++) {
		char *told = mem_printf("{'iap': {'hosts': {'vm': '127.0.0.1'},"
					" 'say': ['%s']}}",
					messages[i]);

		stand_in_tell(&f->server, "state", told);
		use_tunnel(f, "vm", 0, &use);
		assert_int_equal(use.ret, -1);
		assert_int_equal(use.err.code, ERROR_FAILED);
		assert_non_null(
			strstr(use.err.text, "sends an invalid response"));
		free(told);
	}
}

static void hosts_are_names_of_vms(void **state)
{
	static const char *const none[] = {
		"",
		"vm",
		"vm.zone.project",
		"vm.zone.iap.jobrun",
		"vm.zone..iap.jobrun",
		"vm$(x).zone.p.iap.jobrun",
		"vm.zone.p.iap.jobrun.org",
	};
	const struct iap_target target = { "p.example-1", "us-central2-b",
					   "t1v-n-1-w-0", 22 };
	struct arena *mem = arena_new();
	char *host = iap_host(&target);
	struct iap_target back;
	struct error err;
	size_t i;

	(void)state;
	assert_string_equal(host,
			    "t1v-n-1-w-0.us-central2-b.p.example-1.iap.jobrun");
	assert_int_equal(iap_host_parse(host, mem, &back, &err), 0);
	assert_string_equal(back.project, target.project);
	assert_string_equal(back.zone, target.zone);
	assert_string_equal(back.instance, target.instance);
	for (i = 0; i < COUNT(none); i++)
		assert_int_equal(iap_host_parse(none[i], mem, &back, &err), -1);
	free(host);
	arena_free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_bytes_come_through),
		cmocka_unit_test(what_is_cut_goes_on_where_it_was),
		cmocka_unit_test(a_token_that_is_refused_is_fetched_anew),
		cmocka_unit_test(who_is_not_let_through_hears_why),
		cmocka_unit_test(what_is_no_relay_is_told),
		cmocka_unit_test(what_makes_no_sense_is_told),
		cmocka_unit_test(hosts_are_names_of_vms),
	};
	const struct CMUnitTest tls[] = {
		cmocka_unit_test(all_bytes_come_through),
		cmocka_unit_test(what_is_cut_goes_on_where_it_was),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down) +
	       cmocka_run_group_tests(tls, set_up_tls, tear_down);
}
