/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/base64.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/net/http.h"
#include "core/net/http_mask.h"
#include "core/net/url.h"
#include "tests/support/stand_in.h"

/* A retry policy with short pauses. */
static const struct retry_policy quick = {
	.first_ms = 10,
	.max_ms = 40,
	.total_ms = 20000,
};

struct fixture {
	struct stand_in server;
	struct http *http;
	struct http_response answer;
	struct error err;
	char url[128];
};

static int set_up(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	struct http_options options = { .retry = &quick };

	unsetenv("CURL_CA_BUNDLE");
	stand_in_start(&f->server, 0);
	options.trace = mem_strdup(stand_in_file(&f->server, "trace"));
	f->http = http_new(&options, &f->err);
	assert_non_null(f->http);
	free((char *)options.trace);
	snprintf(f->url, sizeof(f->url), "%s/echo", f->server.base);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	http_response_done(&f->answer);
	http_free(f->http);
	stand_in_stop(&f->server);
	free(f);
	return 0;
}

static int get(struct fixture *f, unsigned flags)
{
	const struct http_request request = {
		.method = "GET",
		.url = f->url,
		.flags = flags,
	};

	return http_do(f->http, &request, &f->answer, &f->err);
}

static int post(struct fixture *f, unsigned flags)
{
	const struct http_request request = {
		.method = "POST",
		.url = f->url,
		.content_type = "application/json",
		.body = "{}",
		.body_len = 2,
		.flags = flags,
	};

	return http_do(f->http, &request, &f->answer, &f->err);
}

static char *trace_of(struct fixture *f)
{
	size_t len;
	char *text = file_read(stand_in_file(&f->server, "trace"), 1 << 20,
			       &len, &f->err);

	assert_non_null(text);
	return text;
}

static void what_is_asked_arrives(void **state)
{
	static const char *const headers[] = { "X-One: 1", NULL };
	struct fixture *f = *state;
	const struct http_request request = {
		.method = "PATCH",
		.url = f->url,
		.headers = headers,
		.content_type = "text/plain",
		.body = "hello",
		.body_len = 5,
	};
	const char *text;
	json_t *body;
	char *type;

	assert_int_equal(http_do(f->http, &request, &f->answer, &f->err), 0);
	assert_int_equal(f->answer.status, 200);
	type = http_response_header(&f->answer, "content-type");
	assert_string_equal(type, "application/json; charset=UTF-8");
	free(type);
	assert_null(http_response_header(&f->answer, "content"));
	body = json_read(f->answer.body.data, f->answer.body.len, "", &f->err);
	assert_string_equal(json_get_text(body, "method", ""), "PATCH");
	assert_string_equal(json_get_text(body, "body", ""), "hello");
	text = json_get_text(json_object_get(body, "headers"), "X-One", "");
	assert_string_equal(text, "1");
	text = json_get_text(json_object_get(body, "headers"), "User-Agent",
			     "");
	assert_true(text_starts(text, "jobrun/"));
	json_decref(body);
}

static void methods_without_a_body_say_so(void **state)
{
	static const struct {
		const char *method;
		const char *length; /* of Content-Length; NULL: there is none */
	} cases[] = {
		{ "GET", NULL },
		{ "DELETE", NULL },
		{ "POST", "0" },
		{ "PUT", "0" },
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		const struct http_request request = {
			.method = cases[i].method,
			.url = f->url,
		};
		const char *length;
		json_t *body;

		assert_int_equal(
			http_do(f->http, &request, &f->answer, &f->err), 0);
		body = json_read(f->answer.body.data, f->answer.body.len, "",
				 &f->err);
		assert_string_equal(json_get_text(body, "method", ""),
				    cases[i].method);
		length = json_get_text(json_object_get(body, "headers"),
				       "Content-Length", NULL);
		if (cases[i].length)
			assert_string_equal(length, cases[i].length);
		else
			assert_null(length);
		json_decref(body);
	}
}

