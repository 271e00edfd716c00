/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/object_store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/text.h"

struct object_store {
	const struct object_scheme *const *schemes;
	const struct object_env *env;
	pthread_mutex_t lock; /* guards `contexts` */
	void **contexts;      /* one for each scheme; NULL: not open yet */
	bool stopped;
};

struct object_store *
object_store_new(const struct object_scheme *const *schemes,
		 const struct object_env *env)
{
	struct object_store *store = mem_alloc(sizeof(*store));
	size_t count = 0;

	while (schemes[count])
		count++;
	store->schemes = schemes;
	store->env = env;
	store->contexts = mem_alloc((count + 1) * sizeof(*store->contexts));
	pthread_mutex_init(&store->lock, NULL);
	return store;
}

void object_store_free(struct object_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; store->schemes[i]; i++)
		if (store->contexts[i])
			store->schemes[i]->close(store->contexts[i]);
	pthread_mutex_destroy(&store->lock);
	free(store->contexts);
	free(store);
}

void object_store_stop(struct object_store *store)
{
	pthread_mutex_lock(&store->lock);
	store->stopped = true;
	for (size_t i = 0; store->schemes[i]; i++)
		if (store->contexts[i] && store->schemes[i]->stop)
			store->schemes[i]->stop(store->contexts[i]);
	pthread_mutex_unlock(&store->lock);
}

static bool suits(const struct object_scheme *scheme, const char *url)
{
	return *scheme->prefix ? text_starts(url, scheme->prefix)
			       : !strstr(url, "://");
}

/* Finds the scheme of a URL, and its context. */
static const struct object_scheme *
find(struct object_store *store, const char *url, void **ctx, struct error *err)
{
	const struct object_scheme *scheme;
	size_t i = 0;

	while (store->schemes[i] && !suits(store->schemes[i], url))
		i++;
	scheme = store->schemes[i];
	if (!scheme) {
		error_set(err, ERROR_INVALID, "'%s' is of an unknown kind",
			  url);
		return NULL;
	}
	pthread_mutex_lock(&store->lock);
	if (store->stopped)
		error_set(err, ERROR_INTERRUPTED, "interrupted");
	else if (!store->contexts[i])
		store->contexts[i] = scheme->open(store->env, err);
	*ctx = store->stopped ? NULL : store->contexts[i];
	pthread_mutex_unlock(&store->lock);
	return *ctx ? scheme : NULL;
}

static int refuse(const char *url, struct error *err)
{
	return error_set(err, ERROR_INVALID, "'%s' is read-only", url);
}

int object_check(struct object_store *store, const char *url, struct error *err)
{
	void *ctx;
	const struct object_scheme *scheme = find(store, url, &ctx, err);

	if (!scheme)
		return -1;
	return scheme->check ? scheme->check(ctx, err) : 0;
}

int object_stat(struct object_store *store, const char *url, struct arena *mem,
		struct object *out, struct error *err)
{
	void *ctx;
	const struct object_scheme *scheme = find(store, url, &ctx, err);

	return scheme ? scheme->stat(ctx, url, mem, out, err) : -1;
}

int object_read(struct object_store *store, const struct object *object,
		uint64_t offset, uint64_t len, object_sink *sink, void *arg,
		struct error *err)
{
	void *ctx;
	const struct object_scheme *scheme =
		find(store, object->url, &ctx, err);

	return scheme ? scheme->read(ctx, object, offset, len, sink, arg, err)
		      : -1;
}

int object_put(struct object_store *store, const char *url, int fd,
	       const struct object_put *how, struct arena *mem,
	       struct object *out, struct error *err)
{
	void *ctx;
	const struct object_scheme *scheme = find(store, url, &ctx, err);

	if (scheme && !scheme->put)
		return refuse(url, err);
	return scheme ? scheme->put(ctx, url, fd, how, mem, out, err) : -1;
}

int object_put_text(struct object_store *store, const char *url,
		    const char *text, const struct object_put *how,
		    struct error *err)
{
	struct arena *mem = arena_new();
	int fd = memfd_create("object", MFD_CLOEXEC);
	int ret;

	if (fd < 0 || fd_write(fd, text, strlen(text)) < 0)
		ret = error_errno(err, "cannot write '%s'", url);
	else
		ret = object_put(store, url, fd, how, mem, NULL, err);
	if (fd >= 0)
		close(fd);
	arena_free(mem);
	return ret;
}

int object_list(struct object_store *store, const char *folder,
		object_each *each, void *arg, struct error *err)
{
	void *ctx;
	const struct object_scheme *scheme = find(store, folder, &ctx, err);

	if (scheme && !scheme->list)
		return refuse(folder, err);
	return scheme ? scheme->list(ctx, folder, each, arg, err) : -1;
}

int object_remove(struct object_store *store, const char *url,
		  struct error *err)
{
	void *ctx;
	const struct object_scheme *scheme = find(store, url, &ctx, err);

	if (scheme && !scheme->remove)
		return refuse(url, err);
	return scheme ? scheme->remove(ctx, url, err) : -1;
}
