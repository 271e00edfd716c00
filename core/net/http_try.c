/* SPDX-License-Identifier: Apache-2.0 */
/* One try of one request: sets up libcurl's handle, and interprets the
 * result. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"
#include "core/net/http_internal.h"
#include "core/net/url.h"

#define CONNECT_TIMEOUT_MS 20000L
#define STALL_TIMEOUT_S 60L
/* Limits the total time, as a server that sends a byte now and then must not
 * block anybody; streams go on as long as data moves. */
#define TOTAL_TIMEOUT_MS 60000L
#define ANSWER_MAX (16u << 20)
#define HEADERS_MAX (256u << 10)
#define SECRET_ANSWER_MAX (64u << 10)
#define REDIRECTS_MAX 8L
/* Per transfer; libcurl's default of 16 KiB takes a system call for each. */
#define STREAM_BUFFER (256L << 10)

static int part_of_url(struct http_call *call, CURLUPart part, char **out)
{
	*out = NULL;
	return call->http->curl->url_get(call->url, part, out, 0) == CURLUE_OK
		       ? 0
		       : -1;
}

/* Tokens are sent to this URL, so it must not expose them. */
static int check_url(struct http_call *call, struct error *err)
{
	const struct curl_api *curl = call->http->curl;
	char *shown = url_without_query(call->request.url);
	char *scheme = NULL, *host = NULL, *user = NULL;
	int ret = -1;

	if (curl->url_set(call->url, CURLUPART_URL, call->request.url,
			  CURLU_PATH_AS_IS) != CURLUE_OK ||
	    part_of_url(call, CURLUPART_SCHEME, &scheme) < 0 ||
	    part_of_url(call, CURLUPART_HOST, &host) < 0) {
		error_set(err, ERROR_FAILED, "'%s' is not a URL", shown);
		goto out;
	}
	if (part_of_url(call, CURLUPART_USER, &user) == 0) {
		error_set(err, ERROR_FAILED,
			  "'%s' has a user name, which is not allowed", shown);
		goto out;
	}
	if (!strcmp(scheme, "https")) {
		ret = 0;
	} else if (strcmp(scheme, "http") != 0) {
		error_set(err, ERROR_FAILED, "'%s' is not an https URL", shown);
	} else if (!(call->request.flags & (HTTP_PLAIN | HTTP_PUBLIC)) &&
		   !url_host_is_loopback(host)) {
		error_set(err, ERROR_FAILED,
			  "'%s' is plain http, which is only allowed to this "
			  "machine: use https",
			  shown);
	} else {
		ret = 0;
	}
out:
	curl->free(scheme);
	curl->free(host);
	curl->free(user);
	free(shown);
	return ret;
}

static int add_header(struct http_call *call, const char *line,
		      struct error *err)
{
	struct curl_slist *longer;

	/* A string from a file or a server must not add headers. */
	if (strpbrk(line, "\r\n"))
		return error_set(err, ERROR_FAILED,
				 "the header '%.*s' has a line break in it",
				 (int)strcspn(line, ":\r\n"), line);
	longer = call->http->curl->slist_append(call->headers, line);
	if (!longer)
		return error_set(err, ERROR_FAILED, "out of memory");
	call->headers = longer;
	return 0;
}

static int add_headers(struct http_call *call, struct error *err)
{
	const struct http_request *request = &call->request;
	const char *type = request->content_type;
	char *line = mem_printf("Content-Type:%s%s", type ? " " : "",
				type ? type : "");
	int ret = add_header(call, line, err);
	size_t i;

	free(line);
	/* "Expect: 100-continue" would cost a round trip, or a second if the
	 * server does not answer it. */
	if (ret == 0)
		ret = add_header(call, "Expect:", err);
	for (i = 0; ret == 0 && request->headers && request->headers[i]; i++)
		ret = add_header(call, request->headers[i], err);
	return ret;
}

int http_try_prepare(struct http_call *call, struct error *err)
{
	const struct curl_api *curl = call->http->curl;

	call->url = curl->url_new();
	call->easy = curl->easy_init();
	if (!call->url || !call->easy)
		return error_set(err, ERROR_FAILED, "out of memory");
	if (!call->request.answer_max)
		call->request.answer_max = call->request.flags & HTTP_SECRET
						   ? SECRET_ANSWER_MAX
						   : ANSWER_MAX;
	if (call->request.flags & HTTP_SECRET) {
		/* Reserved at once, as growing would leave copies behind. */
		buf_reserve(&call->response.body, call->request.answer_max);
		call->response.secret = true;
	}
	if (check_url(call, err) < 0)
		return -1;
	return add_headers(call, err);
}

