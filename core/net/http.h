/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one HTTP client, on libcurl's multi interface.  A client has a thread
 * of its own that does all transfers: connections are kept and shared between
 * the threads that ask (HTTP/2: one connection for many requests).
 *
 * TLS is always verified, against CURL_CA_BUNDLE, SSL_CERT_FILE, SSL_CERT_DIR
 * or the system's certificates.  HTTPS_PROXY, ALL_PROXY and NO_PROXY hold.
 * Plain http goes to loopback only, and never through a proxy.  Redirects are
 * not followed.  HTTP_PUBLIC lifts that for what holds no secret.
 */
#ifndef JOBRUN_HTTP_H
#define JOBRUN_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/net/retry.h"

struct http;      /* the client */
struct http_call; /* a request under way */

/* Whom a server is trusted by, and who we are to it: texts in PEM, each or
 * NULL.  Copied; the key is wiped. */
struct http_tls {
	const char *ca; /* only what these vouch for is trusted */
	const char *certificate;
	const char *key;
};

struct http_options {
	/* Each exchange is added to this file as a line of JSON, without
	 * secrets.  NULL: to that of JOBRUN_TRACE_HTTP, if it is set. */
	const char *trace;
	const struct retry_policy *retry; /* NULL: retry_policy_default */
	const struct http_tls *tls;       /* NULL: the usual authorities, no
					   * client certificate */
	const char *proxy;                /* NULL: that of the environment */
	const char *connect_to; /* "NAME:PORT:HOST:PORT": where NAME is; or
				 * NULL */
	long total_timeout_ms;  /* of one try of a request; 0: 60 s */
	/* To one host, where HTTP/2 does not put all on one.  0: 8. */
	long host_connections;
};

/* `options` may be NULL.  Opens libcurl; makes no connection. */
struct http *http_new(const struct http_options *options, struct error *err);
/* All its calls must have been waited for. */
void http_free(struct http *http);
/* Ends what is under way, and refuses what comes, with ERROR_INTERRUPTED.
 * From any thread. */
void http_stop(struct http *http);

/* Waits that long, or fails at once when http_stop() is called. */
int http_sleep(struct http *http, int64_t ms, struct error *err);

struct http_response {
	long status;        /* 200 and so on */
	struct buf headers; /* "name: value\n" each, names in lower case */
	struct buf body;    /* but for what `sink` was given */
	int tries;          /* 1: the first one was answered */
	bool secret;        /* wiped when it is done with */
};

/* Zeroed (`= { 0 }`) it is ready for a call. */
void http_response_done(struct http_response *response);
/* The value of the nth of that name, or of the first; NULL: there is none.
 * `name` is in lower case.  Return new. */
char *http_response_header_at(const struct http_response *response,
			      const char *name, size_t n);
char *http_response_header(const struct http_response *response,
			   const char *name);

enum http_flag {
	/* Doing it twice is as doing it once, by its method or by a key or a
	 * precondition in it.  Only then is it repeated after a server may
	 * have seen it. */
	HTTP_REPEATABLE = 1 << 0,
	/* It, or its answer, holds a secret that the trace can't know. */
	HTTP_SECRET = 1 << 1,
	/* Plain http, to where it is the rule: the metadata server. */
	HTTP_PLAIN = 1 << 2,
	/* Neither it nor its answer is secret: plain http goes anywhere, through
	 * HTTP_PROXY too, and redirects are followed, from https to https. */
	HTTP_PUBLIC = 1 << 3,
	/* A large answer: on a connection of its own, by HTTP/1.1.  HTTP/2 would
	 * put all on one, which on a long link carries a window's worth per
	 * round trip, however many requests are on it. */
	HTTP_BULK = 1 << 4,
};

/* Whether an answer is worth another try.  NULL: judged by its status alone. */
typedef enum retry_verdict http_judge(const struct http_response *response);

/* The next bytes to send, at most `size`; 0: no more; -1: give up. */
typedef long http_source(void *arg, char *data, size_t size);
/* The next bytes of a 2xx answer; `response` has its headers.  -1: give up;
 * 1: not now, the same bytes again after http_resume(). */
typedef int http_sink(void *arg, const struct http_response *response,
		      const char *data, size_t len);
/* Before another try: source and sink start over.  -1: they can't. */
typedef int http_rewind(void *arg);

/* Borrowed, with all in it, until the call has been waited for.  A zero member
 * has its default. */
struct http_request {
	const char *method; /* "GET" */
	const char *url;
	const char *const *headers; /* "Name: value", up to NULL */
	const char *content_type;   /* of what is sent */
	const void *body;
	size_t body_len;
	unsigned flags; /* enum http_flag */

	long connect_timeout_ms; /* 20 s */
	long stall_timeout_s;    /* without a byte either way: 60 s */
	long total_timeout_ms;   /* of one try: the client's; none with a source
				  * or a sink */
	size_t answer_max;       /* bytes that `body` may have: 16 MiB */
	const struct retry_policy *retry; /* the client's */
	http_judge *judge;

	/*
	 * Called on the client's thread: they must be quick.  Without `rewind`
	 * there is no other try after a byte has gone through them.
	 */
	http_source *source; /* instead of `body` */
	uint64_t source_len;
	http_sink *sink;
	http_rewind *rewind;
	/* It has ended: http_wait() returns as soon as this has.  On the
	 * client's thread, for instance to wake an event loop. */
	void (*done)(void *arg);
	void *arg;
};

/*
 * Does it, and waits.  Any answer, of whatever status, is success; failures
 * are ERROR_UNREACHABLE (no connection, reset, timeout), ERROR_INTERRUPTED
 * (http_stop, http_cancel), and ERROR_FAILED (no trust in the server, too
 * large an answer, a source or sink that gave up).  From any thread.
 */
int http_do(struct http *http, const struct http_request *request,
	    struct http_response *response, struct error *err);

/* The same in two steps, so that one thread can have many under way. */
struct http_call *http_start(struct http *http,
			     const struct http_request *request);
/* Ends `call`, and fills in `response`, on success only. */
int http_wait(struct http_call *call, struct http_response *response,
	      struct error *err);
/* From any thread, before its http_wait() has returned. */
void http_cancel(struct http_call *call);
/* Asks a sink that has returned 1 again; harmless if none has.  As
 * http_cancel(). */
void http_resume(struct http_call *call);

#endif
