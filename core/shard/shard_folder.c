/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shards in a directory.  Each is made without a name, if the file system can
 * do that, and named when it is complete.  Until the index exists, a journal
 * beside the shards says which of them are ours and what they contain:
 *
 *	{"begun":1790000000000000000,"plan":"9f86...","shard":{...}}
 *
 * one line for each, written before the shard gets its name.  An incomplete
 * line is from a killed process, and does not count.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/crc32c.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/shard/shard_target.h"

#define JOURNAL SHARD_INDEX_NAME ".partial"
#define JOURNAL_MAX ((size_t)1 << 30)
#define PART ".part"
#define CHUNK_SIZE ((size_t)1 << 20)

struct index_line {
	size_t number;
	struct shard_entry entry;
	struct digest plan;
	int64_t begun_ns;
};

struct folder {
	struct shard_target target;
	struct shard_target_how how;
	const char *path;
	const char *prefix;
	int fd; /* locked */
	struct arena *mem;
	struct index_line *lines; /* of the journal as found, sorted by name */
	size_t line_count;
	int journal;
	pthread_mutex_t lock; /* for the journal */
};

static int fail(const struct folder *folder, const char *what, const char *name,
		struct error *err)
{
	return error_errno(err, "cannot %s '%s/%s'", what, folder->path, name);
}

bool shard_name_is(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return text_starts(name, prefix) && name[len] == '-' &&
	       strspn(name + len + 1, "0123456789") == 6 &&
	       !strcmp(name + len + 7, ".tar");
}

/* ---- the journal ------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct index_line *x = a, *y = b;

	return strcmp(x->entry.name, y->entry.name);
}

static int by_name_and_number(const void *a, const void *b)
{
	const struct index_line *x = a, *y = b;
	int order = by_name(a, b);

	return order ? order
		     : (x->number > y->number) - (x->number < y->number);
}

static const struct index_line *find_line(const struct folder *folder,
					  const char *name)
{
	const struct index_line key = { .entry.name = name };

	return folder->line_count
		       ? bsearch(&key, folder->lines, folder->line_count,
				 sizeof(key), by_name)
		       : NULL;
}

static void read_line(struct folder *folder, const char *text, size_t len)
{
	json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	struct index_line line = { .number = folder->line_count };
	struct error ignored;

	if (shard_entry_read(json_object_get(json, "shard"), folder->mem,
			     &line.entry, &ignored) == 0) {
		snprintf(line.plan.hex, sizeof(line.plan.hex), "%s",
			 json_get_text(json, "plan", ""));
		line.begun_ns = json_get_int(json, "begun", 0);
		folder->lines = mem_grow(folder->lines, folder->line_count + 1,
					 sizeof(*folder->lines));
		folder->lines[folder->line_count++] = line;
	}
	json_decref(json);
}

/* If several lines have one name, the last counts. */
static void sort_lines(struct folder *folder)
{
	size_t i, kept = 0;

	if (folder->line_count)
		qsort(folder->lines, folder->line_count, sizeof(*folder->lines),
		      by_name_and_number);
	for (i = 0; i < folder->line_count; i++) {
		if (kept &&
		    !by_name(&folder->lines[kept - 1], &folder->lines[i]))
			kept--;
		folder->lines[kept++] = folder->lines[i];
	}
	folder->line_count = kept;
}

static int read_journal(struct folder *folder, struct error *err)
{
	size_t len;
	char *text =
		file_read_fd(folder->journal, JOURNAL, JOURNAL_MAX, &len, err);
	const char *p = text, *end;
	int ret = 0;

	if (!text)
		return -1;
	for (; (end = memchr(p, '\n', len - (size_t)(p - text))); p = end + 1)
		read_line(folder, p, (size_t)(end - p));
	sort_lines(folder);
	/* A line that was cut off must not swallow the next. */
	if (p < text + len && fd_write(folder->journal, "\n", 1) < 0)
		ret = fail(folder, "write", JOURNAL, err);
	free(text);
	return ret;
}

static int add_line(struct folder *folder, const struct shard_want *want,
		    const struct shard_entry *entry, int64_t begun_ns,
		    struct error *err)
{
	json_t *json = json_object();
	struct buf text = { 0 };
	char *line;
	int ret;

	json_put_int(json, "begun", begun_ns);
	json_put_text(json, "plan", want->plan.hex);
	json_put(json, "shard", shard_entry_json(entry));
	line = json_canonical(json);
	buf_printf(&text, "%s\n", line);
	pthread_mutex_lock(&folder->lock);
	ret = fd_write(folder->journal, text.data, text.len);
	pthread_mutex_unlock(&folder->lock);
	if (ret < 0)
		fail(folder, "write", JOURNAL, err);
	free(line);
	buf_done(&text);
	json_decref(json);
	return ret;
}

