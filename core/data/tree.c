/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/beneath.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/data/digest_cache.h"
#include "core/data/ignore.h"
#include "core/data/secret_like.h"
#include "core/data/source_rules.h"

#define DEPTH_MAX 64
#define ENTRY_COUNT_MAX 500000
#define CHUNK_SIZE 131072

struct tree_walk {
	const char *folder; /* for messages */
	bool look;          /* search for one file, by its name alone */
	struct arena *mem;
	struct source_rules *rules;
	struct digest_cache *cache; /* NULL: none */
	struct buf path;            /* the current path, below the folder */
	char *chunk;
	struct tree_entry *entries;
	size_t count, size;
	struct tree_left_out *left_out;
	size_t left_out_count, left_out_size;
};

static struct tree_entry *add_entry(struct tree_walk *walk, enum tree_kind kind)
{
	struct tree_entry *entry;

	if (walk->count == walk->size) {
		walk->size = walk->size ? walk->size * 2 : 64;
		walk->entries = mem_grow(walk->entries, walk->size,
					 sizeof(*walk->entries));
	}
	entry = &walk->entries[walk->count++];
	*entry = (struct tree_entry){ .kind = kind };
	entry->path = arena_strdup(walk->mem, buf_text(&walk->path));
	return entry;
}

static void leave_out(struct tree_walk *walk, enum source_reason reason,
		      bool is_folder)
{
	size_t n = walk->left_out_count;

	if (!source_reason_text(reason))
		return;
	if (n == walk->left_out_size) {
		walk->left_out_size = n ? n * 2 : 64;
		walk->left_out = mem_grow(walk->left_out, walk->left_out_size,
					  sizeof(*walk->left_out));
	}
	walk->left_out[n] = (struct tree_left_out){
		.path = arena_printf(walk->mem, "%s%s", buf_text(&walk->path),
				     is_folder ? "/" : ""),
		.reason = reason,
	};
	walk->left_out_count++;
}

static int fail(const struct tree_walk *walk, struct error *err)
{
	return error_errno(err, "cannot read '%s/%s'", walk->folder,
			   buf_text(&walk->path));
}

/* Returns 1 for a saved plan, which is not part of the source. */
static int hash_file(struct tree_walk *walk, int fd, struct tree_entry *entry,
		     struct error *err)
{
	struct digester *digester = digester_new();
	ssize_t n;
	int ret = -1;

	for (;;) {
		n = read(fd, walk->chunk, CHUNK_SIZE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (!entry->size_bytes &&
		    source_rules_is_plan(walk->rules, walk->chunk, (size_t)n)) {
			ret = 1;
			goto out;
		}
		if (!entry->size_bytes)
			entry->holds_secret =
				secret_is_in(walk->chunk, (size_t)n);
		digester_add(digester, walk->chunk, (size_t)n);
		entry->size_bytes += (uint64_t)n;
	}
	if (n < 0) {
		fail(walk, err);
		goto out;
	}
	digester_end(digester, &entry->digest);
	ret = 0;
out:
	digester_free(digester);
	return ret;
}

/* Adds a file whose digest is cached; opening it would cost more than anything
 * else. */
static bool add_known(struct tree_walk *walk, int parent, const char *name)
{
	struct tree_entry *entry;
	struct digest digest;
	struct stat st;

	if (!walk->cache ||
	    fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode) ||
	    !digest_cache_find(walk->cache, buf_text(&walk->path), &st,
			       &digest))
		return false;
	entry = add_entry(walk, TREE_FILE);
	entry->executable = st.st_mode & S_IXUSR;
	entry->size_bytes = (uint64_t)st.st_size;
	entry->digest = digest;
	return true;
}

static int read_file(struct tree_walk *walk, int parent, const char *name,
		     struct error *err)
{
	int64_t now_ms = time_now_ms();
	struct stat st;
	int fd, ret;

	if (add_known(walk, parent, name))
		return 0;
	/* Must not block if the file became a pipe since it was listed. */
	fd = openat(parent, name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) /* gone since it was listed: skip it */
		return errno == ENOENT ? 0 : fail(walk, err);
	if (fstat(fd, &st) < 0) {
		ret = fail(walk, err);
	} else if (!S_ISREG(st.st_mode)) {
		ret = 0;
	} else {
		struct tree_entry *entry = add_entry(walk, TREE_FILE);

		entry->executable = st.st_mode & S_IXUSR;
		ret = hash_file(walk, fd, entry, err);
		if (ret == 1) {
			walk->count--;
			leave_out(walk, SOURCE_OWN, false);
			ret = 0;
		} else if (ret == 0 && !entry->holds_secret &&
			   entry->size_bytes == (uint64_t)st.st_size) {
			digest_cache_add(walk->cache, entry->path, &st, now_ms,
					 &entry->digest);
		}
	}
	close(fd);
	return ret;
}

