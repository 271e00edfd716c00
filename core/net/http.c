/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/http.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/net/certificates.h"
#include "core/net/http_internal.h"

#define HOST_CONNECTIONS 8L
#define KEPT_CONNECTIONS 32L
#define PARALLEL_LEAST 64

static int find_certificates(struct http *http, struct error *err)
{
	const char *folder = getenv("SSL_CERT_DIR");

	if (folder && *folder)
		http->ca_folder = mem_strdup(folder);
	return certificates_find(&http->ca_file, err);
}

static char *copy(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

static void copy_identity(struct http *http, const struct http_options *options)
{
	http->proxy = copy(options->proxy);
	if (options->connect_to)
		http->connect_to =
			http->curl->slist_append(NULL, options->connect_to);
	http->total_timeout_ms = options->total_timeout_ms;
	if (!options->tls)
		return;
	http->ca = copy(options->tls->ca);
	http->certificate = copy(options->tls->certificate);
	http->key = copy(options->tls->key);
}

static int open_trace(struct http *http, const struct http_options *options,
		      struct error *err)
{
	const char *path = options ? options->trace : NULL;

	if (!path)
		path = getenv("JOBRUN_TRACE_HTTP");
	if (!path || !*path)
		return 0;
	http->trace = http_trace_new(path, err);
	return http->trace ? 0 : -1;
}

struct http *http_new(const struct http_options *options, struct error *err)
{
	const struct curl_api *curl = curl_open(err);
	long host_connections = options && options->host_connections
					? options->host_connections
					: HOST_CONNECTIONS;
	pthread_condattr_t clock;
	struct http *http;

	if (!curl)
		return NULL;
	http = mem_alloc(sizeof(*http));
	http->curl = curl;
	http->retry = options && options->retry ? *options->retry
						: retry_policy_default;
	http->incoming_end = &http->incoming;
	http->parallel_max = host_connections > PARALLEL_LEAST
				     ? (size_t)host_connections
				     : PARALLEL_LEAST;
	pthread_mutex_init(&http->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&http->stop_changed, &clock);
	pthread_condattr_destroy(&clock);
	if (options)
		copy_identity(http, options);
	if (find_certificates(http, err) < 0 ||
	    open_trace(http, options, err) < 0)
		goto fail;
	http->multi = curl->multi_init();
	if (!http->multi) {
		error_set(err, ERROR_FAILED, "libcurl cannot start");
		goto fail;
	}
	curl->multi_setopt(http->multi, CURLMOPT_MAX_HOST_CONNECTIONS,
			   host_connections);
	curl->multi_setopt(http->multi, CURLMOPT_MAXCONNECTS,
			   host_connections > KEPT_CONNECTIONS
				   ? host_connections
				   : KEPT_CONNECTIONS);
	return http;
fail:
	http_free(http);
	return NULL;
}

void http_free(struct http *http)
{
	if (!http)
		return;
	if (http->started) {
		pthread_mutex_lock(&http->lock);
		http->closing = true;
		pthread_mutex_unlock(&http->lock);
		http->curl->multi_wakeup(http->multi);
		pthread_join(http->thread, NULL);
	}
	if (http->multi)
		http->curl->multi_cleanup(http->multi);
	http_trace_free(http->trace);
	pthread_cond_destroy(&http->stop_changed);
	pthread_mutex_destroy(&http->lock);
	free(http->ca_file);
	free(http->ca_folder);
	if (http->key)
		explicit_bzero(http->key, strlen(http->key));
	free(http->key);
	free(http->certificate);
	free(http->ca);
	free(http->proxy);
	if (http->connect_to)
		http->curl->slist_free_all(http->connect_to);
	free(http);
}

void http_stop(struct http *http)
{
	pthread_mutex_lock(&http->lock);
	http->stopped = true;
	http->look = true;
	pthread_cond_broadcast(&http->stop_changed);
	pthread_mutex_unlock(&http->lock);
	http->curl->multi_wakeup(http->multi);
}

int http_sleep(struct http *http, int64_t ms, struct error *err)
{
	int64_t until_ms = time_monotonic_ms() + ms;
	const struct timespec until = {
		.tv_sec = until_ms / 1000,
		.tv_nsec = until_ms % 1000 * 1000000,
	};
	bool stopped;
	int ret = 0;

	pthread_mutex_lock(&http->lock);
	while (!http->stopped && ret == 0)
		ret = pthread_cond_timedwait(&http->stop_changed, &http->lock,
					     &until);
	stopped = http->stopped;
	pthread_mutex_unlock(&http->lock);
	return stopped ? error_set(err, ERROR_INTERRUPTED, "it was cancelled")
		       : 0;
}

void http_response_done(struct http_response *response)
{
	if (response->secret && response->body.data)
		explicit_bzero(response->body.data, response->body.size);
	buf_done(&response->headers);
	buf_done(&response->body);
	*response = (struct http_response){ 0 };
}

char *http_response_header(const struct http_response *response,
			   const char *name)
{
	return http_response_header_at(response, name, 0);
}

char *http_response_header_at(const struct http_response *response,
			      const char *name, size_t n)
{
	const char *at = buf_text(&response->headers);
	size_t name_len = strlen(name);

	while (*at) {
		size_t len = strcspn(at, "\n");

		if (len >= name_len + 2 && !strncmp(at, name, name_len) &&
		    !strncmp(at + name_len, ": ", 2) && n-- == 0)
			return mem_printf("%.*s", (int)(len - name_len - 2),
					  at + name_len + 2);
		at += len + (at[len] == '\n');
	}
	return NULL;
}

/* The thread blocks all signals, which are for the threads that wait for them.
 * Called under the lock. */
static int start_thread(struct http *http, struct error *err)
{
	sigset_t all, old;
	int failed;

	if (http->started)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = pthread_create(&http->thread, NULL, http_thread, http);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed)
		return error_set(err, ERROR_FAILED, "cannot start a thread: %s",
				 strerror(failed));
	http->started = true;
	return 0;
}

