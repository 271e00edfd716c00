/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/pod_stream.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/net/url.h"

/* A program may be silent for long; a broken connection is noticed only
 * then. */
#define STALL_S 300
/* The reader opens the stream again later. */
static const struct retry_policy one_try = { 0 };

struct pod_stream {
	struct apiserver_stream *stream;
	char *url;
	size_t kept_max;

	/* The lock protects these members, used by the reader and the client's
	 * thread. */
	pthread_mutex_t lock;
	struct buf kept;
	bool paused;
	bool ended;
};

static int take_data(void *arg, const struct http_response *response,
		     const char *data, size_t len)
{
	struct pod_stream *stream = arg;
	int ret = 0;

	(void)response;
	pthread_mutex_lock(&stream->lock);
	stream->paused = stream->kept.len >= stream->kept_max;
	if (stream->paused)
		ret = 1;
	else
		buf_add(&stream->kept, data, len);
	pthread_mutex_unlock(&stream->lock);
	return ret;
}

static void take_end(void *arg)
{
	struct pod_stream *stream = arg;

	pthread_mutex_lock(&stream->lock);
	stream->ended = true;
	pthread_mutex_unlock(&stream->lock);
}

static char *log_path(const struct kube_at *at, const char *pod,
		      const char *since, bool follow)
{
	struct arena *mem = arena_new();
	struct buf url = { 0 };

	buf_printf(&url, "%s/log?container=main&timestamps=true%s",
		   type_path(&type_pod, at, pod, mem),
		   follow ? "&follow=true" : "");
	if (*since)
		url_add_query(&url, "sinceTime", since);
	arena_free(mem);
	return buf_take(&url);
}

struct pod_stream *pod_stream_open(const struct kube_at *at, const char *pod,
				   const char *since, bool follow,
				   size_t kept_max)
{
	struct pod_stream *stream = mem_alloc(sizeof(*stream));
	struct http_request request = { .method = "GET",
					.flags = HTTP_REPEATABLE,
					.retry = &one_try,
					.stall_timeout_s = STALL_S,
					.sink = take_data,
					.done = take_end,
					.arg = stream };
	struct error ignored;

	pthread_mutex_init(&stream->lock, NULL);
	stream->kept_max = kept_max;
	stream->url = log_path(at, pod, since, follow);
	request.url = stream->url;
	stream->stream = apiserver_stream(at->api, &request, &ignored);
	if (stream->stream)
		return stream;
	pod_stream_end(stream);
	return NULL;
}

bool pod_stream_take(struct pod_stream *stream, struct buf *out)
{
	bool ended, resume;

	pthread_mutex_lock(&stream->lock);
	buf_add(out, buf_text(&stream->kept), stream->kept.len);
	buf_clear(&stream->kept);
	ended = stream->ended;
	resume = stream->paused && !ended;
	stream->paused = false;
	pthread_mutex_unlock(&stream->lock);
	if (resume)
		apiserver_stream_resume(stream->stream);
	return ended;
}

long pod_stream_end(struct pod_stream *stream)
{
	long status = apiserver_stream_end(stream->stream);

	pthread_mutex_destroy(&stream->lock);
	buf_done(&stream->kept);
	free(stream->url);
	free(stream);
	return status;
}