static void only_what_is_safe_is_repeated(void **state)
{
	static const struct {
		const char *faults;
		unsigned flags;
		int ret;
		long status;
		int tries; /* 0: libcurl may retry by itself */
		size_t arrived;
	} cases[] = {
		{ "[{'do':'status','status':503,'path':'echo'}]",
		  HTTP_REPEATABLE, 0, 200, 2, 2 },
		{ "[{'do':'status','status':503,'path':'echo'}]", 0, 0, 503, 1,
		  1 },
		{ "[{'do':'status','status':408,'path':'echo','count':3}]",
		  HTTP_REPEATABLE, 0, 200, 4, 4 },
		{ "[{'do':'status','status':404,'path':'echo'}]",
		  HTTP_REPEATABLE, 0, 404, 1, 1 },
		{ "[{'do':'cut','path':'echo'}]", HTTP_REPEATABLE, 0, 200, 0,
		  2 },
		{ "[{'do':'cut','path':'echo'}]", 0, -1, 0, 0, 1 },
		{ "[{'do':'drop-answer','path':'echo'}]", 0, -1, 0, 0, 1 },
		{ "[{'do':'drop-answer','path':'echo'}]", HTTP_REPEATABLE, 0,
		  200, 0, 2 },
		{ "[{'do':'cut-body','path':'echo'}]", HTTP_REPEATABLE, 0, 200,
		  2, 2 },
		{ "[{'do':'cut-body','path':'echo'}]", 0, -1, 0, 0, 1 },
		{ "[{'do':'garbage','path':'echo'}]", 0, -1, 0, 0, 1 },
	};
	struct fixture *f = *state;
	size_t i, before, after;

	/* Make a kept connection, on which libcurl would retry by itself. */
	assert_int_equal(get(f, HTTP_REPEATABLE), 0);
	for (i = 0; i < COUNT(cases); i++) {
		before = stand_in_count(&f->server, "/echo");
		stand_in_tell(&f->server, "faults", cases[i].faults);
		if (post(f, cases[i].flags) != cases[i].ret)
			fail_msg("case %zu: %s", i, f->err.text);
		if (cases[i].ret == 0) {
			assert_int_equal(f->answer.status, cases[i].status);
			assert_true(!cases[i].tries ||
				    f->answer.tries == cases[i].tries);
		} else {
			assert_int_equal(f->err.code, ERROR_UNREACHABLE);
		}
		after = stand_in_count(&f->server, "/echo");
		if (after - before != cases[i].arrived)
			fail_msg("case %zu: %zu requests", i, after - before);
	}
}

static void a_server_that_asks_for_patience_gets_it(void **state)
{
	struct fixture *f = *state;
	int64_t begun = time_monotonic_ms();

	stand_in_tell(&f->server, "faults",
		      "[{'do':'status','status':429,'path':'echo',"
		      "'headers':{'Retry-After':'1'}}]");
	assert_int_equal(get(f, HTTP_REPEATABLE), 0);
	assert_int_equal(f->answer.status, 200);
	assert_true(time_monotonic_ms() - begun >= 1000);

	/* The delay exceeds the total time, so the answer is returned. */
	stand_in_tell(&f->server, "faults",
		      "[{'do':'status','status':429,'path':'echo',"
		      "'headers':{'Retry-After':'3600'}}]");
	assert_int_equal(get(f, HTTP_REPEATABLE), 0);
	assert_int_equal(f->answer.status, 429);
	assert_int_equal(f->answer.tries, 1);
}

static void silence_has_an_end(void **state)
{
	struct fixture *f = *state;
	const struct retry_policy never = { 0 };
	struct http_request request = {
		.method = "GET",
		.url = f->url,
		.stall_timeout_s = 1,
		.retry = &never,
	};

	stand_in_tell(&f->server, "faults",
		      "[{'do':'stall','seconds':20,'path':'echo'},"
		      "{'do':'delay','seconds':20,'path':'echo','nth':2}]");
	assert_int_equal(http_do(f->http, &request, &f->answer, &f->err), -1);
	assert_int_equal(f->err.code, ERROR_UNREACHABLE);
	request.stall_timeout_s = 0;
	request.total_timeout_ms = 300;
	assert_int_equal(http_do(f->http, &request, &f->answer, &f->err), -1);
	assert_int_equal(f->err.code, ERROR_UNREACHABLE);
	assert_non_null(strstr(f->err.text, "timed out"));
}

