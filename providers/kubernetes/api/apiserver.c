/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/api/apiserver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/net/url.h"
#include "providers/kubernetes/api/token.h"

/* The headers: Accept, the token, the user to act as, and NULL. */
#define HEADERS_MAX (KUBE_AS_MAX + 3)
/* Size limits for answers; objects may contain a source, and lists many
 * objects. */
#define ANSWER_MAX ((size_t)256 << 20)
#define SECRETS_MAX ((size_t)4 << 20)
/* JobSet's, and both versions of Kueue's two. */
#define GROUPS_MAX 8
/* The limit for a request that is made once. */
#define ONCE_MS 5000
/* How many streams, which block no other request, may be open at once. */
#define STREAMS_MAX 256

/* Whether the cluster has an API group, remembered once asked. */
struct known_group {
	char name[64];
	bool there;
};

struct apiserver {
	struct kubeconfig config;
	struct apiserver_identity identity;
	char *base; /* of all URLs: the server, by its certificate's name */
	char *connect_to; /* where that is, or NULL */
	struct http *http;
	struct http *streams; /* separate client for long answers */
	struct kube_token token;
	pthread_mutex_t lock; /* protects the members below */
	struct known_group groups[GROUPS_MAX];
	size_t group_count;
};

/* ---- opening ----------------------------------------------------------- */

static void identify(struct apiserver *api)
{
	const struct kubeconfig *config = &api->config;
	struct digest digest = { 0 };

	api->identity.context = config->context;
	api->identity.user = config->user ? config->user : "";
	if (config->ca)
		digest_bytes(config->ca, strlen(config->ca), &digest);
	snprintf(api->identity.ca, sizeof(api->identity.ca), "%s", digest.hex);
}

/* Sets the URL that all paths are behind.  If the certificate has another name
 * than the server, that name is in the URL, and what is returned says where it
 * is: "NAME:PORT:HOST:PORT"; or NULL. */
static const char *find_base(struct apiserver *api)
{
	static const char scheme[] = "https://";
	const char *server = api->config.server, *name = api->config.tls_name;
	const char *host = server + sizeof(scheme) - 1;
	size_t len = strcspn(host, "/"), host_len;
	char port[8] = "443";

	if (!name || !text_starts(server, scheme)) {
		api->base = mem_strdup(server);
		return NULL;
	}
	host_len = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");
	if (host_len < len)
		snprintf(port, sizeof(port), "%.*s", (int)(len - host_len - 1),
			 host + host_len + 1);
	api->base = mem_printf("%s%s:%s%s", scheme, name, port, host + len);
	api->connect_to = mem_printf("%s:%s:%.*s:%s", name, port, (int)host_len,
				     host, port);
	return api->connect_to;
}

struct apiserver *apiserver_open(const struct kubeconfig_choice *choice,
				 kube_read_yaml *read_yaml, const char *trace,
				 struct error *err)
{
	struct apiserver *api = mem_alloc(sizeof(*api));
	struct http_tls tls = { 0 };
	struct http_options options = { .trace = trace, .tls = &tls };

	pthread_mutex_init(&api->lock, NULL);
	if (kubeconfig_read(choice, read_yaml, &api->config, err) < 0 ||
	    token_init(&api->token, &api->config, err) < 0)
		goto fail;
	identify(api);
	tls.ca = api->config.ca;
	tls.certificate = api->config.certificate;
	tls.key = api->config.key;
	options.proxy = api->config.proxy;
	options.connect_to = find_base(api);
	api->http = http_new(&options, err);
	options.host_connections = STREAMS_MAX;
	if (api->http)
		api->streams = http_new(&options, err);
	if (api->streams)
		return api;
fail:
	apiserver_close(api);
	return NULL;
}

void apiserver_close(struct apiserver *api)
{
	if (!api)
		return;
	http_free(api->streams);
	http_free(api->http);
	token_done(&api->token);
	kubeconfig_done(&api->config);
	free(api->base);
	free(api->connect_to);
	pthread_mutex_destroy(&api->lock);
	free(api);
}

const struct apiserver_identity *apiserver_identity(const struct apiserver *api)
{
	return &api->identity;
}

const char *apiserver_server(const struct apiserver *api)
{
	return api->config.server;
}

const char *apiserver_name_space(const struct apiserver *api)
{
	return api->config.name_space;
}

struct http *apiserver_http(struct apiserver *api)
{
	return api->http;
}

/* ---- calls ------------------------------------------------------------- */

/* Adds what says who asks behind the first header; `token` is a line, or
 * empty. */
static void add_headers(const struct apiserver *api, const struct buf *token,
			const char **headers)
{
	size_t n = 1, i;

	if (token->len)
		headers[n++] = token->data;
	for (i = 0; i < api->config.as_count; i++)
		headers[n++] = api->config.as[i];
	headers[n] = NULL;
}