/* ---- files in the making ----------------------------------------------- */

/* The name of an unfinished file. */
static void part_name(const char *name, char out[NAME_MAX + 1])
{
	snprintf(out, NAME_MAX + 1, ".%.240s" PART, name);
}

static bool is_part(const struct folder *folder, const char *name)
{
	char shard[NAME_MAX + 1];

	if (name[0] != '.' || !text_ends(name, PART))
		return false;
	snprintf(shard, sizeof(shard), "%.*s",
		 (int)(strlen(name) - 1 - strlen(PART)), name + 1);
	return shard_name_is(shard, folder->prefix);
}

/* Creates a file without a name, if the file system can do that. */
static int open_part(const struct folder *folder, const char *name,
		     struct error *err)
{
	char part[NAME_MAX + 1];
	int fd = openat(folder->fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);

	if (fd >= 0)
		return fd;
	part_name(name, part);
	fd = openat(folder->fd, part,
		    O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		fail(folder, "create", part, err);
	return fd;
}

/* Renames a complete file, replacing any of that name: prepare() has checked
 * that only our own shards use it, and other processes of ours are locked
 * out. */
static int give_name(const struct folder *folder, int fd, const char *name,
		     struct error *err)
{
	char part[NAME_MAX + 1], self[40];
	struct stat st;

