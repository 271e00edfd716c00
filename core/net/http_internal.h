/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the HTTP client: http.c has the client and its calls,
 * http_thread.c the thread that does them, http_try.c one try of one of them.
 */
#ifndef JOBRUN_HTTP_INTERNAL_H
#define JOBRUN_HTTP_INTERNAL_H

#include <pthread.h>

#include "core/net/curl.h"
#include "core/net/http.h"
#include "core/net/http_trace.h"

/* A request under way.  Until it is `ended` it belongs to the thread, but for
 * `cancelled` and `resumed`. */
struct http_call {
	struct http *http;
	struct http_call *next; /* in the one list that it is in */
	struct http_request request;
	bool cancelled; /* under the lock */
	bool resumed;   /* under the lock: http_resume() */
	bool ended;     /* under the lock, with `ended_changed` */
	pthread_cond_t ended_changed;

	CURLU *url;
	CURL *easy;
	struct curl_slist *headers;
	bool transferring; /* its easy handle is in the multi handle */
	int64_t begun_ms;  /* the first try */
	int64_t try_ms;    /* this one */
	int64_t due_ms;    /* the next one, while not transferring */
	uint64_t sent;     /* what the source gave in this try */
	uint64_t received; /* what the sink got in this try */
	bool gave_up;      /* a source or sink did */
	bool too_large;    /* the answer, for `body` */
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
	/* Where certificates are; NULL: where libcurl looks by itself. */
	char *ca_file;
	char *ca_folder;
	/* In PEM, or NULL: see struct http_tls. */
	char *ca;
	char *certificate;
	char *key;
	char *proxy;
	struct curl_slist *connect_to;
	long total_timeout_ms; /* 0: the usual */

	pthread_t thread;
	pthread_mutex_t lock;
	bool started;                /* the thread, at the first call */
	pthread_cond_t stop_changed; /* for those that sleep */
	bool stopped;                /* http_stop(): refuse what comes */
	bool closing;                /* http_free(): the thread ends */
	bool look;                   /* something was cancelled */
	bool look_resumed;           /* something was resumed */
	struct http_call *incoming;  /* not begun yet, in their order */
	struct http_call **incoming_end;
	struct http_call *calls; /* the thread's own: those begun */
	size_t call_count;
	size_t parallel_max; /* at once; more wait their turn */
};

/* http_thread.c: what the thread runs. */
void *http_thread(void *arg);

/* http_try.c.  Once, before the first try: may the request be made at all? */
int http_try_prepare(struct http_call *call, struct error *err);
/* Makes the easy handle ready for a try. */
int http_try_begin(struct http_call *call, struct error *err);
/* The same for a connection and no more: it is the caller's to use. */
void http_try_connect(struct http_call *call);
/* Whether another one is worth it, after libcurl has said how it went. */
enum retry_verdict http_try_verdict(struct http_call *call, CURLcode code);
/* Why it failed, in words. */
void http_try_error(struct http_call *call, CURLcode code, struct error *err);
/* Forgets what was sent, its secrets first. */
void http_try_done(struct http_call *call);

#endif
