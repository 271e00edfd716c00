/* SPDX-License-Identifier: Apache-2.0 */
/* `jobrun shard --verify` and `--list`: examines existing shards. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/jobrun/shard.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/shard/samples.h"
#include "core/shard/shard_index.h"
#include "core/shard/shard_verify.h"
#include "core/data/sample_key.h"
#include "core/data/tar_scan.h"
#include "providers/stores.h"

/* ---- the index --------------------------------------------------------- */

struct looking {
	struct app *app;
	const struct shard_opts *opts;
	struct object_store *store;
	struct arena *mem;
	struct shard_index index;
	const char *base; /* where the shards of the index are */
};

static int add_bytes(void *arg, const char *data, size_t len)
{
	buf_add(arg, data, len);
	return 0;
}

/* Reads the index at `where`, which is the file itself or its folder. */
static int read_index(struct looking *looking, const char *where,
		      struct error *err)
{
	struct buf text = { 0 };
	struct object object;
	const char *url = where;
	char *folder;
	int ret;

	if (!text_ends(where, ".json")) {
		size_t len = strlen(where);

		while (len > 1 && where[len - 1] == '/')
			len--;
		url = arena_printf(looking->mem, "%.*s/%s", (int)len, where,
				   SHARD_INDEX_NAME);
	}
	folder = path_folder(url);
	looking->base = arena_strdup(looking->mem, folder);
	free(folder);
	ret = object_stat(looking->store, url, looking->mem, &object, err);
	if (ret == 0 && !object.exists)
		ret = error_set(err, ERROR_FAILED,
				"'%s' does not exist: the set is unfinished, "
				"or not made by 'jobrun shard'",
				url);
	else if (ret == 0 && object.size_bytes > SHARD_INDEX_MAX)
		ret = error_set(err, ERROR_INVALID, "'%s' is too large", url);
	if (ret == 0)
		ret = object_read(looking->store, &object, 0, object.size_bytes,
				  add_bytes, &text, err);
	if (ret == 0)
		ret = shard_index_parse(buf_text(&text), text.len, url,
					looking->mem, &looking->index, err);
	buf_done(&text);
	return ret;
}

/* ---- verify ------------------------------------------------------------ */

struct verdicts {
	struct looking *looking;
	json_t *json; /* or NULL */
};

static void tell(void *arg, size_t shard, const struct error *wrong)
{
	struct verdicts *verdicts = arg;
	struct looking *looking = verdicts->looking;
	const struct shard_entry *entry = &looking->index.shards[shard];
	char *path = mem_printf("'%s/%s'", looking->base, entry->name);
	char why[sizeof(wrong->text)] = "";
	json_t *json;

	if (wrong) {
		snprintf(why, sizeof(why), "%s", wrong->text);
		text_make_printable(why);
	}
	/* Errors of archives already begin with the path. */
	if (wrong && !verdicts->json && text_starts(why, path))
		app_say(looking->app, "%s", why);
	else if (wrong && !verdicts->json)
		app_say(looking->app, "%s: %s", path, why);
	free(path);
	if (!verdicts->json)
		return;
	/* Verdicts are stored in the order of shards, whenever they come. */
	json = json_array_get(verdicts->json, shard);
	json_put(json, "ok", json_boolean(!wrong));
	json_put_text(json, "error", wrong ? why : NULL);
}

static json_t *all_of(const struct shard_index *index)
{
	json_t *all = json_array();
	size_t i;

	for (i = 0; i < index->count; i++) {
		json_t *json = json_object();

		json_put_text(json, "name", index->shards[i].name);
		json_array_append_new(all, json);
	}
	return all;
}

static void print_verdicts(struct looking *looking, json_t *all, long wrong)
{
	const struct shard_index *index = &looking->index;
	struct buf text = { 0 };
	char size[32];

	size_format(index->bytes, size, sizeof(size));
	if (all) {
		json_t *json = json_object();

		json_put_int(json, "formatVersion", 1);
		json_put(json, "ok", json_boolean(!wrong));
		json_put(json, "shards", all);
		json_print(json, &text);
		json_decref(json);
	} else if (!wrong) {
		buf_printf(&text,
			   "%llu samples in %zu shards, %s: all match the "
			   "index\n",
			   (unsigned long long)index->samples, index->count,
			   size);
	}
	app_print(looking->app, &text);
	buf_done(&text);
}

static int verify(struct looking *looking, const char *where, struct error *err)
{
	struct verdicts verdicts = { .looking = looking };
	struct shard_verifying how = {
		.store = looking->store,
		.index = &looking->index,
		.each = tell,
		.arg = &verdicts,
	};
	long wrong;

	if (read_index(looking, where, err) < 0)
		return -1;
	how.base = looking->base;
	how.threads = shard_threads(looking->opts, strstr(where, "://"));
	if (!strcmp(looking->opts->format, "json"))
		verdicts.json = all_of(&looking->index);
	wrong = shard_verify(&how, err);
	if (wrong >= 0)
		print_verdicts(looking, verdicts.json, wrong);
	else
		json_decref(verdicts.json);
	if (wrong > 0)
		return error_set(err, ERROR_FAILED,
				 "%ld of %zu shards do not match the index",
				 wrong, looking->index.count);
	return wrong < 0 ? -1 : 0;
}

