/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checkpoint/checkpoint_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/crc32c.h"
#include "core/base/file.h"
#include "core/base/json.h"

#define NUMBER_DIGITS 8
#define NUMBER_MAX 99999999

/* An object found below the URL. */
struct found_checkpoint {
	const char *path; /* "00000012/model.pt" */
	long number;
	struct object object;
};

struct checkpoint_store {
	struct object_store *objects;
	char *url;
	struct arena *mem; /* owns the members below; NULL: not read yet */
	struct found_checkpoint *found;
	size_t found_count, found_room;
	struct checkpoint *all;
	size_t count;
	long last; /* the highest number in use by any object */
};

struct checkpoint_store *checkpoint_store_open(struct object_store *objects,
					       const char *url)
{
	struct checkpoint_store *store = mem_alloc(sizeof(*store));

	store->objects = objects;
	store->url = mem_strdup(url);
	return store;
}

static void forget(struct checkpoint_store *store)
{
	arena_free(store->mem);
	free(store->found);
	free(store->all);
	store->mem = NULL;
	store->found = NULL;
	store->all = NULL;
	store->found_count = store->found_room = store->count = 0;
	store->last = 0;
}

void checkpoint_store_close(struct checkpoint_store *store)
{
	if (!store)
		return;
	forget(store);
	free(store->url);
	free(store);
}

const struct checkpoint *
checkpoint_store_all(const struct checkpoint_store *store, size_t *count)
{
	*count = store->count;
	return store->all;
}

static char *folder_url(const struct checkpoint_store *store, long number)
{
	return mem_printf("%s/%0*ld", store->url, NUMBER_DIGITS, number);
}

char *checkpoint_store_place(const struct checkpoint_store *store,
			     const struct checkpoint *one)
{
	return folder_url(store, one->number);
}

/* Gives 12 for "00000012…", 0 for a name that is not ours. */
static long number_of(const char *path)
{
	if (strspn(path, "0123456789") != NUMBER_DIGITS ||
	    (path[NUMBER_DIGITS] != '/' && path[NUMBER_DIGITS] != '.'))
		return 0;
	return strtol(path, NULL, 10);
}

static bool is_manifest(const struct found_checkpoint *found)
{
	return !strcmp(found->path + NUMBER_DIGITS, ".json");
}

