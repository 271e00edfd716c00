/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's thread: takes calls, has libcurl run them, retries if
 * worthwhile, and returns them.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/net/http_internal.h"

#define IDLE_MS 3600000

static void end_call(struct http_call *call, int result)
{
	struct http *http = call->http;

	http_try_done(call);
	call->result = result;
	/* Call `done` first, as the waiting thread frees its argument. */
	if (call->request.done)
		call->request.done(call->request.arg);
	pthread_mutex_lock(&http->lock);
	call->ended = true;
	pthread_cond_signal(&call->ended_changed);
	pthread_mutex_unlock(&http->lock);
	/* The call may have been freed by now. */
}

static void stop_transfer(struct http_call *call)
{
	if (call->transferring)
		call->http->curl->multi_remove_handle(call->http->multi,
						      call->easy);
	call->transferring = false;
}

static void begin_try(struct http_call *call)
{
	struct http *http = call->http;
	CURLMcode code;

	call->result = http_try_begin(call, &call->err);
	if (call->result < 0)
		return;
	call->try_ms = time_now_ms();
	code = http->curl->multi_add_handle(http->multi, call->easy);
	if (code != CURLM_OK)
		call->result = error_set(&call->err, ERROR_FAILED,
					 "libcurl refuses a request: %s",
					 http->curl->multi_strerror(code));
	else
		call->transferring = true;
}

static void trace_try(struct http_call *call, const char *error)
{
	static const char *const protocols[] = {
		[CURL_HTTP_VERSION_1_0] = "HTTP/1.0",
		[CURL_HTTP_VERSION_1_1] = "HTTP/1.1",
		[CURL_HTTP_VERSION_2_0] = "HTTP/2",
	};
	const struct curl_api *curl = call->http->curl;
	long version = 0, connects = 0;
	struct http_exchange exchange = {
		.request = &call->request,
		.response = &call->response,
		.error = error,
		.begun_ms = call->try_ms,
		.took_ms = time_now_ms() - call->try_ms,
		.try = call->response.tries,
		.sent = call->sent,
		.received = call->received,
	};

	if (!call->http->trace)
		return;
	curl->easy_getinfo(call->easy, CURLINFO_HTTP_VERSION, &version);
	curl->easy_getinfo(call->easy, CURLINFO_NUM_CONNECTS, &connects);
	if (version > 0 && version < (long)COUNT(protocols))
		exchange.protocol = protocols[version];
	exchange.new_connection = connects > 0;
	http_trace_add(call->http->trace, &exchange);
}

/* True if there will be another try. */
static bool plan_retry(struct http_call *call, enum retry_verdict verdict)
{
	const struct retry_policy *policy =
		call->request.retry ? call->request.retry : &call->http->retry;
	int64_t now = time_monotonic_ms();
	curl_off_t after_s = 0;

	if (verdict == RETRY_NEVER ||
	    (verdict == RETRY_REPEATABLE &&
	     !(call->request.flags & HTTP_REPEATABLE)) ||
	    ((call->sent || call->received) && !call->request.rewind))
		return false;
	call->http->curl->easy_getinfo(call->easy, CURLINFO_RETRY_AFTER,
				       &after_s);
	call->due_ms = now + retry_delay_ms(policy, call->response.tries,
					    (int64_t)after_s * 1000);
	return call->due_ms - call->begun_ms <= policy->total_ms;
}

/* Handles that libcurl has finished a try.  True if the call has ended. */
static bool end_try(struct http_call *call, CURLcode code)
{
	const struct curl_api *curl = call->http->curl;
	struct error why;

	curl->easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE,
			   &call->response.status);
	call->response.tries++;
	if (code != CURLE_OK) {
		http_try_error(call, code, &why);
		/* The server would redirect us again each time. */
		why.final = code == CURLE_TOO_MANY_REDIRECTS ||
			    code == CURLE_UNSUPPORTED_PROTOCOL;
		/* Drop an incomplete answer. */
		call->response.status = 0;
	}
	trace_try(call, code == CURLE_OK ? NULL : why.text);
	stop_transfer(call);
	if (plan_retry(call, http_try_verdict(call, code)))
		return false;
	call->result = 0;
	if (code != CURLE_OK) {
		call->err = why;
		call->result = -1;
	}
	return true;
}