/* ---- list -------------------------------------------------------------- */

struct shard_listing {
	struct looking *looking;
	const char *shard;
	struct buf key, parts; /* of the sample being read */
	uint64_t bytes;
	json_t *files;
	bool json, begun;
};

static void print_sample(struct shard_listing *listing)
{
	struct buf text = { 0 };

	if (!listing->key.len)
		return;
	if (listing->json) {
		json_t *json = json_object();
		char *line;

		json_put_text(json, "key", listing->key.data);
		json_put_text(json, "shard", listing->shard);
		json_put_int(json, "bytes", (long long)listing->bytes);
		json_put(json, "files", listing->files);
		line = json_dumps(json, JSON_COMPACT);
		buf_printf(&text, "%s\n    %s", listing->begun ? "," : "",
			   line);
		json_decref(json);
		free(line);
	} else {
		text_make_printable(listing->key.data);
		text_make_printable(listing->parts.data);
		buf_printf(&text, "%s\t%s\t%llu\t%s\n", listing->shard,
			   listing->key.data,
			   (unsigned long long)listing->bytes,
			   listing->parts.data);
	}
	app_print(listing->looking->app, &text);
	buf_done(&text);
	buf_clear(&listing->key);
	buf_clear(&listing->parts);
	listing->files = NULL;
	listing->bytes = 0;
	listing->begun = true;
}

static int list_member(void *arg, const struct tar_member *member,
		       struct error *err)
{
	struct shard_listing *listing = arg;
	size_t len = sample_key_len(member->name);

	if (listing->looking->app->out_closed)
		return error_set(err, ERROR_INTERRUPTED,
				 "the reader closed it");
	/* Readers skip entries that are no file of a sample. */
	if (member->type != TAR_FILE || !len)
		return 0;
	if (listing->key.len != len ||
	    strncmp(buf_text(&listing->key), member->name, len) != 0) {
		print_sample(listing);
		buf_add(&listing->key, member->name, len);
		listing->files = listing->json ? json_array() : NULL;
	}
	if (listing->parts.len)
		buf_putc(&listing->parts, ',');
	buf_puts(&listing->parts, member->name + len + 1);
	if (listing->json)
		json_array_append_new(listing->files,
				      json_text(member->name + len + 1));
	listing->bytes += member->size_bytes;
	return 0;
}

static int list_shard(struct shard_listing *listing, const char *path,
		      struct error *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return error_errno(err, "cannot open '%s'", path);
	listing->shard = path_base(path);
	ret = tar_scan(fd, path, list_member, listing, err);
	if (ret == 0)
		print_sample(listing);
	close(fd);
	return ret;
}

static int list_set(struct shard_listing *listing, const char *where,
		    struct error *err)
{
	struct looking *looking = listing->looking;
	int ret = 0;
	size_t i;

	if (strstr(where, "://"))
		return error_set(err, ERROR_USAGE,
				 "'%s' is not on this machine; --list reads "
				 "local files",
				 where);
	if (read_index(looking, where, err) < 0)
		return -1;
	for (i = 0; i < looking->index.count && ret == 0; i++) {
		char *path =
			path_join(looking->base, looking->index.shards[i].name);

		ret = list_shard(listing, path, err);
		free(path);
	}
	return ret;
}

static bool is_index(const char *path)
{
	struct stat st;

	return strstr(path, "://") || text_ends(path, ".json") ||
	       (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static void print(struct looking *looking, const char *text)
{
	app_write(looking->app, text, strlen(text));
}

static int list(struct looking *looking, char **paths, int count,
		struct error *err)
{
	struct shard_listing listing = {
		.looking = looking,
		.json = !strcmp(looking->opts->format, "json"),
	};
	int i, ret = 0;

	/* Samples are printed as they are read: a set may have more than fit
	 * into memory. */
	if (listing.json)
		print(looking, "{\n  \"formatVersion\": 1,\n  \"samples\": [");
	for (i = 0; i < count && ret == 0; i++)
		ret = is_index(paths[i]) ? list_set(&listing, paths[i], err)
					 : list_shard(&listing, paths[i], err);
	if (listing.json && ret == 0)
		print(looking, "\n  ]\n}\n");
	json_decref(listing.files);
	buf_done(&listing.key);
	buf_done(&listing.parts);
	/* A reader that has closed the output has seen enough. */
	return looking->app->out_closed ? 0 : ret;
}

int shard_look(struct app *app, const struct shard_opts *opts, char **paths,
	       int count, struct error *err)
{
	const struct object_env env = { .trace_http = app->trace_http };
	struct looking looking = {
		.app = app,
		.opts = opts,
		.store = object_store_new(object_schemes, &env),
		.mem = arena_new(),
	};
	int i, ret = 0;

	if (opts->list)
		ret = list(&looking, paths, count, err);
	for (i = 0; opts->verify && i < count && ret == 0; i++)
		ret = verify(&looking, paths[i], err);
	object_store_free(looking.store);
	arena_free(looking.mem);
	return ret;
}