/* A request has a total time limit, set for all requests of a client, however
 * slowly the answer comes. */
static void a_request_as_a_whole_has_an_end(void **state)
{
	struct fixture *f = *state;
	const struct retry_policy never = { 0 };
	const struct http_options options = { .retry = &never,
					      .total_timeout_ms = 300 };
	const struct http_request request = { .method = "GET", .url = f->url };
	struct http *http = http_new(&options, &f->err);

	assert_non_null(http);
	stand_in_tell(&f->server, "faults",
		      "[{'do':'stall','seconds':20,'path':'echo'}]");
	assert_int_equal(http_do(http, &request, &f->answer, &f->err), -1);
	assert_int_equal(f->err.code, ERROR_UNREACHABLE);
	assert_non_null(strstr(f->err.text, "timed out"));
	http_free(http);
}

static void nobody_there_is_said(void **state)
{
	struct fixture *f = *state;
	const struct retry_policy never = { 0 };
	/* Nothing listens on port 1, which needs root. */
	const struct http_request request = {
		.method = "POST",
		.url = "http://127.0.0.1:1/x?key=secret",
		.retry = &never,
	};

	assert_int_equal(http_do(f->http, &request, &f->answer, &f->err), -1);
	assert_int_equal(f->err.code, ERROR_UNREACHABLE);
	assert_true(text_starts(f->err.text,
				"cannot reach 'http://127.0.0.1:1/x': "));
}

static void large_answers_are_refused(void **state)
{
	struct fixture *f = *state;
	struct http_request request = {
		.method = "GET",
		.url = f->url,
		.answer_max = 4096,
		.flags = HTTP_REPEATABLE,
	};

	strcat(f->url, "?bytes=4096");
	assert_int_equal(http_do(f->http, &request, &f->answer, &f->err), 0);
	assert_int_equal(f->answer.body.len, 4096);
	request.answer_max = 4095;
	assert_int_equal(http_do(f->http, &request, &f->answer, &f->err), -1);
	assert_int_equal(f->err.code, ERROR_FAILED);
	assert_non_null(strstr(f->err.text, "is larger than 4095 bytes"));
}

static void some_urls_are_refused(void **state)
{
	static const struct {
		const char *url;
		const char *why;
	} cases[] = {
		{ "http://example.com/x?y",
		  "'http://example.com/x' is plain http, which is only allowed "
		  "to this machine: use https" },
		{ "http://127.0.0.1@example.com/",
		  "'http://example.com/' has a user name, which is not "
		  "allowed" },
		{ "ftp://example.com/",
		  "'ftp://example.com/' is not an https URL" },
		{ "http://169.254.169.254/x",
		  "'http://169.254.169.254/x' is plain http, which is only "
		  "allowed to this machine: use https" },
		{ "example.com", "'example.com' is not a URL" },
		{ "https://a b/", "'https://a b/' is not a URL" },
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		const struct http_request request = {
			.method = "GET",
			.url = cases[i].url,
		};

		assert_int_equal(
			http_do(f->http, &request, &f->answer, &f->err), -1);
		assert_int_equal(f->err.code, ERROR_FAILED);
		assert_string_equal(f->err.text, cases[i].why);
	}
}

static void headers_keep_to_their_line(void **state)
{
	static const char *const headers[] = { "X-A: 1\r\nX-B: 2", NULL };
	struct fixture *f = *state;
	const struct http_request request = {
		.method = "GET",
		.url = f->url,
		.headers = headers,
	};

	assert_int_equal(http_do(f->http, &request, &f->answer, &f->err), -1);
	assert_string_equal(f->err.text,
			    "the header 'X-A' has a line break in it");
}

static void a_call_can_be_cancelled(void **state)
{
	struct fixture *f = *state;
	const struct http_request request = { .method = "GET", .url = f->url };
	int64_t begun = time_monotonic_ms();
	struct http_call *call;

	stand_in_tell(&f->server, "faults",
		      "[{'do':'delay','seconds':20,'path':'echo','count':9}]");
	call = http_start(f->http, &request);
	usleep(50000);
	http_cancel(call);
	assert_int_equal(http_wait(call, &f->answer, &f->err), -1);
	assert_int_equal(f->err.code, ERROR_INTERRUPTED);
	call = http_start(f->http, &request);
	http_stop(f->http);
	assert_int_equal(http_wait(call, &f->answer, &f->err), -1);
	assert_int_equal(f->err.code, ERROR_INTERRUPTED);
	assert_int_equal(get(f, HTTP_REPEATABLE), -1);
	assert_int_equal(f->err.code, ERROR_INTERRUPTED);
	assert_true(time_monotonic_ms() - begun < 15000);
}

