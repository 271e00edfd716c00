/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one HTTP client, on libcurl's multi interface.  A thread of the client
 * does all transfers: connections are kept alive and shared between the calling
 * threads (HTTP/2: one connection for many requests).
 *
 * TLS is always verified, against CURL_CA_BUNDLE, SSL_CERT_FILE, SSL_CERT_DIR
 * or the system's certificates.  HTTPS_PROXY, ALL_PROXY and NO_PROXY are
 * honoured.  Plain http is allowed only to loopback, and never through a proxy.
 * Redirects are not followed.  HTTP_PUBLIC lifts these limits for requests
 * without secrets.
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
struct http_call; /* a request in progress */

/* The CAs that a server must be trusted by, and the client's own identity: PEM
 * strings, each or NULL.  Copied; the key is wiped. */
struct http_tls {
	const char *ca; /* trust only certificates of these CAs */
	const char *certificate;
	const char *key;
};

struct http_options {
	/* Each exchange is appended to this file as a line of JSON, without
	 * secrets.  NULL: the file that JOBRUN_TRACE_HTTP names, if it is
	 * set. */
	const char *trace;
	const struct retry_policy *retry; /* NULL: retry_policy_default */
	/* NULL: the usual CAs, no client certificate */
	const struct http_tls *tls;
	/* NULL: the proxy of the environment */
	const char *proxy;
	/* "NAME:PORT:HOST:PORT": where to connect for NAME; or NULL */
	const char *connect_to;
	long total_timeout_ms; /* of one try; 0: 60 s */
	/* The most connections to one host if HTTP/2 does not combine them.  0:
	 * 8. */
	long host_connections;
};

/* `options` may be NULL.  Opens libcurl; makes no connection. */
struct http *http_new(const struct http_options *options, struct error *err);
/* Every call must have been waited for. */
void http_free(struct http *http);
/* Ends calls in progress and refuses new ones, with ERROR_INTERRUPTED.
 * Thread-safe. */
void http_stop(struct http *http);

/* Sleeps; fails at once when http_stop() is called. */
int http_sleep(struct http *http, int64_t ms, struct error *err);

struct http_response {
	long status;        /* 200 and so on */
	struct buf headers; /* "name: value\n" each, names in lower case */
	struct buf body;    /* except what went to `sink` */
	int tries;          /* 1: the first one was answered */
	bool secret;        /* wiped when it is freed */
};

/* A zeroed response (`= { 0 }`) is ready for a call. */
void http_response_done(struct http_response *response);
/* The value of the n-th header of that name, or of the first; NULL: there is
 * none.  `name` is in lower case.  Return new. */
char *http_response_header_at(const struct http_response *response,
			      const char *name, size_t n);
char *http_response_header(const struct http_response *response,
			   const char *name);

enum http_flag {
	/* Idempotent, by its method or through a key or a precondition.  Only
	 * such a request is repeated after the server may have seen it. */
	HTTP_REPEATABLE = 1 << 0,
	/* The request or its answer holds a secret that the trace can't
	 * recognize. */
	HTTP_SECRET = 1 << 1,
	/* Plain http to a server that uses nothing else: the metadata
	 * server. */
	HTTP_PLAIN = 1 << 2,
	/* Neither the request nor its answer is secret: plain http may go
	 * anywhere, through HTTP_PROXY too, and redirects are followed, from
	 * https to https. */
	HTTP_PUBLIC = 1 << 3,
	/* A large answer, on a connection of its own, by HTTP/1.1.  HTTP/2
	 * would put all on one connection, which on a long link carries one
	 * window per round trip, however many requests share it. */
	HTTP_BULK = 1 << 4,
};

/* Whether an answer is worth another try.  NULL: decided by its status
 * alone. */
typedef enum retry_verdict http_judge(const struct http_response *response);

/* Supplies the next bytes to send, at most `size`; 0: no more; -1: give up. */
typedef long http_source(void *arg, char *data, size_t size);
/* Takes the next bytes of a 2xx answer; `response` has its headers.  -1: give
 * up; 1: not now, pass the same bytes after http_resume(). */
typedef int http_sink(void *arg, const struct http_response *response,
		      const char *data, size_t len);
/* Restarts source and sink before another try.  -1: they can't. */
typedef int http_rewind(void *arg);

/* Borrowed with everything in it until the call has been waited for.  Members
 * that are zero get their default. */
struct http_request {
	const char *method; /* "GET" */
	const char *url;
	const char *const *headers; /* "Name: value", NULL-terminated */
	const char *content_type;   /* of the request body */
	const void *body;
	size_t body_len;
	unsigned flags; /* enum http_flag */

	long connect_timeout_ms; /* 20 s */
	/* time without a byte in either direction: 60 s; or with fewer than
	 * `stall_rate` bytes a second */
	long stall_timeout_s;
	long stall_rate;
	/* of one try: the client's; unlimited with a source or a sink */
	long total_timeout_ms;
	/* the most bytes of the answer's `body`: 16 MiB */
	size_t answer_max;
	const struct retry_policy *retry; /* the client's */
	http_judge *judge;

	/*
	 * Called on the client's thread, so they must be quick.  Without
	 * `rewind` nothing is retried after a byte has passed through them.
	 */
	http_source *source; /* instead of `body` */
	uint64_t source_len;
	http_sink *sink;
	http_rewind *rewind;
	/* Called when the call has ended, on the client's thread, for instance
	 * to wake an event loop.  http_wait() returns as soon as this has. */
	void (*done)(void *arg);
	void *arg;
};

/*
 * Makes a request and waits for the answer.  An answer of any status is
 * success.  Failures are ERROR_UNREACHABLE (no connection, reset, timeout),
 * ERROR_INTERRUPTED (http_stop, http_cancel), and ERROR_FAILED (no trust in the
 * server, too large an answer, a source or sink that gave up).  Thread-safe.
 */
int http_do(struct http *http, const struct http_request *request,
	    struct http_response *response, struct error *err);

/* The same in two steps, so that one thread can have many calls in progress. */
struct http_call *http_start(struct http *http,
			     const struct http_request *request);
/* Waits for `call` and frees it; fills in `response` only on success. */
int http_wait(struct http_call *call, struct http_response *response,
	      struct error *err);
/* From any thread, until its http_wait() has returned. */
void http_cancel(struct http_call *call);
/* Calls a sink that has returned 1 again; harmless if none has.  Same rules as
 * http_cancel(). */
void http_resume(struct http_call *call);

#endif