static int add_found(void *arg, const struct object *object, struct error *err)
{
	struct checkpoint_store *store = arg;
	const char *path = object->url + strlen(store->url);
	struct found_checkpoint *found;
	long number;

	(void)err;
	path += *path == '/';
	number = number_of(path);
	if (!number)
		return 0;
	if (store->found_count == store->found_room) {
		store->found_room = store->found_room * 2 + 16;
		store->found = mem_grow(store->found, store->found_room,
					sizeof(*store->found));
	}
	found = &store->found[store->found_count++];
	found->object = *object;
	found->object.url = arena_strdup(store->mem, object->url);
	found->object.version = arena_strdup(store->mem, object->version);
	found->object.crc32c = arena_strdup(store->mem, object->crc32c);
	found->path = found->object.url + (path - object->url);
	found->number = number;
	if (number > store->last)
		store->last = number;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct found_checkpoint *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static const struct found_checkpoint *find(const struct checkpoint_store *store,
					   long number, const char *path)
{
	struct found_checkpoint key = { 0 };
	const struct found_checkpoint *found;
	char *whole = mem_printf("%0*ld/%s", NUMBER_DIGITS, number, path);

	key.path = whole;
	found = bsearch(&key, store->found, store->found_count, sizeof(key),
			by_path);
	free(whole);
	return found;
}

static int collect(void *arg, const char *data, size_t len)
{
	struct buf *text = arg;

	if (len > CHECKPOINT_MANIFEST_MAX - text->len)
		return -1;
	buf_add(text, data, len);
	return 0;
}

/* Returns -1 if the manifest can't be read now, 1 with `err` if it is
 * invalid. */
static int read_manifest(struct checkpoint_store *store,
			 const struct found_checkpoint *found,
			 struct checkpoint *out, struct error *err)
{
	struct buf text = { 0 };
	json_t *value = NULL;
	int ret = -1;
	size_t i;

	if (object_read(store->objects, &found->object, 0,
			found->object.size_bytes, collect, &text, err) < 0) {
		ret = err->code == ERROR_FAILED ? 1 : -1;
		goto out;
	}
	ret = 1;
	value = json_read(buf_text(&text), text.len, "its manifest", err);
	if (!value || checkpoint_from_json(value, store->mem, out, err) < 0)
		goto out;
	for (i = 0; i < out->file_count; i++) {
		const struct found_checkpoint *file;

		if (out->files[i].link)
			continue;
		file = find(store, found->number, out->files[i].path);
		if (file &&
		    file->object.size_bytes == out->files[i].size_bytes &&
		    (!*file->object.crc32c ||
		     !strcmp(file->object.crc32c, out->files[i].crc32c)))
			continue;
		error_set(err, ERROR_FAILED, "'%.200s' is %s",
			  out->files[i].path,
			  file ? "not what was written" : "missing");
		goto out;
	}
	out->number = found->number;
	ret = 0;
out:
	json_decref(value);
	buf_done(&text);
	return ret;
}

static bool has_manifest(const struct checkpoint_store *store, long number)
{
	for (size_t i = 0; i < store->found_count; i++)
		if (store->found[i].number == number &&
		    is_manifest(&store->found[i]))
			return true;
	return false;
}

static void tell(void (*skipped)(void *arg, const char *what, const char *why),
		 void *arg, const struct checkpoint_store *store, long number,
		 const char *why)
{
	char *url = folder_url(store, number);

	if (skipped)
		skipped(arg, url, why);
	free(url);
}

int checkpoint_store_read(struct checkpoint_store *store,
			  void (*skipped)(void *arg, const char *what,
					  const char *why),
			  void *arg, struct error *err)
{
	long half = 0;
	int ret = 0;

	forget(store);
	store->mem = arena_new();
	if (object_list(store->objects, store->url, add_found, store, err) < 0)
		return -1;
	if (store->found_count)
		qsort(store->found, store->found_count, sizeof(*store->found),
		      by_path);
	for (size_t i = 0; i < store->found_count && ret >= 0; i++) {
		const struct found_checkpoint *found = &store->found[i];
		struct checkpoint one;

		if (!is_manifest(found)) {
			if (found->number != half &&
			    !has_manifest(store, found->number))
				tell(skipped, arg, store, found->number,
				     "its upload was interrupted");
			half = found->number;
			continue;
		}
		ret = read_manifest(store, found, &one, err);
		if (ret > 0) {
			tell(skipped, arg, store, found->number, err->text);
		} else if (ret == 0) {
			store->all = mem_grow(store->all, store->count + 1,
					      sizeof(*store->all));
			store->all[store->count++] = one;
		}
	}
	return ret < 0 ? -1 : 0;
}

/* Records the object, so that it can be removed later. */
static void note_object(struct checkpoint_store *store, const char *url)
{
	const struct object object = {
		.exists = true, .url = url, .version = "", .crc32c = ""
	};
	struct error never;

	add_found(store, &object, &never);
}

/* Returns 1 if the file has changed or is gone. */
static int put_file(struct checkpoint_store *store, const char *folder,
		    struct checkpoint_file *file,
		    const struct checkpoint_source *from, struct error *err)
{
	/* An earlier try may have left objects under this number. */
	const struct object_put how = { .replace = true,
					.broken = from->broken,
					.arg = from->arg };
	char *url = mem_printf("%s/%s", folder, file->path);
	struct object object;
	int ret = 1;
	int fd = openat(from->folder, file->path,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && errno != ENOENT) {
		ret = error_errno(err, "cannot read '%s'", file->path);
	} else if (fd >= 0) {
		/* Even a failed upload may leave the object there. */
		note_object(store, url);
		ret = object_put(store->objects, url, fd, &how, store->mem,
				 &object, err);
		if (ret == 0 && object.size_bytes != file->size_bytes)
			ret = 1;
		else if (ret == 0)
			file->crc32c = object.crc32c;
		/* If the file has changed meanwhile, report that instead. */
		if (!from->is_same(from->arg))
			ret = 1;
	}
	if (fd >= 0)
		close(fd);
	free(url);
	return ret;
}

static int put_manifest(struct checkpoint_store *store,
			const struct checkpoint *one,
			const struct checkpoint_source *from, struct error *err)
{
	const struct object_put how = { .content_type = "application/json",
					.broken = from->broken,
					.arg = from->arg };
	char *url = mem_printf("%s/%0*ld.json", store->url, NUMBER_DIGITS,
			       one->number);
	json_t *value = checkpoint_json(one);
	struct buf text = { 0 };
	int ret;

	json_print(value, &text);
	ret = object_put_text(store->objects, url, text.data, &how, err);
	if (ret == 0)
		note_object(store, url);
	buf_done(&text);
	json_decref(value);
	free(url);
	return ret;
}

int checkpoint_store_put(struct checkpoint_store *store,
			 const struct checkpoint *one,
			 const struct checkpoint_source *from, long *number,
			 struct error *err)
{
	struct checkpoint copy;
	char *folder;
	int ret = 0;

	if (store->last >= NUMBER_MAX)
		return error_set(err, ERROR_FAILED, "'%s' has no number left",
				 store->url);
	copy = checkpoint_copy(one, store->mem);
	copy.number = store->last + 1;
	folder = folder_url(store, copy.number);
	for (size_t i = 0; i < copy.file_count && ret == 0; i++)
		if (!copy.files[i].link)
			ret = put_file(store, folder, &copy.files[i], from,
				       err);
	if (ret == 0)
		ret = put_manifest(store, &copy, from, err);
	if (ret == 0) {
		store->all = mem_grow(store->all, store->count + 1,
				      sizeof(*store->all));
		store->all[store->count++] = copy;
		*number = copy.number;
	}
	if (store->found_count)
		qsort(store->found, store->found_count, sizeof(*store->found),
		      by_path);
	free(folder);
	return ret;
}

struct sink {
	int fd;
	uint32_t crc;
	int why; /* errno */
};

static int write_part(void *arg, const char *data, size_t len)
{
	struct sink *sink = arg;

	sink->crc = crc32c_add(sink->crc, data, len);
	if (fd_write(sink->fd, data, len) == 0)
		return 0;
	sink->why = errno;
	return -1;
}

static int get_file(struct checkpoint_store *store, long number,
		    const struct checkpoint_file *file, const char *folder,
		    struct error *err)
{
	const struct found_checkpoint *found = find(store, number, file->path);
	char *path = path_join(folder, file->path);
	char *above = path_folder(path);
	struct sink sink = { .fd = -1 };
	char crc[9];
	int ret = -1;

	if (folder_make(above, err) < 0)
		goto out;
	sink.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (sink.fd < 0) {
		error_errno(err, "cannot create '%s'", path);
		goto out;
	}
	ret = object_read(store->objects, &found->object, 0, file->size_bytes,
			  write_part, &sink, err);
	if (sink.why) {
		errno = sink.why;
		ret = error_errno(err, "cannot write '%s'", path);
		/* The failure is not the fault of the checkpoint. */
		err->code = ERROR_TRY_AGAIN;
	}
	crc32c_format(sink.crc, crc);
	if (ret == 0 && strcmp(crc, file->crc32c) != 0)
		ret = error_set(err, ERROR_FAILED,
				"'%s' is not what was written: its CRC-32C is "
				"%s, not %.20s",
				found->object.url, crc, file->crc32c);
out:
	if (sink.fd >= 0)
		close(sink.fd);
	free(above);
	free(path);
	return ret;
}

static int get_link(const struct checkpoint_file *file, const char *folder,
		    struct error *err)
{
	char *path = path_join(folder, file->path);
	char *above = path_folder(path);
	int ret = folder_make(above, err);

	if (ret == 0 && symlink(file->link, path) < 0)
		ret = error_errno(err, "cannot create '%s'", path);
	free(above);
	free(path);
	return ret;
}

int checkpoint_store_get(struct checkpoint_store *store,
			 const struct checkpoint *one, const char *folder,
			 struct error *err)
{
	int ret = folder_make(folder, err);

	for (size_t i = 0; i < one->file_count && ret == 0; i++)
		if (!one->files[i].link)
			ret = get_file(store, one->number, &one->files[i],
				       folder, err);
	/* Nothing is written through a link. */
	for (size_t i = 0; i < one->file_count && ret == 0; i++)
		if (one->files[i].link)
			ret = get_link(&one->files[i], folder, err);
	return ret;
}

/* Removes a checkpoint, the manifest first: if this is interrupted, what is
 * left counts as incomplete. */
static int remove_number(struct checkpoint_store *store, long number,
			 struct error *err)
{
	char *folder = folder_url(store, number);
	char *manifest = mem_printf("%s.json", folder);
	int ret = object_remove(store->objects, manifest, err);

	for (size_t i = 0; i < store->found_count && ret == 0; i++) {
		struct found_checkpoint *found = &store->found[i];

		if (found->number != number)
			continue;
		if (!is_manifest(found))
			ret = object_remove(store->objects, found->object.url,
					    err);
		if (ret == 0)
			found->number = 0; /* it is gone */
	}
	free(manifest);
	free(folder);
	return ret;
}

int checkpoint_store_prune(struct checkpoint_store *store, size_t keep,
			   const struct checkpoint_order *order,
			   struct error *err)
{
	bool *kept = mem_alloc(store->count + 1);
	size_t left = 0, went;
	long whole = 0; /* the number looked at last, as it has many files */
	int ret = 0;

	checkpoint_keep(store->all, store->count, keep, order, kept);
	for (size_t i = 0; i < store->count; i++) {
		if (ret == 0 && !kept[i])
			ret = remove_number(store, store->all[i].number, err);
		/* A checkpoint that is partly removed does not count any
		 * more. */
		if (kept[i] || ret < 0)
			store->all[left++] = store->all[i];
	}
	went = store->count - left;
	store->count = left;
	free(kept);
	for (size_t i = 0; i < store->found_count && ret == 0; i++) {
		long number = store->found[i].number;

		if (!number || number == whole)
			continue;
		if (has_manifest(store, number))
			whole = number;
		else
			ret = remove_number(store, number, err);
	}
	return ret < 0 ? -1 : (int)went;
}