static void set_late(void *arg)
{
	usleep(50000);
	*(bool *)arg = true;
}

/* The argument of `done` may be freed once the wait is over. */
static void what_done_is_about_is_left_alone_after_the_wait(void **state)
{
	struct fixture *f = *state;
	bool *late = mem_alloc(sizeof(*late));
	const struct http_request request = {
		.method = "GET", .url = f->url, .done = set_late, .arg = late
	};

	assert_int_equal(
		http_wait(http_start(f->http, &request), &f->answer, &f->err),
		0);
	assert_true(*late);
	free(late);
}

static void *ask_often(void *arg)
{
	struct fixture *f = arg;
	struct http_response answer = { 0 };
	const struct http_request request = {
		.method = "GET",
		.url = f->url,
		.flags = HTTP_REPEATABLE,
	};
	struct error err;
	intptr_t good = 0;
	int i;

	for (i = 0; i < 25; i++)
		good += http_do(f->http, &request, &answer, &err) == 0 &&
			answer.status == 200;
	http_response_done(&answer);
	return (void *)good;
}

static void threads_share_few_connections(void **state)
{
	struct fixture *f = *state;
	bool seen[65536] = { false };
	json_t *requests, *request;
	pthread_t threads[16];
	size_t i, n = 0;
	void *good;

	for (i = 0; i < COUNT(threads); i++)
		pthread_create(&threads[i], NULL, ask_often, f);
	for (i = 0; i < COUNT(threads); i++) {
		pthread_join(threads[i], &good);
		assert_int_equal((intptr_t)good, 25);
	}
	requests = stand_in_ask(&f->server, "requests");
	assert_int_equal(json_array_size(requests), 400);
	json_array_foreach(requests, i, request)
	{
		long long port = json_get_int(request, "connection", 0);

		n += !seen[port];
		seen[port] = true;
	}
	json_decref(requests);
	assert_true(n <= 8);
}

struct stream {
	size_t at;
	int rewinds;
	struct buf got;
};

static long give(void *arg, char *data, size_t size)
{
	struct stream *stream = arg;
	size_t left = 1000000 - stream->at, i;

	if (size > left)
		size = left;
	for (i = 0; i < size; i++)
		data[i] = "0123456789abcdef"[(stream->at + i) % 16];
	stream->at += size;
	return (long)size;
}

static int take(void *arg, const struct http_response *response,
		const char *data, size_t len)
{
	struct stream *stream = arg;
	char *type = http_response_header(response, "content-type");

	assert_string_equal(type, "application/octet-stream");
	free(type);
	buf_add(&stream->got, data, len);
	return 0;
}

static int again(void *arg)
{
	struct stream *stream = arg;

	stream->at = 0;
	stream->rewinds++;
	buf_clear(&stream->got);
	return 0;
}

static void uploads_start_over(void **state)
{
	struct fixture *f = *state;
	struct stream stream = { 0 };
	struct http_request request = {
		.method = "PUT",
		.url = f->url,
		.source = give,
		.source_len = 1000000,
		.rewind = again,
		.arg = &stream,
		.flags = HTTP_REPEATABLE,
	};

	stand_in_tell(&f->server, "faults",
		      "[{'do':'drop-answer','path':'echo'},"
		      "{'do':'status','status':503,'path':'echo','nth':2}]");
	assert_int_equal(http_do(f->http, &request, &f->answer, &f->err), 0);
	assert_int_equal(f->answer.tries, 3);
	assert_int_equal(stream.rewinds, 2);
	assert_non_null(strstr(f->answer.body.data, "\"bytes\": 1000000"));
	/* A request that can't be rewound is not repeated. */
	stream = (struct stream){ 0 };
	request.rewind = NULL;
	stand_in_tell(&f->server, "faults",
		      "[{'do':'status','status':503,'path':'echo'}]");
	assert_int_equal(http_do(f->http, &request, &f->answer, &f->err), 0);
	assert_int_equal(f->answer.status, 503);
}

