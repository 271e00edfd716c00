/* SPDX-License-Identifier: Apache-2.0 */
/* Stores which jobs were applied in which set. */
#include "core/store/store.h"

#include <string.h>

#include "core/store/db.h"

#define MEMBER_COLUMNS "applyset, job_id, provider, file, place"

static int put(struct store *store, const struct task_file_path *member,
	       struct error *err)
{
	sqlite3_stmt *stmt =
		store_query(store, QUERY_MEMBER_PUT,
			    "INSERT INTO member (" MEMBER_COLUMNS ")"
			    " VALUES (?1, ?2, ?3, ?4, ?5)"
			    " ON CONFLICT (job_id, provider, applyset)"
			    " DO UPDATE SET file = ?4, place = ?5",
			    err);

	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, member->set);
	store_bind_text(stmt, 2, member->job_id);
	store_bind_text(stmt, 3, member->provider);
	store_bind_text(stmt, 4, member->file);
	store_bind_text(stmt, 5, member->place);
	return store_do(store, stmt, err);
}

int store_member_put(struct store *store, const struct task_file_path *members,
		     size_t count, struct error *err)
{
	size_t i;
	int ret = 0;

	/* Durable, as nothing made after this may outlive it. */
	if (store_begin_durable(store, err) < 0)
		return -1;
	for (i = 0; i < count && ret == 0; i++)
		ret = put(store, &members[i], err);
	return store_end(store, ret, err);
}

static sqlite3_stmt *query(struct store *store, const char *set,
			   struct error *err)
{
	sqlite3_stmt *stmt;

	if (!set)
		return store_query(store, QUERY_MEMBER_LIST_ALL,
				   "SELECT " MEMBER_COLUMNS " FROM member"
				   " ORDER BY applyset, job_id, provider",
				   err);
	stmt = store_query(store, QUERY_MEMBER_LIST,
			   "SELECT " MEMBER_COLUMNS " FROM member"
			   " WHERE applyset = ?1 ORDER BY job_id, provider",
			   err);
	if (stmt)
		store_bind_text(stmt, 1, set);
	return stmt;
}

static int read_member(sqlite3_stmt *stmt, struct arena *mem, void *item,
		       struct error *err)
{
	(void)err;
	*(struct task_file_path *)item = (struct task_file_path){
		.set = store_column(stmt, 0, mem),
		.job_id = store_column(stmt, 1, mem),
		.provider = store_column(stmt, 2, mem),
		.file = store_column(stmt, 3, mem),
		.place = store_column(stmt, 4, mem),
	};
	return 0;
}

static int list(struct store *store, const char *set, struct arena *mem,
		struct member_list *out, struct error *err)
{
	sqlite3_stmt *stmt;

	/* An older store on a disk that can't be written. */
	if (store->version < STORE_VERSION_MEMBER) {
		*out = (struct member_list){ 0 };
		return 0;
	}
	stmt = query(store, set, err);
	if (!stmt)
		return -1;
	return store_rows(store, stmt, read_member, sizeof(*out->items), mem,
			  &out->items, &out->count, err);
}

int store_member_list(struct store *store, const char *set, struct arena *mem,
		      struct member_list *out, struct error *err)
{
	store_lock(store);
	return store_end(store, list(store, set, mem, out, err), err);
}

static int drop(struct store *store, const char *set, const char *job_id,
		const char *provider, struct error *err)
{
	sqlite3_stmt *stmt = store_query(store, QUERY_MEMBER_DROP,
					 "DELETE FROM member WHERE job_id = ?1"
					 " AND provider = ?2"
					 " AND (?3 IS NULL OR applyset = ?3)",
					 err);

	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, job_id);
	store_bind_text(stmt, 2, provider);
	store_bind_text(stmt, 3, set);
	return store_do(store, stmt, err);
}

int store_member_drop(struct store *store, const char *set, const char *job_id,
		      const char *provider, struct error *err)
{
	if (store_begin(store, err) < 0)
		return -1;
	return store_end(store, drop(store, set, job_id, provider, err), err);
}
