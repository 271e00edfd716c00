/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/api.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/net/url.h"
#include "providers/google/auth/credentials.h"
#include "providers/google/auth/credentials_kind.h"
#include "providers/google/base/permission.h"

/* A server that sends more pages than this is broken. */
#define PAGES_MAX 10000
#define HEADERS_MAX 8

void api_answer_done(struct api_answer *answer)
{
	json_decref(answer->body);
	*answer = (struct api_answer){ 0 };
}

void api_path_add(struct buf *path, const char *segment)
{
	buf_putc(path, '/');
	url_encode(path, segment, NULL);
}

static void make_url(const struct api_request *request, const char *page,
		     struct buf *out)
{
	size_t i;

	endpoint_add(request->service, request->region, out);
	buf_puts(out, request->path);
	for (i = 0; request->query && request->query[i]; i += 2)
		url_add_query(out, request->query[i], request->query[i + 1]);
	if (page)
		url_add_query(out, "pageToken", page);
}

static int read_body(const struct http_response *response, const char *url,
		     struct api_answer *answer, struct error *err)
{
	char *shown = url_without_query(url);

	answer->body = response->body.len
			       ? json_read(response->body.data,
					   response->body.len, shown, err)
			       : json_object();
	if (answer->body && !json_is_object(answer->body)) {
		json_decref(answer->body);
		answer->body = NULL;
		error_set(err, ERROR_FAILED,
			  "the response of '%s' is not a JSON object", shown);
	}
	free(shown);
	return answer->body ? 0 : -1;
}

/* Sets `*refused` if only the token was refused, so that another may do. */
static int send_once(struct google *google, const struct http_request *request,
		     struct http_response *response, bool *refused,
		     struct error *err)
{
	bool is_bare =
		endpoint_is_emulated(request->url) && !credentials_are_set_up();
	struct credentials *who =
		is_bare ? NULL : google_credentials(google, err);
	const char *quota = who ? credentials_quota_project(who) : NULL;
	struct buf token = { 0 }, line = { 0 };
	const char *headers[HEADERS_MAX + 3] = { NULL };
	struct http_request http = *request;
	char *project = NULL;
	size_t n;
	int ret = -1;

	for (n = 0; request->headers && request->headers[n]; n++) {
		assert(n < HEADERS_MAX);
		headers[n] = request->headers[n];
	}
	http.headers = headers;
	buf_reserve(&token, SECRET_ROOM);
	buf_reserve(&line, SECRET_ROOM);
	if (!is_bare && (!who || credentials_token(who, &token, err) < 0))
		goto out;
	buf_printf(&line, "Authorization: Bearer %s", buf_text(&token));
	if (who)
		headers[n++] = line.data;
	if (quota)
		headers[n] = project =
			mem_printf("X-Goog-User-Project: %s", quota);
	ret = http_do(google_http(google), &http, response, err);
	*refused = ret == 0 && response->status == 401 && who;
	if (*refused)
		credentials_refused(who, token.data);
out:
	secret_done(&token);
	secret_done(&line);
	free(project);
	return ret;
}

int api_send(struct google *google, const struct http_request *request,
	     struct http_response *response, struct error *err)
{
	bool refused = false;
	int ret = send_once(google, request, response, &refused, err);

	/* A request refused for its token had no effect: send it again. */
	if (refused && (!request->rewind || request->rewind(request->arg) == 0))
		ret = send_once(google, request, response, &refused, err);
	return ret;
}

/* Says which permission is missing, unless the service did. */
static void name_permission(const struct api_request *request,
			    struct error *err)
{
	struct buf name = { 0 }, text = { 0 };

	if (permission_add(request->service, request->method, request->path,
			   &name) &&
	    !strstr(err->text, name.data)) {
		buf_printf(&text, "; this takes the permission %s", name.data);
		error_append(err, text.data);
	}
	buf_done(&name);
	buf_done(&text);
}

static int call(struct google *google, const struct api_request *request,
		const char *page, struct api_answer *answer, struct error *err)
{
	struct http_request http = {
		.method = request->method,
		.judge = api_error_judge,
	};
	struct http_response response = { 0 };
	struct buf url = { 0 };
	char *body = NULL;
	int ret;

	api_answer_done(answer);
	make_url(request, page, &url);
	http.url = url.data;
	if (request->body) {
		http.body = body = json_dumps(request->body, JSON_COMPACT);
		http.body_len = strlen(body);
		http.content_type = "application/json";
	}
	if (request->repeatable || !strcmp(request->method, "GET"))
		http.flags |= HTTP_REPEATABLE;
	ret = api_send(google, &http, &response, err);
	if (ret == 0) {
		answer->status = response.status;
		if (response.status / 100 == 2) {
			ret = read_body(&response, url.data, answer, err);
		} else {
			api_error_reason(&response, &answer->reason);
			ret = api_error_set(&response, err);
			if (response.status == 403 && err->code == ERROR_DENIED)
				name_permission(request, err);
		}
	}
	http_response_done(&response);
	buf_done(&url);
	free(body);
	return ret;
}

int api_call(struct google *google, const struct api_request *request,
	     struct api_answer *answer, struct error *err)
{
	return call(google, request, NULL, answer, err);
}

int api_list(struct google *google, const struct api_request *request,
	     int (*each)(void *arg, const json_t *page, struct error *err),
	     void *arg, struct error *err)
{
	struct api_answer answer = { 0 };
	char *page = NULL;
	int pages = 0, ret;

	do {
		const char *next;

		ret = call(google, request, page, &answer, err);
		if (ret == 0)
			ret = each(arg, answer.body, err);
		if (ret < 0)
			break;
		next = json_get_text(answer.body, "nextPageToken", "");
		if (page && !strcmp(page, next)) {
			ret = error_set(err, ERROR_FAILED,
					"'%s' gives the same page again",
					request->path);
			break;
		}
		free(page);
		page = *next ? mem_strdup(next) : NULL;
	} while (page && ++pages < PAGES_MAX);
	if (ret == 0 && page)
		ret = error_set(err, ERROR_FAILED,
				"the list of '%s' never ends", request->path);
	api_answer_done(&answer);
	free(page);
	return ret;
}