static void downloads_start_over_or_go_on(void **state)
{
	static const char *const range[] = { "Range: bytes=500000-", NULL };
	struct fixture *f = *state;
	struct stream stream = { 0 };
	struct http_request request = {
		.method = "GET",
		.url = f->url,
		.sink = take,
		.rewind = again,
		.arg = &stream,
		.flags = HTTP_REPEATABLE,
	};

	strcat(f->url, "?bytes=1000000");
	stand_in_tell(&f->server, "faults",
		      "[{'do':'cut-body','path':'echo'}]");
	assert_int_equal(http_do(f->http, &request, &f->answer, &f->err), 0);
	assert_int_equal(stream.rewinds, 1);
	assert_int_equal(stream.got.len, 1000000);
	request.rewind = NULL;
	stream = (struct stream){ .got = stream.got };
	buf_clear(&stream.got);
	stand_in_tell(&f->server, "faults",
		      "[{'do':'cut-body','path':'echo'}]");
	assert_int_equal(http_do(f->http, &request, &f->answer, &f->err), -1);
	assert_int_equal(f->err.code, ERROR_UNREACHABLE);
	assert_int_equal(stream.got.len, 500000);
	request.headers = range;
	assert_int_equal(http_do(f->http, &request, &f->answer, &f->err), 0);
	assert_int_equal(f->answer.status, 206);
	assert_int_equal(stream.got.len, 1000000);
	buf_done(&stream.got);
}