static int send_once(struct apiserver *api, const struct http_request *request,
		     const char *accept, struct http_response *response,
		     bool *again, struct error *err)
{
	char *wanted = mem_printf("Accept: %s", accept);
	const char *headers[HEADERS_MAX] = { wanted };
	struct http_request http = *request;
	struct buf line = { 0 };
	char *url = mem_printf("%s%s", api->base, request->url);
	int ret;

	buf_reserve(&line, TOKEN_MAX);
	ret = token_add_header(&api->token, &line, err);
	add_headers(api, &line, headers);
	http.url = url;
	http.headers = headers;
	if (ret == 0)
		ret = http_do(api->http, &http, response, err);
	if (again)
		*again = ret == 0 && response->status == 401 &&
			 token_find_another(&api->token, &line);
	explicit_bzero(line.data, line.size);
	buf_done(&line);
	free(url);
	free(wanted);
	return ret;
}

int apiserver_send_as(struct apiserver *api, const struct http_request *request,
		      const char *accept, struct http_response *response,
		      struct error *err)
{
	bool again = false;
	int ret = send_once(api, request, accept, response, &again, err);

	/* A request refused for its token had no effect: send it again. */
	if (again)
		ret = send_once(api, request, accept, response, NULL, err);
	return ret;
}

static int send_request(struct apiserver *api,
			const struct http_request *request,
			struct http_response *response, struct error *err)
{
	return apiserver_send_as(api, request, "application/json", response,
				 err);
}

struct apiserver_stream {
	struct http_call *call;
	struct buf token; /* the header, wiped at the end */
	char *url;
	const char *headers[HEADERS_MAX];
};

static void stream_free(struct apiserver_stream *stream)
{
	explicit_bzero(stream->token.data, stream->token.size);
	buf_done(&stream->token);
	free(stream->url);
	free(stream);
}

struct apiserver_stream *apiserver_stream(struct apiserver *api,
					  const struct http_request *request,
					  struct error *err)
{
	struct apiserver_stream *stream = mem_alloc(sizeof(*stream));
	struct http_request http = *request;

	buf_reserve(&stream->token, TOKEN_MAX);
	if (token_add_header(&api->token, &stream->token, err) < 0) {
		stream_free(stream);
		return NULL;
	}
	stream->url = mem_printf("%s%s", api->base, request->url);
	stream->headers[0] = "Accept: application/json";
	add_headers(api, &stream->token, stream->headers);
	http.url = stream->url;
	http.headers = stream->headers;
	stream->call = http_start(api->streams, &http);
	return stream;
}

void apiserver_stream_resume(struct apiserver_stream *stream)
{
	http_resume(stream->call);
}

long apiserver_stream_end(struct apiserver_stream *stream)
{
	struct http_response answer = { 0 };
	struct error ignored;
	long status = 0;

	if (!stream)
		return 0;
	http_cancel(stream->call);
	if (http_wait(stream->call, &answer, &ignored) == 0)
		status = answer.status;
	http_response_done(&answer);
	stream_free(stream);
	return status;
}

static struct websocket *open_once(struct apiserver *api, const char *path,
				   const char *protocols, long *status,
				   bool *again, struct error *err)
{
	const char *headers[HEADERS_MAX] = { "Accept: */*" };
	char *url = mem_printf("%s%s", api->base, path);
	const struct websocket_request request = { .url = url,
						   .protocols = protocols,
						   .headers = headers };
	struct websocket *ws = NULL;
	struct buf line = { 0 };

	*status = 0;
	buf_reserve(&line, TOKEN_MAX);
	if (token_add_header(&api->token, &line, err) == 0) {
		add_headers(api, &line, headers);
		ws = websocket_open(api->streams, &request, status, err);
	}
	*again =
		!ws && *status == 401 && token_find_another(&api->token, &line);
	explicit_bzero(line.data, line.size);
	buf_done(&line);
	free(url);
	return ws;
}

struct websocket *apiserver_websocket(struct apiserver *api, const char *path,
				      const char *protocols, long *status,
				      struct error *err)
{
	bool again;
	struct websocket *ws =
		open_once(api, path, protocols, status, &again, err);

	return again ? open_once(api, path, protocols, status, &again, err)
		     : ws;
}

void apiserver_answer_done(struct apiserver_answer *answer)
{
	json_decref(answer->body);
	json_decref(answer->warnings);
	*answer = (struct apiserver_answer){ 0 };
}

/* Sets `err` from a Status of the API, or from whatever text there is. */
static int refused(long status, const char *text, size_t len, struct error *err)
{
	struct error ignored;
	json_t *body = json_read(text, len, "answer", &ignored);
	const char *message = json_get_text(body, "message", "");
	enum error_code code = ERROR_FAILED;

	if (status == 401)
		error_set(err, ERROR_DENIED,
			  "the cluster does not accept your login (401): log "
			  "in again; 'kubectl auth whoami' shows as whom");
	else if (status == 403 && strstr(message, "exceeded quota"))
		error_set_final(err, ERROR_TRY_AGAIN, "%s", message);
	else {
		if (status == 403)
			code = ERROR_DENIED;
		else if (status == 400 || status == 422)
			code = ERROR_INVALID;
		else if (status == 429 || status == 409)
			code = ERROR_TRY_AGAIN;
		else if (status >= 500)
			code = ERROR_UNREACHABLE;
		if (*message)
			error_set(err, code, "%s", message);
		else
			error_set(err, code, "the cluster answers with %ld",
				  status);
		/* Somebody else has the object, and waiting does not change
		 * that. */
		err->final = status == 409;
	}
	json_decref(body);
	return -1;
}