static size_t take_header(char *data, size_t size, size_t count, void *arg)
{
	struct http_call *call = arg;
	struct buf *headers = &call->response.headers;
	size_t len = size * count, name, i;
	const char *colon;

	/* An answer begins, maybe after a proxy's answer, or a 100. */
	if (len >= 5 && !memcmp(data, "HTTP/", 5)) {
		buf_clear(headers);
		return len;
	}
	if (headers->len + len > HEADERS_MAX) {
		call->too_large = true;
		return 0;
	}
	colon = memchr(data, ':', len);
	if (!colon)
		return len;
	name = (size_t)(colon - data);
	for (i = 0; i < name; i++)
		buf_putc(headers, (char)(data[i] >= 'A' && data[i] <= 'Z'
						 ? data[i] | 0x20
						 : data[i]));
	buf_puts(headers, ": ");
	for (i = name + 1; i < len && (data[i] == ' ' || data[i] == '\t');)
		i++;
	for (count = len;
	     count > i && (data[count - 1] == '\r' || data[count - 1] == '\n' ||
			   data[count - 1] == ' ');)
		count--;
	buf_add(headers, data + i, count - i);
	buf_putc(headers, '\n');
	return len;
}

static size_t take_body(char *data, size_t size, size_t count, void *arg)
{
	struct http_call *call = arg;
	struct http_response *response = &call->response;
	size_t len = size * count;
	int ret;

	if (!response->status)
		call->http->curl->easy_getinfo(
			call->easy, CURLINFO_RESPONSE_CODE, &response->status);
	if (call->request.sink && response->status / 100 == 2) {
		ret = call->request.sink(call->request.arg, response, data,
					 len);
		if (ret > 0)
			return CURL_WRITEFUNC_PAUSE;
		call->received += len;
		call->gave_up = ret < 0;
		return ret < 0 ? 0 : len;
	}
	if (len > call->request.answer_max - response->body.len) {
		call->too_large = true;
		return 0;
	}
	buf_add(&response->body, data, len);
	return len;
}

static size_t give_body(char *data, size_t size, size_t count, void *arg)
{
	struct http_call *call = arg;
	long n = call->request.source(call->request.arg, data, size * count);

	if (n < 0) {
		call->gave_up = true;
		return CURL_READFUNC_ABORT;
	}
	call->sent += (uint64_t)n;
	return (size_t)n;
}

/* libcurl itself resends a body that a dead pooled connection swallowed. */
static int seek_body(void *arg, curl_off_t offset, int origin)
{
	struct http_call *call = arg;

	if (offset != 0 || origin != SEEK_SET || !call->request.rewind ||
	    call->request.rewind(call->request.arg) < 0)
		return CURL_SEEKFUNC_CANTSEEK;
	call->sent = 0;
	return CURL_SEEKFUNC_OK;
}

static void set_method(struct http_call *call)
{
	const struct http_request *request = &call->request;
	__typeof__(&curl_easy_setopt) set = call->http->curl->easy_setopt;
	CURL *easy = call->easy;

	if (request->source) {
		set(easy, CURLOPT_UPLOAD, 1L);
		set(easy, CURLOPT_READFUNCTION, give_body);
		set(easy, CURLOPT_READDATA, call);
		set(easy, CURLOPT_SEEKFUNCTION, seek_body);
		set(easy, CURLOPT_SEEKDATA, call);
		set(easy, CURLOPT_INFILESIZE_LARGE,
		    (curl_off_t)request->source_len);
		set(easy, CURLOPT_UPLOAD_BUFFERSIZE, STREAM_BUFFER);
	} else if (!strcmp(request->method, "HEAD")) {
		set(easy, CURLOPT_NOBODY, 1L);
	} else if (strcmp(request->method, "GET") != 0 &&
		   (strcmp(request->method, "DELETE") != 0 ||
		    request->body_len)) {
		/* Set even without a body, so that its length, 0, is sent. */
		set(easy, CURLOPT_POSTFIELDSIZE_LARGE,
		    (curl_off_t)request->body_len);
		set(easy, CURLOPT_POSTFIELDS,
		    request->body_len ? request->body : "");
	}
	if (strcmp(request->method, "HEAD") != 0)
		set(easy, CURLOPT_CUSTOMREQUEST, request->method);
}

