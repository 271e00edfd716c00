/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/watch.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/json.h"
#include "core/net/url.h"

/* The most watches: the HTTP client has few connections to one host, and other
 * requests need some. */
#define WATCH_MAX 4
#define WATCH_S "300"
/* A server that is silent for longer than a watch lasts is gone. */
#define STALL_S 330
#define EVENT_MAX (16u << 20)
#define VERSION_MAX 64

struct kube_watch {
	struct kube_at at;
	const struct kube_type *type;
	char *name;
	char *url;
	int event; /* an eventfd */
	struct apiserver_stream *stream;
	struct kube_watch *next;

	/* The lock protects these members, used by the caller and the client's
	 * thread. */
	pthread_mutex_t lock;
	bool live;
	char version[VERSION_MAX]; /* where to go on; "" for the present */
	/* Only the client's thread uses these. */
	struct buf line;
};

static void signal_change(const struct kube_watch *watch)
{
	const uint64_t one = 1;

	/* The counter is full only if nobody has looked yet. */
	if (write(watch->event, &one, sizeof(one)) < 0)
		return;
}

static void set_version(struct kube_watch *watch, const char *version)
{
	pthread_mutex_lock(&watch->lock);
	snprintf(watch->version, sizeof(watch->version), "%s", version);
	pthread_mutex_unlock(&watch->lock);
}

/* Takes an event such as {"type": "MODIFIED", "object": …}. */
static void take_event(struct kube_watch *watch, const char *text, size_t len)
{
	struct error ignored;
	json_t *event = json_read(text, len, "event", &ignored);
	const char *type = json_get_text(event, "type", "");
	const json_t *object = json_object_get(event, "object");
	const char *version = json_get_text(json_object_get(object, "metadata"),
					    "resourceVersion", "");

	if (!strcmp(type, "ERROR"))
		set_version(watch, "");
	else if (*version)
		set_version(watch, version);
	if (*type && strcmp(type, "BOOKMARK") != 0)
		signal_change(watch);
	json_decref(event);
}

static int take_data(void *arg, const struct http_response *response,
		     const char *data, size_t len)
{
	struct kube_watch *watch = arg;
	char *end;

	(void)response;
	if (watch->line.len + len > EVENT_MAX)
		return -1;
	buf_add(&watch->line, data, len);
	while (watch->line.len &&
	       (end = memchr(watch->line.data, '\n', watch->line.len))) {
		size_t line = (size_t)(end - watch->line.data);

		take_event(watch, watch->line.data, line);
		buf_drop(&watch->line, line + 1);
	}
	return 0;
}

static void take_end(void *arg)
{
	struct kube_watch *watch = arg;

	pthread_mutex_lock(&watch->lock);
	watch->live = false;
	pthread_mutex_unlock(&watch->lock);
}

/* Begins the watch, or continues it after it has ended. */
static int begin(struct kube_watch *watch, struct error *err)
{
	struct http_request request = { .method = "GET",
					.stall_timeout_s = STALL_S,
					.sink = take_data,
					.done = take_end,
					.arg = watch };
	struct arena *mem;
	struct buf url = { 0 };
	bool live;

	pthread_mutex_lock(&watch->lock);
	live = watch->live;
	watch->live = true;
	pthread_mutex_unlock(&watch->lock);
	if (live)
		return 0;
	apiserver_stream_end(watch->stream);
	watch->stream = NULL;
	buf_clear(&watch->line);
	mem = arena_new();
	buf_puts(&url, type_path(watch->type, &watch->at, NULL, mem));
	url_add_query(&url, "watch", "true");
	url_add_query(&url, "fieldSelector",
		      arena_printf(mem, "metadata.name=%s", watch->name));
	url_add_query(&url, "allowWatchBookmarks", "true");
	url_add_query(&url, "timeoutSeconds", WATCH_S);
	if (*watch->version)
		url_add_query(&url, "resourceVersion", watch->version);
	request.url = url.data;
	watch->stream = apiserver_stream(watch->at.api, &request, err);
	if (!watch->stream)
		take_end(watch);
	buf_done(&url);
	arena_free(mem);
	return watch->stream ? 0 : -1;
}

static void watch_free(struct kube_watch *watch)
{
	apiserver_stream_end(watch->stream);
	pthread_mutex_destroy(&watch->lock);
	if (watch->event >= 0)
		close(watch->event);
	buf_done(&watch->line);
	free(watch->name);
	free(watch);
}

/* Returns the watch's place in the list, or where it would be; the lock is
 * held. */
static struct kube_watch **find(struct kube *kube, const struct kube_at *at,
				const struct kube_type *type, const char *name,
				size_t *count)
{
	struct kube_watch **p;

	*count = 0;
	for (p = &kube->watches; *p; p = &(*p)->next) {
		if ((*p)->at.api == at->api && (*p)->type == type &&
		    !strcmp((*p)->name, name) &&
		    !strcmp((*p)->at.name_space, at->name_space))
			break;
		++*count;
	}
	return p;
}

static struct kube_watch *watch_new(const struct kube_at *at,
				    const struct kube_type *type,
				    const char *name, struct error *err)
{
	struct kube_watch *watch = mem_alloc(sizeof(*watch));

	watch->at = *at;
	watch->type = type;
	watch->name = mem_strdup(name);
	pthread_mutex_init(&watch->lock, NULL);
	watch->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch->event >= 0)
		return watch;
	error_errno(err, "cannot watch '%s'", name);
	watch_free(watch);
	return NULL;
}

int watch_open(struct kube *kube, const struct kube_at *at,
	       const struct kube_type *type, const char *name, int *fd,
	       struct error *err)
{
	struct kube_watch **p;
	uint64_t changes;
	size_t count;
	int ret = -1;

	pthread_mutex_lock(&kube->lock);
	p = find(kube, at, type, name, &count);
	if (!*p)
		*p = watch_new(at, type, name, err);
	if (!*p)
		goto out;
	/* Earlier changes are seen by the next look anyway. */
	if (read((*p)->event, &changes, sizeof(changes)) < 0)
		changes = 0;
	ret = count < WATCH_MAX ? begin(*p, err) : 0;
	if (ret == 0) {
		*fd = fcntl((*p)->event, F_DUPFD_CLOEXEC, 3);
		if (*fd < 0)
			ret = error_errno(err, "cannot watch '%s'", name);
	}
out:
	pthread_mutex_unlock(&kube->lock);
	return ret;
}

bool watch_keep(struct kube *kube, const struct kube_at *at,
		const struct kube_type *type, const char *name)
{
	struct kube_watch **p;
	struct error ignored;
	size_t count;
	bool open;

	pthread_mutex_lock(&kube->lock);
	p = find(kube, at, type, name, &count);
	if (*p && count < WATCH_MAX)
		begin(*p, &ignored);
	open = *p;
	pthread_mutex_unlock(&kube->lock);
	return open;
}

void watch_end(struct kube *kube, const struct kube_at *at,
	       const struct kube_type *type, const char *name)
{
	struct kube_watch **p, *watch;
	size_t count;

	pthread_mutex_lock(&kube->lock);
	p = find(kube, at, type, name, &count);
	watch = *p;
	if (watch)
		*p = watch->next;
	pthread_mutex_unlock(&kube->lock);
	if (watch)
		watch_free(watch);
}

void watch_end_all(struct kube *kube)
{
	while (kube->watches) {
		struct kube_watch *watch = kube->watches;

		kube->watches = watch->next;
		watch_free(watch);
	}
}
