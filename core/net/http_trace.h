/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record of what was asked and answered: a line of JSON for each try of
 * each request, without secrets.  See http_mask.h for what is taken out.
 */
#ifndef JOBRUN_HTTP_TRACE_H
#define JOBRUN_HTTP_TRACE_H

#include "core/net/http.h"

struct http_trace;

struct http_exchange {
	const struct http_request *request;
	const struct http_response *response; /* status 0: no answer */
	const char *error;                    /* why not, or NULL */
	int64_t begun_ms;                     /* since 1970 */
	int64_t took_ms;
	int try;              /* from 1 */
	bool new_connection;  /* opened for it */
	const char *protocol; /* "HTTP/2" */
	uint64_t sent;        /* through the source */
	uint64_t received;    /* through the sink */
};

/* Appends to the file, 0600 from now on. */
struct http_trace *http_trace_new(const char *path, struct error *err);
void http_trace_free(struct http_trace *trace);
/* A trace that cannot be written fails no request, and is not reported. */
void http_trace_add(struct http_trace *trace,
		    const struct http_exchange *exchange);

#endif
