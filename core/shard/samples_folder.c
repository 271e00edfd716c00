/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples from the file system.  Folders are read one by one, and each is
 * sorted so that all files come out in the order of their keys: sorting a
 * million names at once would take longer than reading them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/shard/samples.h"

#define DEPTH_MAX 64
#define REPORT_EVERY 4096

/* An entry from readdir(), in a form that sorts like its key. */
struct folder_item {
	uint64_t head;    /* its first bytes after the common prefix */
	const char *name; /* for a file with NUL instead of its first dot */
	uint32_t len;
	bool is_folder; /* its name ends in a slash */
	uint64_t size_bytes;
};

struct samples_walk {
	struct samples *all;
	const struct samples_how *how;
	const char *folder; /* for messages */
	uint32_t source;
	struct buf path; /* the current path, below the folder */
};

static int fail(const struct samples_walk *walk, const char *name,
		struct error *err)
{
	return error_errno(err, "cannot read '%s/%s%s'", walk->folder,
			   buf_text(&walk->path), name);
}

static void skip(struct samples_walk *walk, enum skip why, const char *name)
{
	size_t len = walk->path.len;

	buf_puts(&walk->path, name);
	samples_skip(walk->all, why, walk->path.data);
	walk->path.len = len;
	walk->path.data[len] = '\0';
}

/* ---- one folder -------------------------------------------------------- */

struct items {
	struct folder_item *list;
	size_t count, size;
	struct arena *mem;
};

static void add_item(struct items *items, const char *name, bool is_folder,
		     uint64_t size_bytes)
{
	size_t len = strlen(name);
	char *copy;

	if (items->count == items->size) {
		items->size = items->size ? items->size * 2 : 256;
		items->list = mem_grow(items->list, items->size,
				       sizeof(*items->list));
	}
	copy = arena_alloc(items->mem, len + 2);
	memcpy(copy, name, len);
	if (is_folder)
		copy[len++] = '/';
	else if (strchr(copy, '.'))
		*strchr(copy, '.') = '\0';
	items->list[items->count++] = (struct folder_item){
		.name = copy,
		.len = (uint32_t)len,
		.is_folder = is_folder,
		.size_bytes = size_bytes,
	};
}

/* Finds the type of an entry, and the size of a file if wanted; DT_UNKNOWN if
 * it is gone. */
static int look(const struct samples_walk *walk, int parent,
		const struct dirent *entry, int *type, uint64_t *size_bytes,
		struct error *err)
{
	bool follow = walk->how->follow_links;
	struct stat st;

	*type = entry->d_type;
	*size_bytes = SIZE_UNKNOWN;
	if (*type != DT_UNKNOWN && !(*type == DT_LNK && follow) &&
	    !(*type == DT_REG && walk->how->sizes))
		return 0;
	if (fstatat(parent, entry->d_name, &st,
		    follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0) {
		*type = DT_UNKNOWN;
		return errno == ENOENT && entry->d_type != DT_LNK
			       ? 0
			       : fail(walk, entry->d_name, err);
	}
	*type = IFTODT(st.st_mode);
	if (walk->how->sizes)
		*size_bytes = (uint64_t)st.st_size;
	return 0;
}

static int take_item(struct samples_walk *walk, int parent,
		     const struct dirent *entry, struct items *items,
		     struct error *err)
{
	const char *name = entry->d_name;
	uint64_t size_bytes;
	int type;

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return 0;
	if (name[0] == '.') {
		skip(walk, SKIP_HIDDEN, name);
		return 0;
	}
	if (look(walk, parent, entry, &type, &size_bytes, err) < 0)
		return -1;
	switch (type) {
	case DT_REG:
		if (!strchr(name, '.'))
			skip(walk, SKIP_NO_DOT, name);
		else
			add_item(items, name, false, size_bytes);
		break;
	case DT_DIR:
		add_item(items, name, true, 0);
		break;
	case DT_LNK:
		skip(walk, SKIP_LINK, name);
		break;
	case DT_UNKNOWN:
		break;
	default:
		skip(walk, SKIP_SPECIAL, name);
	}
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct folder_item *x = a, *y = b;
	uint32_t len = x->len < y->len ? x->len : y->len;
	int order;

	if (x->head != y->head)
		return x->head < y->head ? -1 : 1;
	order = memcmp(x->name, y->name, len);
	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static void sort_items(struct items *items)
{
	const struct folder_item *first = items->list;
	size_t i, j, same;

	if (!items->count)
		return;
	same = first->len;
	for (i = 1; i < items->count && same; i++) {
		const struct folder_item *item = &items->list[i];

		if (same > item->len)
			same = item->len;
		for (j = 0; j < same && item->name[j] == first->name[j]; j++)
			;
		same = j;
	}
	for (i = 0; i < items->count; i++) {
		struct folder_item *item = &items->list[i];

		item->head = 0;
		for (j = same; j < same + sizeof(item->head); j++)
			item->head =
				item->head << 8 |
				(j < item->len ? (unsigned char)item->name[j]
					       : 0);
	}
	qsort(items->list, items->count, sizeof(*items->list), by_key);
}

/* Takes the descriptor. */
static int read_items(struct samples_walk *walk, int fd, struct items *items,
		      struct error *err)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int ret = 0;

