/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records requests and answers: a line of JSON for each try of each request,
 * without secrets. http_mask.h says what is removed.
 */
#ifndef JOBRUN_HTTP_TRACE_H
#define JOBRUN_HTTP_TRACE_H

#include "core/net/http.h"

struct http_trace;

struct http_exchange {
	const struct http_request *request;
	const struct http_response *response; /* status 0: no answer */
	/* why there is no answer, or NULL */
	const char *error;
	int64_t begun_ms; /* since 1970 */
	int64_t took_ms;
	int try;              /* from 1 */
	bool new_connection;  /* opened for this try */
	const char *protocol; /* "HTTP/2" */
	uint64_t sent;        /* bytes from the source */
	uint64_t received;    /* bytes to the sink */
};

/* Appends to the file, setting its mode to 0600. */
struct http_trace *http_trace_new(const char *path, struct error *err);
void http_trace_free(struct http_trace *trace);
/* A trace that cannot be written fails no request and is not reported. */
void http_trace_add(struct http_trace *trace,
		    const struct http_exchange *exchange);

#endif