struct http_call *http_start(struct http *http,
			     const struct http_request *request)
{
	struct http_call *call = mem_alloc(sizeof(*call));

	call->http = http;
	call->request = *request;
	pthread_cond_init(&call->ended_changed, NULL);
	if (http_try_prepare(call, &call->err) < 0)
		goto refused;
	pthread_mutex_lock(&http->lock);
	if (start_thread(http, &call->err) < 0) {
		pthread_mutex_unlock(&http->lock);
		goto refused;
	}
	*http->incoming_end = call;
	http->incoming_end = &call->next;
	pthread_mutex_unlock(&http->lock);
	http->curl->multi_wakeup(http->multi);
	return call;
refused:
	http_try_done(call);
	call->result = -1;
	call->ended = true;
	if (request->done)
		request->done(request->arg);
	return call;
}

int http_wait(struct http_call *call, struct http_response *response,
	      struct error *err)
{
	int result;

	pthread_mutex_lock(&call->http->lock);
	while (!call->ended)
		pthread_cond_wait(&call->ended_changed, &call->http->lock);
	pthread_mutex_unlock(&call->http->lock);
	result = call->result;
	if (result == 0) {
		http_response_done(response);
		*response = call->response;
	} else {
		*err = call->err;
		http_response_done(&call->response);
	}
	pthread_cond_destroy(&call->ended_changed);
	free(call);
	return result;
}

void http_cancel(struct http_call *call)
{
	struct http *http = call->http;

	pthread_mutex_lock(&http->lock);
	call->cancelled = true;
	http->look = true;
	pthread_mutex_unlock(&http->lock);
	http->curl->multi_wakeup(http->multi);
}

void http_resume(struct http_call *call)
{
	struct http *http = call->http;

	pthread_mutex_lock(&http->lock);
	call->resumed = true;
	http->look_resumed = true;
	pthread_mutex_unlock(&http->lock);
	http->curl->multi_wakeup(http->multi);
}

int http_do(struct http *http, const struct http_request *request,
	    struct http_response *response, struct error *err)
{
	return http_wait(http_start(http, request), response, err);
}
