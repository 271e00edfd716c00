/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the HTTP client: http.c has the client and its calls,
 * http_thread.c the thread that runs them, http_try.c a single try of a call.
 */
#ifndef JOBRUN_HTTP_INTERNAL_H
#define JOBRUN_HTTP_INTERNAL_H

#include <pthread.h>

#include "core/net/curl.h"
#include "core/net/http.h"
#include "core/net/http_trace.h"

/* A request in progress.  Until `ended` the thread owns it, except for
 * `cancelled` and `resumed`. */
struct http_call {
	struct http *http;
	struct http_call *next; /* in the one list that holds it */
	struct http_request request;
	bool cancelled; /* under the lock */
	bool resumed;   /* under the lock: http_resume() */
	bool ended;     /* under the lock, with `ended_changed` */
	pthread_cond_t ended_changed;

	CURLU *url;
	CURL *easy;
	struct curl_slist *headers;
	bool transferring; /* its easy handle is in the multi handle */
	int64_t begun_ms;  /* when the first try began */
	int64_t try_ms;    /* this one */
	/* when the next try is due, while not transferring */
	int64_t due_ms;
	uint64_t sent;     /* bytes from the source in this try */
	uint64_t received; /* bytes to the sink in this try */
	bool gave_up;      /* the source or sink gave up */
	bool too_large;    /* the answer is too large for `body` */
	char why[CURL_ERROR_SIZE];

	struct http_response response;
	int result;
	struct error err;
};

struct http {
	const struct curl_api *curl;
	CURLM *multi;
	struct retry_policy retry;
	struct http_trace *trace; /* or NULL */
	/* The certificate file; NULL: libcurl finds it by itself. */
	char *ca_file;
	char *ca_folder;
	/* In PEM, or NULL: see struct http_tls. */
	char *ca;
	char *certificate;
	char *key;
	char *proxy;
	struct curl_slist *connect_to;
	long total_timeout_ms; /* 0: the default */

	pthread_t thread;
	pthread_mutex_t lock;
	/* the thread was started, at the first call */
	bool started;
	pthread_cond_t stop_changed; /* wakes sleepers */
	/* http_stop() was called: refuse new calls */
	bool stopped;
	/* http_free() was called: the thread ends */
	bool closing;
	bool look;                  /* some call was cancelled */
	bool look_resumed;          /* some call was resumed */
	struct http_call *incoming; /* not begun yet, in order */
	struct http_call **incoming_end;
	struct http_call *calls; /* for the thread only: calls begun */
	size_t call_count;
	size_t parallel_max; /* transfers at once; others wait */
};

/* http_thread.c: the thread's main function. */
void *http_thread(void *arg);

/* http_try.c.  Called once, before the first try: whether the request may be
 * made at all. */
int http_try_prepare(struct http_call *call, struct error *err);
/* Makes the easy handle ready for a try. */
int http_try_begin(struct http_call *call, struct error *err);
/* The same for a bare connection, which the caller will use. */
void http_try_connect(struct http_call *call);
/* Whether another try is worthwhile, given libcurl's result. */
enum retry_verdict http_try_verdict(struct http_call *call, CURLcode code);
/* Describes the failure. */
void http_try_error(struct http_call *call, CURLcode code, struct error *err);
/* Frees what was sent, wiping secrets first. */
void http_try_done(struct http_call *call);

#endif