	part_name(name, part);
	if (fstat(fd, &st) == 0 && !st.st_nlink) {
		/* link() does not replace a file, rename() does. */
		unlinkat(folder->fd, part, 0);
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		if (linkat(AT_FDCWD, self, folder->fd, part,
			   AT_SYMLINK_FOLLOW) < 0)
			return fail(folder, "create", part, err);
	}
	if (renameat(folder->fd, part, folder->fd, name) < 0)
		return fail(folder, "create", name, err);
	return 0;
}

/* ---- before ------------------------------------------------------------ */

static struct folder *folder_of(struct shard_target *target)
{
	return (struct folder *)target;
}

static int refuse_there(const struct folder *folder, const char *name,
			struct error *err)
{
	return error_set(err, ERROR_FAILED,
			 "'%s/%s' exists already: use another directory, or "
			 "--force to replace it",
			 folder->path, name);
}

/* Calls `each` for each shard of our prefix, unfinished ones included. */
static int each_shard(struct folder *folder,
		      int (*each)(struct folder *folder, const char *name,
				  const void *arg, struct error *err),
		      const void *arg, struct error *err)
{
	int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int ret = 0;

	if (!dir) {
		fail(folder, "read", ".", err);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (ret == 0 && (entry = readdir(dir)))
		if (shard_name_is(entry->d_name, folder->prefix) ||
		    is_part(folder, entry->d_name))
			ret = each(folder, entry->d_name, arg, err);
	closedir(dir);
	return ret;
}

static int check_ours(struct folder *folder, const char *name, const void *arg,
		      struct error *err)
{
	(void)arg;
	if (is_part(folder, name) || find_line(folder, name))
		return 0;
	return refuse_there(folder, name, err);
}

static bool is_there(const struct folder *folder, const char *name)
{
	struct stat st;

	return fstatat(folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int folder_prepare(struct shard_target *target, const char *prefix,
			  struct error *err)
{
	struct folder *folder = folder_of(target);

	folder->prefix = prefix;
	/* If a journal is beside the index, a killed process has left it before
	 * it could remove it. */
	if (!folder->how.force && is_there(folder, SHARD_INDEX_NAME) &&
	    !is_there(folder, JOURNAL))
		return refuse_there(folder, SHARD_INDEX_NAME, err);
	/* No index may describe shards that are about to change. */
	if (unlinkat(folder->fd, SHARD_INDEX_NAME, 0) < 0 && errno != ENOENT)
		return fail(folder, "remove", SHARD_INDEX_NAME, err);
	folder->journal = openat(
		folder->fd, JOURNAL,
		O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (folder->journal < 0)
		return fail(folder, "open", JOURNAL, err);
	if (read_journal(folder, err) < 0)
		return -1;
	return folder->how.force ? 0
				 : each_shard(folder, check_ours, NULL, err);
}

/* ---- one shard --------------------------------------------------------- */

static bool has_bytes(const struct folder *folder,
		      const struct shard_entry *entry)
{
	int fd = openat(folder->fd, entry->name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char *chunk = mem_alloc(CHUNK_SIZE);
	char text[sizeof(entry->crc32c)];
	uint64_t bytes = 0;
	uint32_t crc = 0;
	ssize_t n = -1;

	while (fd >= 0 && bytes <= entry->bytes) {
		n = read(fd, chunk, CHUNK_SIZE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		crc = crc32c_add(crc, chunk, (size_t)n);
		bytes += (uint64_t)n;
	}
	if (fd >= 0)
		close(fd);
	free(chunk);
	crc32c_format(crc, text);
	return n == 0 && bytes == entry->bytes && !strcmp(text, entry->crc32c);
}

static bool folder_has(struct shard_target *target,
		       const struct shard_want *want, struct shard_entry *out,
		       int64_t *begun_ns)
{
	const struct folder *folder = folder_of(target);
	const struct index_line *line = find_line(folder, want->name);

	if (!line || strcmp(line->plan.hex, want->plan.hex) != 0 ||
	    !has_bytes(folder, &line->entry))
		return false;
	*out = line->entry;
	*begun_ns = line->begun_ns;
	return true;
}

static int folder_begin(struct shard_target *target,
			const struct shard_want *want, struct error *err)
{
	return open_part(folder_of(target), want->name, err);
}

static int folder_commit(struct shard_target *target,
			 const struct shard_want *want, int fd,
			 const struct shard_entry *entry, int64_t begun_ns,
			 struct error *err)
{
	struct folder *folder = folder_of(target);

	if (folder->how.sync && fsync(fd) < 0)
		return fail(folder, "write", want->name, err);
	if (add_line(folder, want, entry, begun_ns, err) < 0)
		return -1;
	return give_name(folder, fd, want->name, err);
}

/* ---- the end ----------------------------------------------------------- */

static int remove_other(struct folder *folder, const char *name,
			const void *arg, struct error *err)
{
	const struct shard_index *index = arg;

	/* Shards are numbered from 0. */
	if (!is_part(folder, name) &&
	    strtoul(name + strlen(folder->prefix) + 1, NULL, 10) < index->count)
		return 0;
	if (unlinkat(folder->fd, name, 0) < 0 && errno != ENOENT)
		return fail(folder, "remove", name, err);
	return 0;
}

static int write_index(const struct folder *folder,
		       const struct shard_index *index, struct error *err)
{
	struct buf text = { 0 };
	int fd = open_part(folder, SHARD_INDEX_NAME, err);
	int ret = -1;

	if (fd < 0)
		return -1;
	shard_index_print(index, &text);
	if (fd_write(fd, text.data, text.len) < 0 || fsync(fd) < 0)
		fail(folder, "write", SHARD_INDEX_NAME, err);
	else
		ret = give_name(folder, fd, SHARD_INDEX_NAME, err);
	close(fd);
	buf_done(&text);
	return ret;
}

static int folder_finish(struct shard_target *target,
			 const struct shard_index *index, struct error *err)
{
	struct folder *folder = folder_of(target);

	if (each_shard(folder, remove_other, index, err) < 0 ||
	    (folder->how.sync && fsync(folder->fd) < 0 &&
	     fail(folder, "write", ".", err) < 0) ||
	    write_index(folder, index, err) < 0)
		return -1;
	if (unlinkat(folder->fd, JOURNAL, 0) < 0)
		return fail(folder, "remove", JOURNAL, err);
	return 0;
}

static void folder_free(struct shard_target *target)
{
	struct folder *folder = folder_of(target);

	if (folder->journal >= 0)
		close(folder->journal);
	if (folder->fd >= 0)
		close(folder->fd);
	pthread_mutex_destroy(&folder->lock);
	free(folder->lines);
	arena_free(folder->mem);
	free(folder);
}

static const struct shard_target_calls folder_calls = {
	.prepare = folder_prepare,
	.has = folder_has,
	.begin = folder_begin,
	.commit = folder_commit,
	.finish = folder_finish,
	.free = folder_free,
};

struct shard_target *shard_folder_open(const char *path,
				       const struct shard_target_how *how,
				       struct error *err)
{
	struct folder *folder;

	if (folder_make_mode(path, 0777, err) < 0)
		return NULL;
	folder = mem_alloc(sizeof(*folder));
	folder->target.calls = &folder_calls;
	folder->how = *how;
	folder->path = path;
	folder->journal = -1;
	folder->mem = arena_new();
	pthread_mutex_init(&folder->lock, NULL);
	folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd < 0) {
		error_errno(err, "cannot open '%s'", path);
		goto failed;
	}
	if (flock(folder->fd, LOCK_EX | LOCK_NB) == 0)
		return &folder->target;
	if (errno == EWOULDBLOCK)
		error_set(err, ERROR_TRY_AGAIN,
			  "another process is writing shards to '%s'", path);
	else
		error_errno(err, "cannot lock '%s'", path);
failed:
	folder_free(&folder->target);
	return NULL;
}