/* Adds the text of a warning to the list: `299 - "a \"text\""` gives `a
 * "text"`. */
static void add_warning(const char *line, json_t *out)
{
	const char *at = strchr(line, '"');
	struct buf text = { 0 };

	for (at = at ? at + 1 : ""; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1])
			at++;
		buf_add(&text, at, 1);
	}
	if (text.len)
		json_array_append_new(out, json_text(text.data));
	buf_done(&text);
}

/* Returns all warnings, each from its own header, as a new value, or NULL. */
static json_t *warnings_of(const struct http_response *response)
{
	json_t *out = NULL;
	char *line;
	size_t n = 0;

	while ((line = http_response_header_at(response, "warning", n++))) {
		if (!out)
			out = json_array();
		add_warning(line, out);
		free(line);
	}
	return out;
}

static int take_answer(const struct http_response *response, const char *path,
		       struct apiserver_answer *answer, struct error *err)
{
	struct error ignored;
	json_t *why;

	answer->status = response->status;
	if (response->status / 100 == 2) {
		answer->warnings = warnings_of(response);
		answer->body = json_read(response->body.data,
					 response->body.len, path, err);
		return answer->body ? 0 : -1;
	}
	why = json_read(buf_text(&response->body), response->body.len, "answer",
			&ignored);
	snprintf(answer->reason, sizeof(answer->reason), "%s",
		 json_get_text(why, "reason", ""));
	json_decref(why);
	return refused(response->status, buf_text(&response->body),
		       response->body.len, err);
}

/* Whether a path leads to Secrets, one or many, in any namespace: the trace
 * must not show their bodies. */
static bool leads_to_secrets(const char *path)
{
	static const char segment[] = "/secrets";
	const char *at = strstr(path, segment);
	char after = at ? at[sizeof(segment) - 1] : 'x';

	return !after || after == '/' || after == '?';
}

int apiserver_call(struct apiserver *api,
		   const struct apiserver_request *request,
		   struct apiserver_answer *answer, struct error *err)
{
	static const struct retry_policy no_retry = { 0 };
	bool secret = leads_to_secrets(request->path);
	struct http_request http = { .method = request->method,
				     .answer_max = ANSWER_MAX };
	struct http_response response = { 0 };
	struct buf url = { 0 };
	char *body = NULL;
	size_t i;
	int ret;

	apiserver_answer_done(answer);
	buf_puts(&url, request->path);
	for (i = 0; request->query && request->query[i]; i += 2)
		url_add_query(&url, request->query[i], request->query[i + 1]);
	http.url = url.data;
	if (request->body) {
		http.body = body = json_dumps(request->body, JSON_COMPACT);
		http.body_len = strlen(body);
		http.content_type =
			request->type ? request->type : "application/json";
	}
	if (request->repeatable || !strcmp(request->method, "GET") ||
	    !strcmp(request->method, "PATCH"))
		http.flags |= HTTP_REPEATABLE;
	if (request->once) {
		http.retry = &no_retry;
		http.connect_timeout_ms = ONCE_MS;
		http.total_timeout_ms = ONCE_MS;
	}
	if (secret) {
		http.flags |= HTTP_SECRET;
		http.answer_max = SECRETS_MAX;
	}
	ret = send_request(api, &http, &response, err);
	if (ret == 0)
		ret = take_answer(&response, request->path, answer, err);
	http_response_done(&response);
	buf_done(&url);
	if (body && secret)
		explicit_bzero(body, strlen(body));
	free(body);
	return ret;
}

/* ---- groups ------------------------------------------------------------ */

int apiserver_has(struct apiserver *api, const char *group, struct error *err)
{
	struct apiserver_request request = { .method = "GET" };
	struct apiserver_answer answer = { 0 };
	int known = -1, ret;
	char *path;
	size_t i;

	pthread_mutex_lock(&api->lock);
	for (i = 0; i < api->group_count; i++)
		if (!strcmp(api->groups[i].name, group))
			known = api->groups[i].there;
	pthread_mutex_unlock(&api->lock);
	if (known >= 0)
		return known;
	request.path = path = mem_printf("/apis/%s", group);
	ret = apiserver_call(api, &request, &answer, err);
	if (ret == 0)
		known = 1;
	else if (answer.status == 404)
		known = 0;
	apiserver_answer_done(&answer);
	free(path);
	if (known < 0)
		return -1;
	pthread_mutex_lock(&api->lock);
	if (api->group_count < GROUPS_MAX) {
		struct known_group *one = &api->groups[api->group_count++];

		snprintf(one->name, sizeof(one->name), "%s", group);
		one->there = known;
	}
	pthread_mutex_unlock(&api->lock);
	return known;
}
