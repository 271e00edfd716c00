/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/http_trace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/net/http_mask.h"

struct http_trace {
	int fd;
};

struct http_trace *http_trace_new(const char *path, struct error *err)
{
	struct http_trace *trace;
	struct stat st;
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0) {
		error_errno(err, "cannot open '%s' for the trace", path);
		return NULL;
	}
	/* An existing file may be readable for others; a terminal's mode is not
	 * ours to change. */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 077) &&
	    fchmod(fd, 0600) < 0) {
		error_errno(err, "cannot make '%s' readable by you only", path);
		close(fd);
		return NULL;
	}
	trace = mem_alloc(sizeof(*trace));
	trace->fd = fd;
	return trace;
}

void http_trace_free(struct http_trace *trace)
{
	if (!trace)
		return;
	close(trace->fd);
	free(trace);
}

/* Our own headers, each "Name: value". */
static json_t *sent_headers(const struct http_request *request)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; request->headers && request->headers[i]; i++) {
		const char *line = request->headers[i];
		size_t name_len = strcspn(line, ":");
		char *name = mem_printf("%.*s", (int)name_len, line);
		const char *value = line + name_len + (line[name_len] == ':');
		struct buf out = { 0 };

		http_mask_header(&out, name, value + strspn(value, " "),
				 request->flags & HTTP_SECRET);
		json_array_append_new(list, json_text(out.data));
		buf_done(&out);
		free(name);
	}
	return list;
}

static json_t *received_headers(const struct http_response *response, bool all)
{
	const char *at = buf_text(&response->headers);
	json_t *list = json_array();

	while (*at) {
		size_t len = strcspn(at, "\n");
		char *line = mem_printf("%.*s", (int)len, at);
		char *colon = strstr(line, ": ");
		struct buf out = { 0 };

		if (colon) {
			*colon = '\0';
			http_mask_header(&out, line, colon + 2, all);
			json_array_append_new(list, json_text(out.data));
		}
		buf_done(&out);
		free(line);
		at += len + (at[len] == '\n');
	}
	return list;
}

static json_t *request_json(const struct http_exchange *exchange)
{
	const struct http_request *request = exchange->request;
	bool all = request->flags & HTTP_SECRET;
	struct buf url = { 0 };
	json_t *out = json_object();

	http_mask_url(&url, request->url, all);
	json_put_text(out, "method", request->method);
	json_put_text(out, "url", url.data);
	json_put(out, "headers", sent_headers(request));
	if (request->source)
		json_put_int(out, "sentBytes", (long long)exchange->sent);
	else if (request->body_len)
		json_put(out, "body",
			 http_mask_body(request->content_type, request->body,
					request->body_len, all));
	buf_done(&url);
	return out;
}

static json_t *response_json(const struct http_exchange *exchange)
{
	const struct http_response *response = exchange->response;
	bool all = exchange->request->flags & HTTP_SECRET;
	char *type = http_response_header(response, "content-type");
	json_t *out = json_object();

	json_put_int(out, "status", response->status);
	json_put_text(out, "protocol", exchange->protocol);
	json_put(out, "headers", received_headers(response, all));
	if (exchange->received)
		json_put_int(out, "receivedBytes",
			     (long long)exchange->received);
	if (response->body.len)
		json_put(out, "body",
			 http_mask_body(type, response->body.data,
					response->body.len, all));
	free(type);
	return out;
}

void http_trace_add(struct http_trace *trace,
		    const struct http_exchange *exchange)
{
	char time[40];
	json_t *line;
	char *text;
	struct buf out = { 0 };

	if (!trace)
		return;
	line = json_object();
	time_format(exchange->begun_ms, time, sizeof(time));
	json_put_text(line, "time", time);
	json_put_int(line, "tookMs", exchange->took_ms);
	json_put_int(line, "try", exchange->try);
	json_put(line, "newConnection", json_boolean(exchange->new_connection));
	json_put(line, "request", request_json(exchange));
	json_put(line, "response",
		 exchange->response->status ? response_json(exchange)
					    : json_null());
	if (exchange->error)
		json_put_text(line, "error", exchange->error);
	text = json_dumps(line, JSON_COMPACT);
	if (text) {
		buf_printf(&out, "%s\n", text);
		/* A single write, so that lines of several processes do not
		 * mix. */
		(void)fd_write(trace->fd, out.data, out.len);
	}
	buf_done(&out);
	free(text);
	json_decref(line);
}