static void unlink_call(struct http *http, struct http_call *call)
{
	struct http_call **at = &http->calls;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	http->call_count--;
}

static void read_results(struct http *http)
{
	struct http_call *call;
	CURLMsg *message;
	int left;

	while ((message = http->curl->multi_info_read(http->multi, &left))) {
		CURLcode code = message->data.result;

		if (message->msg != CURLMSG_DONE)
			continue;
		http->curl->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
					 (char **)&call);
		if (!end_try(call, code))
			continue;
		unlink_call(http, call);
		end_call(call, call->result);
	}
}

/* Starts the tries that are due.  Returns how long to wait for the next one. */
static int64_t start_due(struct http *http)
{
	int64_t now = time_monotonic_ms(), wait = IDLE_MS;
	struct http_call *call, *next;

	for (call = http->calls; call; call = next) {
		next = call->next;
		if (call->transferring)
			continue;
		if (call->due_ms > now) {
			if (call->due_ms - now < wait)
				wait = call->due_ms - now;
			continue;
		}
		begin_try(call);
		if (call->result < 0) {
			unlink_call(http, call);
			end_call(call, -1);
		}
	}
	return wait;
}

/* Takes new calls as there is room, and returns the cancelled ones. */
static struct http_call *take_calls(struct http *http)
{
	struct http_call **at, *call, *cancelled = NULL;

	for (at = &http->calls; http->look && (call = *at);) {
		if (!call->cancelled && !http->stopped) {
			at = &call->next;
			continue;
		}
		*at = call->next;
		http->call_count--;
		call->next = cancelled;
		cancelled = call;
	}
	for (at = &http->incoming; (call = *at);) {
		if (call->cancelled || http->stopped) {
			*at = call->next;
			call->next = cancelled;
			cancelled = call;
		} else if (http->call_count < http->parallel_max) {
			*at = call->next;
			call->next = http->calls;
			http->calls = call;
			http->call_count++;
			call->begun_ms = call->due_ms = time_monotonic_ms();
		} else {
			at = &call->next;
			if (!http->look) {
				at = http->incoming_end;
				break;
			}
		}
	}
	http->incoming_end = at;
	http->look = false;
	return cancelled;
}

static void end_cancelled(struct http_call *call)
{
	struct http_call *next;

	for (; call; call = next) {
		next = call->next;
		stop_transfer(call);
		error_set(&call->err, ERROR_INTERRUPTED, "it was cancelled");
		end_call(call, -1);
	}
}

/* Calls the sinks again that were not ready.  A sink may end a transfer, so
 * this is done without the lock. */
static void resume_calls(struct http *http)
{
	struct http_call *call;
	bool resumed;

	for (call = http->calls; call; call = call->next) {
		pthread_mutex_lock(&http->lock);
		resumed = call->resumed;
		call->resumed = false;
		pthread_mutex_unlock(&http->lock);
		if (resumed && call->transferring)
			http->curl->easy_pause(call->easy, CURLPAUSE_CONT);
	}
}

void *http_thread(void *arg)
{
	struct http *http = arg;
	struct http_call *cancelled;
	int64_t wait;
	int running;
	bool closing, resumed;

	for (;;) {
		pthread_mutex_lock(&http->lock);
		cancelled = take_calls(http);
		closing = http->closing;
		resumed = http->look_resumed;
		http->look_resumed = false;
		pthread_mutex_unlock(&http->lock);
		end_cancelled(cancelled);
		if (closing)
			return NULL;
		if (resumed)
			resume_calls(http);
		http->curl->multi_perform(http->multi, &running);
		read_results(http);
		wait = start_due(http);
		pthread_mutex_lock(&http->lock);
		if (http->incoming && http->call_count < http->parallel_max)
			wait = 0;
		pthread_mutex_unlock(&http->lock);
		http->curl->multi_poll(http->multi, NULL, 0, (int)wait, NULL);
	}
}