static void set_blob(CURL *easy, __typeof__(&curl_easy_setopt) set,
		     CURLoption option, char *text)
{
	struct curl_blob blob = { .data = text, .len = strlen(text) };

	blob.flags = CURL_BLOB_NOCOPY;
	set(easy, option, &blob);
}

/* Given a CA, trusts only that one. */
static void set_trust(struct http_call *call)
{
	const struct http *http = call->http;
	__typeof__(&curl_easy_setopt) set = http->curl->easy_setopt;
	CURL *easy = call->easy;

	if (http->ca) {
		set(easy, CURLOPT_CAINFO, NULL);
		set(easy, CURLOPT_CAPATH, NULL);
		set_blob(easy, set, CURLOPT_CAINFO_BLOB, http->ca);
	} else if (http->ca_file) {
		set(easy, CURLOPT_CAINFO, http->ca_file);
	}
	if (http->ca_folder && !http->ca)
		set(easy, CURLOPT_CAPATH, http->ca_folder);
	if (http->ca_file)
		set(easy, CURLOPT_PROXY_CAINFO, http->ca_file);
	if (http->ca_folder)
		set(easy, CURLOPT_PROXY_CAPATH, http->ca_folder);
	if (http->certificate)
		set_blob(easy, set, CURLOPT_SSLCERT_BLOB, http->certificate);
	if (http->key)
		set_blob(easy, set, CURLOPT_SSLKEY_BLOB, http->key);
}