static int read_link(struct tree_walk *walk, int parent, const char *name,
		     struct error *err)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(parent, name, target, sizeof(target));

	if (n < 0)
		return errno == ENOENT ? 0 : fail(walk, err);
	add_entry(walk, TREE_LINK)->target =
		arena_strndup(walk->mem, target, (size_t)n);
	return 0;
}

static int walk_folder(struct tree_walk *walk, int fd,
		       const struct source_scope *scope, unsigned depth,
		       struct error *err);

static int read_folder(struct tree_walk *walk, int parent, const char *name,
		       const struct source_scope *outer,
		       enum source_reason reason, unsigned depth,
		       struct error *err)
{
	const struct source_scope *scope;
	size_t before = walk->count;
	int fd;

	if (depth > DEPTH_MAX)
		return error_set(err, ERROR_FAILED,
				 "'%s/%s' is more than %d folders deep",
				 walk->folder, buf_text(&walk->path),
				 DEPTH_MAX);
	fd = openat(parent, name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : fail(walk, err);
	scope = source_rules_enter(walk->rules, outer, buf_text(&walk->path),
				   fd, reason, err);
	if (!scope) {
		close(fd);
		return -1;
	}
	if (walk_folder(walk, fd, scope, depth, err) < 0)
		return -1;
	if (walk->count == before && source_rules_keep_folders(walk->rules))
		add_entry(walk, TREE_FOLDER);
	return 0;
}

static int type_of(int parent, const struct dirent *item)
{
	struct stat st;

	if (item->d_type != DT_UNKNOWN)
		return item->d_type;
	if (fstatat(parent, item->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return IFTODT(st.st_mode);
}

static int read_item(struct tree_walk *walk, int parent,
		     const struct dirent *item,
		     const struct source_scope *scope, unsigned depth,
		     struct error *err)
{
	int type = type_of(parent, item);
	enum source_reason reason =
		source_rules_decide(walk->rules, scope, buf_text(&walk->path),
				    parent, type == DT_DIR);

	if (source_rules_check(walk->rules, err) < 0)
		return -1;
	if (reason != SOURCE_SHIPS && reason != SOURCE_ONLY_TRACKED) {
		leave_out(walk, reason, type == DT_DIR);
		return 0;
	}
	if (walk->look && type == DT_REG) {
		add_entry(walk, TREE_FILE);
		return 0;
	}
	if (walk->count >= ENTRY_COUNT_MAX)
		return error_set(err, ERROR_FAILED,
				 "'%s' holds more than %d files: exclude what "
				 "it does not need in '%s/" IGNORE_FILE "'",
				 walk->folder, ENTRY_COUNT_MAX, walk->folder);
	switch (type) {
	case DT_REG:
		return read_file(walk, parent, item->d_name, err);
	case DT_LNK:
		return read_link(walk, parent, item->d_name, err);
	case DT_DIR:
		return read_folder(walk, parent, item->d_name, scope, reason,
				   depth + 1, err);
	default:
		return 0;
	}
}

/* Checks the newest entry: a look ends with a file. */
static bool has_file(const struct tree_walk *walk)
{
	return walk->count && walk->entries[walk->count - 1].kind == TREE_FILE;
}

/* Takes the descriptor. */
static int walk_folder(struct tree_walk *walk, int fd,
		       const struct source_scope *scope, unsigned depth,
		       struct error *err)
{
	size_t len = walk->path.len;
	struct dirent *item;
	DIR *dir = fdopendir(fd);
	int ret = 0;

	if (!dir) {
		fail(walk, err);
		close(fd);
		return -1;
	}
	while (ret == 0 && !(walk->look && has_file(walk))) {
		errno = 0;
		item = readdir(dir);
		if (!item) {
			if (errno)
				ret = fail(walk, err);
			break;
		}
		if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, ".."))
			continue;
		if (len)
			buf_putc(&walk->path, '/');
		buf_puts(&walk->path, item->d_name);
		ret = read_item(walk, dirfd(dir), item, scope, depth, err);
		walk->path.len = len;
		walk->path.data[len] = '\0';
	}
	closedir(dir);
	return ret;
}

static int by_path(const void *a, const void *b)
{
	const struct tree_entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int left_out_by_path(const void *a, const void *b)
{
	const struct tree_left_out *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static void hash_tree(struct tree *tree)
{
	static const char *const kinds[] = {
		[TREE_FILE] = "file",
		[TREE_LINK] = "link",
		[TREE_FOLDER] = "folder",
	};
	struct digester *digester = digester_new();
	const struct tree_entry *entry;
	size_t i;

	digester_add_text(digester, "tree 1");
	for (i = 0; i < tree->count; i++) {
		entry = &tree->entries[i];
		digester_add_text(digester, entry->executable
						    ? "program"
						    : kinds[entry->kind]);
		digester_add_text(digester, entry->path);
		digester_add_text(digester, entry->target ? entry->target
							  : entry->digest.hex);
	}
	digester_end(digester, &tree->digest);
	digester_free(digester);
}

/* Copies the sorted result into the caller's memory. */
static void keep(struct tree_walk *walk, struct tree *tree)
{
	struct tree_left_out *left_out = arena_alloc(
		walk->mem, (walk->left_out_count + 1) * sizeof(*left_out));

	size_t i;

	for (i = 0; i < walk->count; i++) {
		tree->files += walk->entries[i].kind == TREE_FILE;
		tree->bytes += walk->entries[i].size_bytes;
	}
	tree->count = walk->count;
	tree->entries = arena_alloc(walk->mem,
				    (walk->count + 1) * sizeof(*walk->entries));
	if (walk->count) {
		qsort(walk->entries, walk->count, sizeof(*walk->entries),
		      by_path);
		memcpy(tree->entries, walk->entries,
		       walk->count * sizeof(*walk->entries));
	}
	if (walk->left_out_count) {
		memcpy(left_out, walk->left_out,
		       walk->left_out_count * sizeof(*left_out));
		qsort(left_out, walk->left_out_count, sizeof(*left_out),
		      left_out_by_path);
	}
	tree->left_out = left_out;
	tree->left_out_count = walk->left_out_count;
}

bool tree_entry_is_secret(const struct tree_entry *entry)
{
	return entry->kind == TREE_FILE &&
	       (entry->holds_secret || secret_is_named(entry->path));
}

int tree_open_file(const char *folder, const struct tree_entry *entry,
		   struct error *err)
{
	char *path = path_join(folder, entry->path);
	int fd = beneath_open_found_file(path, err);

	free(path);
	return fd;
}

/* Opens the folder and returns its path. */
static int open_folder(const char *folder, const struct source_options *options,
		       struct arena *mem, const char **found, struct error *err)
{
	const char *root = options ? options->root : NULL;
	char *real = beneath_find(root, folder, err);
	int fd;

	if (!real && access(folder, F_OK) == 0)
		return -1;
	fd = real ? beneath_open_found(real, O_RDONLY | O_DIRECTORY) : -1;
	if (fd < 0)
		error_errno(err, "cannot read '%s'", folder);
	else
		*found = arena_strdup(mem, real);
	free(real);
	return fd;
}

static int read_tree(const char *folder, const struct source_options *options,
		     bool look, struct arena *mem, struct tree *out,
		     struct error *err)
{
	struct tree_walk walk = { .folder = folder, .look = look, .mem = mem };
	struct tree tree = { 0 };
	int ret = -1;
	int fd;

	fd = open_folder(folder, options, mem, &tree.folder, err);
	if (fd < 0)
		return -1;
	walk.rules = source_rules_new(folder, tree.folder, fd, options, err);
	if (!walk.rules) {
		close(fd);
		return -1;
	}
	/* Version 1 includes saved plans, which the cache does not
	 * distinguish. */
	if (!look && (!options || options->version == SOURCE_NOW))
		walk.cache = digest_cache_open(folder, fd);
	walk.chunk = mem_alloc(CHUNK_SIZE);
	if (walk_folder(&walk, fd, source_rules_top(walk.rules), 0, err) < 0)
		goto out;
	keep(&walk, &tree);
	if (source_rules_ignored(walk.rules))
		tree.ignored =
			arena_strdup(mem, source_rules_ignored(walk.rules));
	if (!look)
		hash_tree(&tree);
	*out = tree;
	ret = 0;
out:
	digest_cache_close(walk.cache);
	source_rules_free(walk.rules);
	buf_done(&walk.path);
	free(walk.left_out);
	free(walk.entries);
	free(walk.chunk);
	return ret;
}

int tree_read(const char *folder, const struct source_options *options,
	      struct arena *mem, struct tree *out, struct error *err)
{
	return read_tree(folder, options, false, mem, out, err);
}

int tree_look(const char *folder, const struct source_options *options,
	      struct arena *mem, struct tree *out, struct error *err)
{
	return read_tree(folder, options, true, mem, out, err);
}
