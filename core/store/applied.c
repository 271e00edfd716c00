/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the properties of resources as last applied, and the key that seals
 * the secrets in them. */
#include "core/base/clock.h"
#include "core/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/store/db.h"

static int put(struct store *store, const struct applied_record *record,
	       struct error *err)
{
	sqlite3_stmt *stmt =
		store_query(store, QUERY_APPLIED_PUT,
			    "INSERT OR REPLACE INTO applied (job_id, provider,"
			    " kind, name, properties, time_ms)"
			    " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
			    err);

	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, record->job_id);
	store_bind_text(stmt, 2, record->provider);
	store_bind_text(stmt, 3, record->kind);
	store_bind_text(stmt, 4, record->name);
	store_bind_text(stmt, 5, record->properties);
	sqlite3_bind_int64(stmt, 6, time_now_ms());
	return store_do(store, stmt, err);
}

int store_applied_put(struct store *store, const struct applied_record *records,
		      size_t count, struct error *err)
{
	int ret = 0;
	size_t i;

	if (!count)
		return 0;
	if (store_begin(store, err) < 0)
		return -1;
	for (i = 0; i < count && ret == 0; i++)
		ret = put(store, &records[i], err);
	return store_end(store, ret, err);
}

static int read_applied(sqlite3_stmt *stmt, struct arena *mem, void *item,
			struct error *err)
{
	struct applied_record *record = item;

	(void)err;
	record->kind = store_column(stmt, 0, mem);
	record->name = store_column(stmt, 1, mem);
	record->properties = store_column(stmt, 2, mem);
	return 0;
}

static int list(struct store *store, const char *job_id, const char *provider,
		struct arena *mem, struct applied_list *out, struct error *err)
{
	sqlite3_stmt *stmt;
	size_t i;

	*out = (struct applied_list){ 0 };
	/* An older store on a disk that can't be written. */
	if (store->version < STORE_VERSION_APPLIED)
		return 0;
	stmt = store_query(store, QUERY_APPLIED_LIST,
			   "SELECT kind, name, properties FROM applied"
			   " WHERE job_id = ?1 AND provider = ?2",
			   err);
	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, job_id);
	store_bind_text(stmt, 2, provider);
	if (store_rows(store, stmt, read_applied, sizeof(*out->items), mem,
		       &out->items, &out->count, err) < 0)
		return -1;
	for (i = 0; i < out->count; i++) {
		out->items[i].job_id = job_id;
		out->items[i].provider = provider;
	}
	return 0;
}

int store_applied_list(struct store *store, const char *job_id,
		       const char *provider, struct arena *mem,
		       struct applied_list *out, struct error *err)
{
	store_lock(store);
	return store_end(store, list(store, job_id, provider, mem, out, err),
			 err);
}

/* Returns 1 if there is no key. */
static int read_key(const char *path, unsigned char *key, struct error *err)
{
	size_t len;
	char *text;

	if (access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 1;
	text = file_read(path, STORE_KEY_SIZE, &len, err);
	if (!text)
		return -1;
	if (len != STORE_KEY_SIZE)
		error_set(err, ERROR_FAILED, "'%s' is damaged: delete it",
			  path);
	else
		memcpy(key, text, len);
	explicit_bzero(text, len);
	free(text);
	return len == STORE_KEY_SIZE ? 0 : -1;
}

/* If another thread or process is faster, its key is used. */
static int make_key(const char *path, struct error *err)
{
	unsigned char key[STORE_KEY_SIZE];
	int ret;

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		ret = error_errno(err, "no random bytes for '%s'", path);
	else
		ret = file_create(path, 0600, key, sizeof(key), err);
	explicit_bzero(key, sizeof(key));
	return ret < 0 ? -1 : 0;
}

int store_key(struct store *store, bool make, unsigned char *key,
	      struct error *err)
{
	char *path;
	int ret;

	if (store->nowhere && !make)
		return 1;
	path = path_join(store->folder, "key");
	ret = read_key(path, key, err);
	if (ret == 1 && make) {
		ret = make_key(path, err);
		if (ret == 0)
			ret = read_key(path, key, err);
	}
	free(path);
	return ret;
}