static void set_place(struct http_call *call)
{
	const struct http *http = call->http;
	__typeof__(&curl_easy_setopt) set = http->curl->easy_setopt;
	CURL *easy = call->easy;

	bool plain = !strncasecmp(call->request.url, "http:", 5);

	set(easy, CURLOPT_CURLU, call->url);
	if (call->request.flags & HTTP_PUBLIC) {
		set(easy, CURLOPT_FOLLOWLOCATION, 1L);
		set(easy, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
#if LIBCURL_VERSION_NUM >= 0x075500
		set(easy, CURLOPT_REDIR_PROTOCOLS_STR,
		    plain ? "http,https" : "https");
#else
		set(easy, CURLOPT_REDIR_PROTOCOLS,
		    (long)CURLPROTO_HTTPS | (plain ? CURLPROTO_HTTP : 0));
#endif
	} else if (plain) {
		/* No proxy for this machine, or one beside it. */
		set(easy, CURLOPT_PROXY, "");
		return;
	}
	if (call->request.flags & HTTP_BULK) {
		set(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	} else {
		set(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
		set(easy, CURLOPT_PIPEWAIT, 1L);
	}
	set(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	if (http->proxy)
		set(easy, CURLOPT_PROXY, http->proxy);
	if (http->connect_to)
		set(easy, CURLOPT_CONNECT_TO, http->connect_to);
	set_trust(call);
}

static long total_timeout_ms(const struct http_call *call)
{
	const struct http_request *request = &call->request;

	if (request->total_timeout_ms || request->sink || request->source)
		return request->total_timeout_ms;
	return call->http->total_timeout_ms ? call->http->total_timeout_ms
					    : TOTAL_TIMEOUT_MS;
}

static void set_limits(struct http_call *call)
{
	const struct http_request *request = &call->request;
	__typeof__(&curl_easy_setopt) set = call->http->curl->easy_setopt;
	CURL *easy = call->easy;

	set(easy, CURLOPT_NOSIGNAL, 1L);
	set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	set(easy, CURLOPT_CONNECTTIMEOUT_MS,
	    request->connect_timeout_ms ? request->connect_timeout_ms
					: CONNECT_TIMEOUT_MS);
	set(easy, CURLOPT_LOW_SPEED_LIMIT,
	    request->stall_rate ? request->stall_rate : 1L);
	set(easy, CURLOPT_LOW_SPEED_TIME,
	    request->stall_timeout_s ? request->stall_timeout_s
				     : STALL_TIMEOUT_S);
	set(easy, CURLOPT_TIMEOUT_MS, total_timeout_ms(call));
	/* If a pooled connection turns out to be dead, libcurl resends any
	 * request, even one that was already handled. */
	if (!(request->flags & HTTP_REPEATABLE))
		set(easy, CURLOPT_FRESH_CONNECT, 1L);
}

int http_try_begin(struct http_call *call, struct error *err)
{
	const struct http_request *request = &call->request;
	__typeof__(&curl_easy_setopt) set = call->http->curl->easy_setopt;
	CURL *easy = call->easy;

	if ((call->sent || call->received) &&
	    (!request->rewind || request->rewind(request->arg) < 0))
		return error_set(err, ERROR_UNREACHABLE, "it broke off");
	call->sent = call->received = 0;
	call->why[0] = '\0';
	call->response.status = 0;
	buf_clear(&call->response.headers);
	buf_clear(&call->response.body);
	call->http->curl->easy_reset(easy);
	set_method(call);
	set_place(call);
	set_limits(call);
	set(easy, CURLOPT_PRIVATE, call);
	set(easy, CURLOPT_ERRORBUFFER, call->why);
	set(easy, CURLOPT_HTTPHEADER, call->headers);
	set(easy, CURLOPT_USERAGENT, "jobrun/" JOBRUN_VERSION);
	set(easy, CURLOPT_HEADERFUNCTION, take_header);
	set(easy, CURLOPT_HEADERDATA, call);
	set(easy, CURLOPT_WRITEFUNCTION, take_body);
	set(easy, CURLOPT_WRITEDATA, call);
	if (request->sink)
		set(easy, CURLOPT_BUFFERSIZE, STREAM_BUFFER);
	else
		set(easy, CURLOPT_ACCEPT_ENCODING, "");
	return 0;
}

void http_try_connect(struct http_call *call)
{
	__typeof__(&curl_easy_setopt) set = call->http->curl->easy_setopt;

	call->http->curl->easy_reset(call->easy);
	set_place(call);
	set_limits(call);
	set(call->easy, CURLOPT_ERRORBUFFER, call->why);
	set(call->easy, CURLOPT_CONNECT_ONLY, 1L);
}

enum retry_verdict http_try_verdict(struct http_call *call, CURLcode code)
{
	long sent = 0;

	if (call->gave_up || call->too_large)
		return RETRY_NEVER;
	switch (code) {
	case CURLE_OK:
		return call->request.judge
			       ? call->request.judge(&call->response)
			       : retry_status(call->response.status);
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
	case CURLE_SSL_CONNECT_ERROR:
		return RETRY_ALWAYS;
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
		call->http->curl->easy_getinfo(call->easy,
					       CURLINFO_REQUEST_SIZE, &sent);
		return sent ? RETRY_REPEATABLE : RETRY_ALWAYS;
	default:
		return RETRY_NEVER;
	}
}

void http_try_error(struct http_call *call, CURLcode code, struct error *err)
{
	char *url = url_without_query(call->request.url);
	const char *why = call->why[0] ? call->why
				       : call->http->curl->easy_strerror(code);

	if (call->too_large)
		error_set(err, ERROR_FAILED,
			  "the response of '%s' is larger than %zu bytes", url,
			  call->request.answer_max);
	else if (call->gave_up)
		error_set(err, ERROR_FAILED, "gave up the transfer with '%s'",
			  url);
	else if (code == CURLE_PEER_FAILED_VERIFICATION && call->http->ca)
		error_set(err, ERROR_UNREACHABLE,
			  "'%s' cannot be trusted: %s; the certificate "
			  "authority that is named for it vouches for another",
			  url, why);
	else if (code == CURLE_PEER_FAILED_VERIFICATION)
		error_set(err, ERROR_FAILED,
			  "'%s' cannot be trusted: %s; behind a company's "
			  "proxy, set CURL_CA_BUNDLE to its certificates",
			  url, why);
	else if (code == CURLE_SSL_CACERT_BADFILE)
		error_set(err, ERROR_FAILED,
			  "cannot read the certificates to trust: %s; see "
			  "CURL_CA_BUNDLE and SSL_CERT_FILE",
			  why);
	else
		error_set(err, ERROR_UNREACHABLE, "cannot reach '%s': %s", url,
			  why);
	free(url);
}

void http_try_done(struct http_call *call)
{
	const struct curl_api *curl = call->http->curl;
	struct curl_slist *line;

	for (line = call->headers; line; line = line->next)
		if (!strncasecmp(line->data, "authorization:", 14))
			explicit_bzero(line->data, strlen(line->data));
	curl->slist_free_all(call->headers);
	call->headers = NULL;
	curl->easy_cleanup(call->easy);
	call->easy = NULL;
	curl->url_free(call->url);
	call->url = NULL;
}