static void traces_hold_no_secrets(void **state)
{
	static const char *const headers[] = { "Authorization: Bearer tok-1",
					       "X-Key: tok-8", NULL };
	struct fixture *f = *state;
	char *url = mem_printf("%s/echo?uploadType=resumable&upload_id=tok-2&"
			       "X-Goog-Signature=tok-3&alt=json",
			       f->server.base);
	struct http_request request = {
		.method = "POST",
		.url = url,
		.headers = headers,
		.content_type = "application/x-www-form-urlencoded",
		.body = "grant_type=refresh_token&refresh_token=tok-4&a=tok-5",
		.body_len = 52,
		.flags = HTTP_SECRET | HTTP_REPEATABLE,
	};
	struct stat st;
	char *text;

	assert_int_equal(http_do(f->http, &request, &f->answer, &f->err), 0);
	request.content_type = "application/json";
	request.body = "{\"token\":\"tok-6\",\"x\":[{\"key\":\"tok-7\"}]}";
	request.body_len = strlen(request.body);
	assert_int_equal(http_do(f->http, &request, &f->answer, &f->err), 0);
	text = trace_of(f);
	assert_null(strstr(text, "tok-"));
	assert_non_null(strstr(text, "Authorization: Bearer (masked)"));
	assert_non_null(strstr(text, "?uploadType=(masked)&upload_id=(masked)&"
				     "X-Goog-Signature=(masked)"));
	assert_non_null(strstr(text, "X-Key: (masked)"));
	assert_non_null(strstr(text, "grant_type=refresh_token&refresh_token="
				     "(masked)&a=(masked)"));
	free(text);
	assert_int_equal(stat(stand_in_file(&f->server, "trace"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	free(url);
}

static void traces_show_every_try(void **state)
{
	struct fixture *f = *state;
	json_t *line;
	char *text, *end;

	stand_in_tell(&f->server, "faults", "[{'do':'cut','path':'echo'}]");
	assert_int_equal(get(f, HTTP_REPEATABLE), 0);
	text = trace_of(f);
	end = strchr(text, '\n');
	line = json_read(text, (size_t)(end - text), "", &f->err);
	assert_non_null(line);
	assert_int_equal(json_get_int(line, "try", 0), 1);
	assert_true(json_is_null(json_object_get(line, "response")));
	assert_non_null(json_get_text(line, "error", NULL));
	json_decref(line);
	line = json_read(end + 1, strlen(end + 1), "", &f->err);
	assert_int_equal(json_get_int(line, "try", 0), 2);
	assert_int_equal(
		json_get_int(json_object_get(line, "response"), "status", 0),
		200);
	json_decref(line);
	free(text);
}

/* An unverified server gets nothing, not even a request. */
static void servers_are_verified(void **state)
{
	struct stand_in server;
	struct http *http;
	struct http_response answer = { 0 };
	struct error err;
	char url[100];
	const struct http_request request = { .method = "GET", .url = url };

	(void)state;
	unsetenv("CURL_CA_BUNDLE");
	unsetenv("SSL_CERT_FILE");
	stand_in_start(&server, 1);
	snprintf(url, sizeof(url), "%s/echo", server.base);
	http = http_new(NULL, &err);
	assert_int_equal(http_do(http, &request, &answer, &err), -1);
	assert_int_equal(err.code, ERROR_FAILED);
	assert_true(text_starts(err.text, "'https://127.0.0.1:"));
	assert_non_null(strstr(err.text, "cannot be trusted"));
	http_free(http);

	setenv("SSL_CERT_FILE", stand_in_file(&server, "cert.pem"), 1);
	http = http_new(NULL, &err);
	if (http_do(http, &request, &answer, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(answer.status, 200);
	http_response_done(&answer);
	/* The certificate must have the right name, too. */
	snprintf(url, sizeof(url), "https://localhost:%d/echo", server.port);
	assert_int_equal(http_do(http, &request, &answer, &err), -1);
	assert_non_null(strstr(err.text, "cannot be trusted"));
	http_free(http);
	unsetenv("SSL_CERT_FILE");
	assert_int_equal(stand_in_count(&server, "/echo"), 1);
	unsetenv("CURL_CA_BUNDLE");
	stand_in_stop(&server);
}

static void waiting_grows_and_has_limits(void **state)
{
	const struct retry_policy policy = { 1000, 8000, 60000 };
	static const int64_t least[] = { 1000, 2000, 4000, 8000, 8000 };
	size_t i;
	int64_t ms;

	(void)state;
	for (i = 0; i < COUNT(least); i++) {
		ms = retry_delay_ms(&policy, (int)i + 1, 0);
		assert_in_range(ms, least[i], least[i] + 1000);
	}
	ms = retry_delay_ms(&policy, 1, 30000);
	assert_in_range(ms, 30000, 31000);
	ms = retry_delay_ms(&policy, 1000000, 0);
	assert_in_range(ms, 8000, 9000);
}

static void urls_are_put_together(void **state)
{
	static const struct {
		const char *host;
		bool loopback;
	} hosts[] = {
		{ "localhost", true },    { "127.0.0.1", true },
		{ "127.8.9.1", true },    { "[::1]", true },
		{ "::1", true },          { "localhost.example.com", false },
		{ "127.0.0.1.x", false }, { "128.0.0.1", false },
		{ "[::2]", false },       { "", false },
	};
	struct buf out = { 0 };
	char *text;
	size_t i;

	(void)state;
	url_encode(&out, "a b/c+é", NULL);
	assert_string_equal(out.data, "a%20b%2Fc%2B%C3%A9");
	buf_clear(&out);
	buf_puts(&out, "https://h/p");
	url_add_query(&out, "q", "1&2");
	url_add_query(&out, "r", "x=y");
	assert_string_equal(out.data, "https://h/p?q=1%262&r=x%3Dy");
	text = url_without_query("https://user:pw@h/p?q=1#f");
	assert_string_equal(text, "https://h/p");
	free(text);
	text = url_without_query("h/p?key=1&to=https://user:pw@h");
	assert_string_equal(text, "h/p");
	free(text);
	for (i = 0; i < COUNT(hosts); i++)
		if (url_host_is_loopback(hosts[i].host) != hosts[i].loopback)
			fail_msg("%s", hosts[i].host);
	buf_done(&out);
}

static void base64_has_two_alphabets(void **state)
{
	static const char *const cases[][3] = {
		{ "", "", "" },
		{ "f", "Zg==", "Zg" },
		{ "fo", "Zm8=", "Zm8" },
		{ "foo", "Zm9v", "Zm9v" },
		{ "\xfb\xff\xfe", "+//+", "-__-" },
	};
	struct buf out = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		buf_clear(&out);
		base64_add(&out, cases[i][0], strlen(cases[i][0]));
		assert_string_equal(buf_text(&out), cases[i][1]);
		buf_clear(&out);
		base64_url_add(&out, cases[i][0], strlen(cases[i][0]));
		assert_string_equal(buf_text(&out), cases[i][2]);
	}
	buf_done(&out);
}

static void urls_and_headers_are_masked(void **state)
{
	struct buf out = { 0 };

	(void)state;
	http_mask_url(&out, "https://u:p@h/o?uploadType=resumable&upload_id=x",
		      false);
	assert_string_equal(out.data, "https://h/o?uploadType=resumable&"
				      "upload_id=(masked)");
	buf_clear(&out);
	http_mask_header(&out, "Location", "https://h/o?upload_id=x&a=b",
			 false);
	assert_string_equal(out.data,
			    "Location: https://h/o?upload_id=(masked)&a=b");
	buf_clear(&out);
	http_mask_header(&out, "X-Goog-User-Project", "p", false);
	assert_string_equal(out.data, "X-Goog-User-Project: p");
	buf_clear(&out);
	http_mask_header(&out, "Cookie", "a=b c", false);
	assert_string_equal(out.data, "Cookie: (masked)");
	buf_done(&out);
}

static void bodies_are_masked(void **state)
{
	static const struct {
		const char *type;
		const char *body;
		bool all;
		const char *shown;
	} cases[] = {
		{ "application/json; charset=UTF-8",
		  "{\"accessToken\":\"x\",\"a\":1}", false,
		  "{\"a\":1,\"accessToken\":\"(masked)\"}" },
		{ "application/json",
		  "{\"id\":[\"a\"],\"token\":[\"x\",[\"y\"]]}", false,
		  "{\"id\":[\"a\"],\"token\":[\"(masked)\","
		  "[\"(masked)\"]]}" },
		{ "application/json", "{\"value\":\"x\",\"count\":1}", true,
		  "{\"count\":1,\"value\":\"(masked)\"}" },
		{ "application/json",
		  "{\"error\":{\"code\":4,\"message\":\"x\"}}", true,
		  "{\"error\":{\"code\":4,\"message\":\"(masked)\"}}" },
		{ "application/json", "[\"x\"]", true, "[\"(masked)\"]" },
		{ "application/json", "{broken", false, "\"(7 bytes)\"" },
		{ "text/plain", "x", true, "\"(1 bytes)\"" },
		{ "text/plain", "x", false, "\"x\"" },
		{ "application/x-tar", "x", false, "\"(1 bytes)\"" },
		{ "application/x-www-form-urlencoded",
		  "assertion=x&client_id=y&b", true,
		  "\"assertion=(masked)&client_id=(masked)&(masked)\"" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		json_t *value =
			http_mask_body(cases[i].type, cases[i].body,
				       strlen(cases[i].body), cases[i].all);
		char *text = json_canonical(value);

		assert_string_equal(text, cases[i].shown);
		free(text);
		json_decref(value);
	}
}

#define with_server(test)                                                      \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_server(what_is_asked_arrives),
		with_server(methods_without_a_body_say_so),
		with_server(only_what_is_safe_is_repeated),
		with_server(a_server_that_asks_for_patience_gets_it),
		with_server(silence_has_an_end),
		with_server(a_request_as_a_whole_has_an_end),
		with_server(nobody_there_is_said),
		with_server(large_answers_are_refused),
		with_server(some_urls_are_refused),
		with_server(headers_keep_to_their_line),
		with_server(a_call_can_be_cancelled),
		with_server(what_done_is_about_is_left_alone_after_the_wait),
		with_server(threads_share_few_connections),
		with_server(uploads_start_over),
		with_server(downloads_start_over_or_go_on),
		with_server(traces_hold_no_secrets),
		with_server(traces_show_every_try),
		cmocka_unit_test(servers_are_verified),
		cmocka_unit_test(waiting_grows_and_has_limits),
		cmocka_unit_test(urls_are_put_together),
		cmocka_unit_test(base64_has_two_alphabets),
		cmocka_unit_test(urls_and_headers_are_masked),
		cmocka_unit_test(bodies_are_masked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
