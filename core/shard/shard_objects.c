/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shards as objects in a store.  Each is first made in an unnamed file, because
 * an upload that breaks resumes in the middle and needs the bytes again.  There
 * is no journal: equal samples give equal shards, and a shard that the store
 * already has is not sent again.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/shard/shard_target.h"

struct shard_objects {
	struct shard_target target;
	struct shard_target_how how;
	struct object_store *store;
	char *url; /* without a slash at its end */
	const char *prefix;
};

static struct shard_objects *objects_of(struct shard_target *target)
{
	return (struct shard_objects *)target;
}

static char *url_of(const struct shard_objects *objects, const char *name)
{
	return mem_printf("%s/%s", objects->url, name);
}

static int objects_prepare(struct shard_target *target, const char *prefix,
			   struct error *err)
{
	struct shard_objects *objects = objects_of(target);
	char *url = url_of(objects, SHARD_INDEX_NAME);
	struct arena *mem = arena_new();
	struct object index;
	int ret;

	objects->prefix = prefix;
	ret = object_stat(objects->store, url, mem, &index, err);
	if (ret == 0 && index.exists) {
		/* No index may describe shards that are about to change. */
		if (objects->how.force)
			ret = object_remove(objects->store, url, err);
		else
			ret = error_set(err, ERROR_FAILED,
					"'%s' exists already: use another "
					"place, or --force to replace it",
					url);
	}
	arena_free(mem);
	free(url);
	return ret;
}

static int objects_begin(struct shard_target *target,
			 const struct shard_want *want, struct error *err)
{
	(void)target;
	return file_nameless("jobrun-shard", want->name, err);
}

static int objects_commit(struct shard_target *target,
			  const struct shard_want *want, int fd,
			  const struct shard_entry *entry, int64_t begun_ns,
			  struct error *err)
{
	const struct shard_objects *objects = objects_of(target);
	const struct object_put how = { .content_type = "application/x-tar",
					.replace = objects->how.force };
	char *url = url_of(objects, want->name);
	struct arena *mem = arena_new();
	struct object made;
	int ret;

	(void)begun_ns;
	ret = object_put(objects->store, url, fd, &how, mem, &made, err);
	if (ret == 0 && (made.size_bytes != entry->bytes ||
			 strcmp(made.crc32c, entry->crc32c) != 0))
		ret = error_set(err, ERROR_FAILED,
				"'%s' is not what was sent: its CRC-32C is "
				"%.20s, not %s",
				url, made.crc32c, entry->crc32c);
	arena_free(mem);
	free(url);
	return ret;
}

/* Shards of an earlier, longer set with this name. */
struct shard_leftovers {
	const struct shard_objects *objects;
	size_t count;
	struct arena *mem;
	const char **urls;
	size_t found;
};

static int find_leftover(void *arg, const struct object *object,
			 struct error *err)
{
	struct shard_leftovers *left = arg;
	const char *name = path_base(object->url);
	size_t len = strlen(left->objects->url);

	(void)err;
	if (strncmp(object->url, left->objects->url, len) != 0 ||
	    name != object->url + len + 1 ||
	    !shard_name_is(name, left->objects->prefix) ||
	    strtoul(name + strlen(left->objects->prefix) + 1, NULL, 10) <
		    left->count)
		return 0;
	left->urls = mem_grow(left->urls, left->found + 1, sizeof(*left->urls));
	left->urls[left->found++] = arena_strdup(left->mem, object->url);
	return 0;
}

static int remove_leftovers(const struct shard_objects *objects, size_t count,
			    struct error *err)
{
	struct shard_leftovers left = { .objects = objects,
					.count = count,
					.mem = arena_new() };
	int ret = object_list(objects->store, objects->url, find_leftover,
			      &left, err);
	size_t i;

	for (i = 0; i < left.found && ret == 0; i++)
		ret = object_remove(objects->store, left.urls[i], err);
	free(left.urls);
	arena_free(left.mem);
	return ret;
}

static int objects_finish(struct shard_target *target,
			  const struct shard_index *index, struct error *err)
{
	const struct shard_objects *objects = objects_of(target);
	const struct object_put how = { .content_type = "application/json",
					.replace = objects->how.force };
	char *url = url_of(objects, SHARD_INDEX_NAME);
	struct buf text = { 0 };
	int ret = 0;

	if (objects->how.force)
		ret = remove_leftovers(objects, index->count, err);
	shard_index_print(index, &text);
	if (ret == 0)
		ret = object_put_text(objects->store, url, buf_text(&text),
				      &how, err);
	buf_done(&text);
	free(url);
	return ret;
}

static void objects_free(struct shard_target *target)
{
	struct shard_objects *objects = objects_of(target);

	free(objects->url);
	free(objects);
}

static const struct shard_target_calls objects_calls = {
	.prepare = objects_prepare,
	.begin = objects_begin,
	.commit = objects_commit,
	.finish = objects_finish,
	.free = objects_free,
};

struct shard_target *shard_objects_open(struct object_store *store,
					const char *url,
					const struct shard_target_how *how)
{
	struct shard_objects *objects = mem_alloc(sizeof(*objects));
	size_t len = strlen(url);

	while (len && url[len - 1] == '/')
		len--;
	objects->target.calls = &objects_calls;
	objects->how = *how;
	objects->store = store;
	objects->url = mem_printf("%.*s", (int)len, url);
	return &objects->target;
}
