/* SPDX-License-Identifier: Apache-2.0 */
#include "core/remote/log_sync.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/text.h"

#define NAME_MAX_LEN 255
#define PIECE ((size_t)1 << 20)

struct sync_entry {
	char *name;
	uint64_t size;
	bool last; /* an index: sent after all other files */
};

struct entries {
	struct sync_entry *items;
	size_t count, room;
};

static void entries_done(struct entries *all)
{
	size_t i;

	for (i = 0; i < all->count; i++)
		free(all->items[i].name);
	free(all->items);
}

static void add_file(struct entries *all, const char *prefix, const char *name,
		     uint64_t size)
{
	if (all->count == all->room) {
		all->room = all->room ? 2 * all->room : 64;
		all->items =
			mem_grow(all->items, all->room, sizeof(*all->items));
	}
	all->items[all->count++] = (struct sync_entry){
		.name = mem_printf("%s%s", prefix, name),
		.size = size,
		.last = text_ends(name, ".index"),
	};
}

/* Lists files.  Indexes are measured first, so that the data they refer to is
 * there when the other files are measured. */
static int list(const char *folder, const char *prefix, bool indexes,
		bool folders, struct entries *out, struct error *err)
{
	DIR *dir = opendir(folder);
	struct dirent *item;
	struct stat st;
	int ret = 0;

	if (!dir)
		return errno == ENOENT
			       ? 0
			       : error_errno(err, "cannot read '%s'", folder);
	while (ret == 0 && (item = readdir(dir))) {
		/* Unfinished files begin with a dot. */
		if (item->d_name[0] == '.' ||
		    fstatat(dirfd(dir), item->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && folders) {
			char *below = path_join(folder, item->d_name);
			char *inner = mem_printf("%s/", item->d_name);

			ret = list(below, inner, indexes, false, out, err);
			free(inner);
			free(below);
		} else if (S_ISREG(st.st_mode) && st.st_size &&
			   text_ends(item->d_name, ".index") == indexes) {
			add_file(out, prefix, item->d_name,
				 (uint64_t)st.st_size);
		}
	}
	closedir(dir);
	return ret;
}

static int list_all(const char *folder, struct entries *out, struct error *err)
{
	if (list(folder, "", true, true, out, err) < 0)
		return -1;
	return list(folder, "", false, true, out, err);
}

int log_sync_have(const char *folder, struct buf *out, struct error *err)
{
	struct entries all = { 0 };
	int ret = list_all(folder, &all, err);
	size_t i;

	for (i = 0; ret == 0 && i < all.count; i++)
		buf_printf(out, "%s %" PRIu64 "\n", all.items[i].name,
			   all.items[i].size);
	entries_done(&all);
	return ret;
}

static int by_name(const void *a, const void *b)
{
	const struct sync_entry *one = a, *two = b;

	return strcmp(one->name, two->name);
}

static int read_have(const char *text, struct entries *out)
{
	char name[NAME_MAX_LEN + 1];
	uint64_t size;
	int used;

	while (*text) {
		if (sscanf(text, "%255s %" SCNu64 "%n", name, &size, &used) < 2)
			return -1;
		add_file(out, "", name, size);
		text += used;
		text += strspn(text, "\n");
	}
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), by_name);
	return 0;
}

static uint64_t size_there(const struct entries *have,
			   const struct sync_entry *of)
{
	const struct sync_entry *found =
		have->count ? bsearch(of, have->items, have->count, sizeof(*of),
				      by_name)
			    : NULL;

	return found ? found->size : 0;
}

/* Adds a piece of a file; a file that can't be read now is left for later. */
static void send_piece(const char *folder, const struct sync_entry *one,
		       uint64_t from, struct buf *out)
{
	size_t len = one->size - from < LOG_SYNC_MAX
			     ? (size_t)(one->size - from)
			     : LOG_SYNC_MAX;
	char *path = path_join(folder, one->name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t start = out->len, done = 0;
	ssize_t n = 1;

	buf_printf(out, "%s %" PRIu64 " %zu\n", one->name, from, len);
	while (fd >= 0 && done < len && n > 0) {
		size_t most = len - done < PIECE ? len - done : PIECE;

		n = pread(fd, buf_reserve(out, most), most,
			  (off_t)(from + done));
		if (n > 0) {
			out->len += (size_t)n;
			done += (size_t)n;
		}
	}
	if (done < len)
		out->len = start;
	out->data[out->len] = '\0';
	if (fd >= 0)
		close(fd);
	free(path);
}

int log_sync_send(const char *folder, const char *have, struct buf *out,
		  struct error *err)
{
	struct entries all = { 0 }, there = { 0 };
	bool last;
	size_t i;
	int ret = -1;

	if (read_have(have, &there) < 0) {
		error_set(err, ERROR_INVALID,
			  "what the copy has is not understood");
		goto out;
	}
	if (list_all(folder, &all, err) < 0)
		goto out;
	for (last = false;; last = true) {
		for (i = 0; i < all.count && out->len < LOG_SYNC_MAX; i++) {
			const struct sync_entry *one = &all.items[i];
			uint64_t from = size_there(&there, one);

			if (one->last == last && from < one->size)
				send_piece(folder, one, from, out);
		}
		/* An index must never be ahead of its log. */
		if (last || out->len >= LOG_SYNC_MAX)
			break;
	}
	ret = 0;
out:
	entries_done(&all);
	entries_done(&there);
	return ret;
}

/* Whether the name, such as "logs/worker-0.stdout", has one folder at most and
 * stays inside. */
static bool is_safe(const char *name)
{
	const char *slash = strchr(name, '/');

	if (name[0] == '.' || name[0] == '/')
		return false;
	return !slash ||
	       (slash[1] && slash[1] != '.' && !strchr(slash + 1, '/'));
}

static int take_piece(const char *folder, const char *name, uint64_t offset,
		      const char *data, size_t len, struct error *err)
{
	char *path = path_join(folder, name);
	char *above = path_folder(path);
	struct stat st;
	int ret = folder_make(above, err);
	int fd = -1;

	if (ret == 0)
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			  0600);
	if (ret == 0 && fd < 0)
		ret = error_errno(err, "cannot write '%s'", path);
	if (ret == 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size == offset &&
	    (lseek(fd, (off_t)offset, SEEK_SET) < 0 ||
	     fd_write(fd, data, len) < 0))
		ret = error_errno(err, "cannot write '%s'", path);
	if (fd >= 0)
		close(fd);
	free(above);
	free(path);
	return ret;
}

int log_sync_take(const char *folder, const struct buf *stream,
		  struct error *err)
{
	const char *at = buf_text(stream);
	const char *end = at + stream->len;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		char name[NAME_MAX_LEN + 1];
		uint64_t offset;
		size_t len;

		if (!newline ||
		    sscanf(at, "%255s %" SCNu64 " %zu", name, &offset, &len) <
			    3 ||
		    len > (size_t)(end - newline - 1) || !is_safe(name))
			return error_set(err, ERROR_FAILED,
					 "what came of the run's files is not "
					 "understood");
		if (take_piece(folder, name, offset, newline + 1, len, err) < 0)
			return -1;
		at = newline + 1 + len;
	}
	return 0;
}