	if (!dir) {
		fail(walk, "", err);
		close(fd);
		return -1;
	}
	while (ret == 0) {
		errno = 0;
		entry = readdir(dir);
		if (!entry)
			break;
		ret = take_item(walk, fd, entry, items, err);
	}
	if (ret == 0 && errno)
		ret = fail(walk, "", err);
	closedir(dir);
	return ret;
}

/* ---- all of them ------------------------------------------------------- */

static int walk_folder(struct samples_walk *walk, int parent, const char *name,
		       unsigned depth, struct error *err);

static void add_file(struct samples_walk *walk, const struct folder_item *item)
{
	struct samples *all = walk->all;
	char *name = arena_alloc(all->mem, walk->path.len + item->len + 1);

	memcpy(name, walk->path.data, walk->path.len);
	memcpy(name + walk->path.len, item->name, item->len);
	name[strlen(name)] = '.';
	samples_add_file(all,
			 &(struct sample_file){ .name = name,
						.size_bytes = item->size_bytes,
						.source = walk->source });
	if (walk->how->found && all->file_count % REPORT_EVERY == 0)
		walk->how->found(walk->how->arg, all->file_count);
}

static int walk_items(struct samples_walk *walk, int fd,
		      const struct items *items, unsigned depth,
		      struct error *err)
{
	size_t len = walk->path.len;
	size_t i;
	int ret = 0;

	for (i = 0; i < items->count && ret == 0; i++) {
		const struct folder_item *item = &items->list[i];

		if (!item->is_folder) {
			add_file(walk, item);
			continue;
		}
		buf_add(&walk->path, item->name, item->len);
		ret = walk_folder(walk, fd, item->name, depth + 1, err);
		walk->path.len = len;
		walk->path.data[len] = '\0';
	}
	return ret;
}

/* Walks the folder at walk->path. */
static int walk_folder(struct samples_walk *walk, int parent, const char *name,
		       unsigned depth, struct error *err)
{
	struct items items = { 0 };
	struct stat st;
	int fd, ret = -1;

	if (depth > DEPTH_MAX || walk->path.len > PATH_MAX - NAME_MAX - 2)
		return error_set(err, ERROR_INVALID,
				 "'%s/%.80s...' is more than %d folders deep%s",
				 walk->folder, walk->path.data, DEPTH_MAX,
				 walk->how->follow_links
					 ? ": do links form a cycle?"
					 : "");
	fd = openat(parent, name,
		    O_RDONLY | O_DIRECTORY | O_CLOEXEC |
			    (walk->how->follow_links ? 0 : O_NOFOLLOW));
	if (fd < 0)
		return fail(walk, "", err);
	if (fstat(fd, &st) < 0) {
		fail(walk, "", err);
		close(fd);
		return -1;
	}
	if (st.st_dev == walk->how->avoid_device &&
	    st.st_ino == walk->how->avoid_inode) {
		close(fd);
		return 0;
	}
	items.mem = arena_new();
	/* Opens entries relative to the folder. */
	if (read_items(walk, fcntl(fd, F_DUPFD_CLOEXEC, 0), &items, err) == 0) {
		sort_items(&items);
		ret = walk_items(walk, fd, &items, depth, err);
	}
	free(items.list);
	arena_free(items.mem);
	close(fd);
	return ret;
}

static int open_source(struct samples *all, const char *folder,
		       struct samples_walk *walk, struct error *err)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return error_errno(err, "cannot read '%s'", folder);
	walk->source = samples_add_source(all, SOURCE_FOLDER, folder, fd);
	return fd;
}

int samples_add_folder(struct samples *all, const char *folder,
		       const struct samples_how *how, struct error *err)
{
	struct samples_walk walk = { .all = all, .how = how, .folder = folder };
	int fd = open_source(all, folder, &walk, err);
	int ret;

	if (fd < 0)
		return -1;
	buf_puts(&walk.path, "");
	ret = walk_folder(&walk, fd, ".", 0, err);
	buf_done(&walk.path);
	return ret;
}

/* ---- a list ------------------------------------------------------------ */

static int add_listed(struct samples *all, const struct samples_walk *walk,
		      int fd, const char *path, struct error *err)
{
	bool follow = walk->how->follow_links;
	struct sample_file file = { .source = walk->source };
	char clean[PATH_MAX];
	const char *wrong = path_clean(path, clean);
	struct stat st;

	if (wrong)
		return error_set(err, ERROR_INVALID,
				 "'%s' in the list is %s: list paths below a "
				 "folder",
				 path, wrong);
	if (fstatat(fd, clean, &st, follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0)
		return fail(walk, clean, err);
	if (S_ISDIR(st.st_mode))
		return error_set(err, ERROR_INVALID,
				 "'%s' in the list is a folder: list files",
				 path);
	if (!S_ISREG(st.st_mode)) {
		samples_skip(all,
			     S_ISLNK(st.st_mode) ? SKIP_LINK : SKIP_SPECIAL,
			     clean);
		return 0;
	}
	file.name = arena_strdup(all->mem, clean);
	file.size_bytes = (uint64_t)st.st_size;
	samples_add_file(all, &file);
	return 0;
}

int samples_add_list(struct samples *all, const char *text, size_t len,
		     char end, const char *folder,
		     const struct samples_how *how, struct error *err)
{
	struct samples_walk walk = { .all = all, .how = how, .folder = folder };
	int fd = open_source(all, folder, &walk, err);
	const char *p = text, *stop = text + len;
	int ret = 0;

	while (fd >= 0 && ret == 0 && p < stop) {
		const char *next = memchr(p, end, (size_t)(stop - p));
		size_t n = (size_t)((next ? next : stop) - p);
		char path[PATH_MAX];

		if (n >= sizeof(path) || memchr(p, '\0', n)) {
			ret = error_set(err, ERROR_INVALID,
					"the list has an entry that is not a "
					"path: '%.*s...'",
					n < 80 ? (int)n : 80, p);
		} else if (n) {
			memcpy(path, p, n);
			path[n] = '\0';
			ret = add_listed(all, &walk, fd, path, err);
		}
		p += n + 1;
	}
	return fd < 0 ? -1 : ret;
}
