/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checkpoint/checkpoint_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/text.h"

#define DEPTH_MAX 64
/* Longer than any list that names one folder. */
#define LIST_MAX 256

/* One file found in the directory. */
struct scan_entry {
	const char *name; /* of the checkpoint */
	const char *path; /* below the directory; NULL: a folder, which only
			   * the signature knows of */
	const char *link; /* where a symbolic link leads; NULL: no link */
	struct stat st;
};

struct checkpoint_scan {
	const char *path; /* the directory, for messages */
	struct arena *mem;
	const char *only; /* the only checkpoint to look for; NULL: all */
	struct scan_entry *entries;
	size_t count, room;
	/* The folder that a list of the directory names as its newest, and when
	 * it did; or NULL. */
	const char *listed;
	struct stat listed_at;
};

static bool is_in_the_making(const char *name)
{
	return name[0] == '.' || text_starts(name, "tmp") ||
	       text_ends(name, "~") || text_ends(name, ".tmp") ||
	       text_ends(name, ".temp") || text_ends(name, ".part") ||
	       text_ends(name, ".partial") || strstr(name, ".tmp-") ||
	       strstr(name, ".tmp.") || strstr(name, "-checkpoint-tmp-") ||
	       text_ends(name, "_temp") || strstr(name, ".tempstate");
}

/* Returns the length of the stem of a TensorFlow name such as
 * "ckpt-3.data-00000-of-00001", 0 for any other name. */
static size_t stem_length(const char *name)
{
	static const char *const ends[] = { ".index", ".meta" };
	const char *data = strstr(name, ".data-");
	unsigned one, all;
	int end = 0;

	for (size_t i = 0; i < COUNT(ends); i++)
		if (text_ends(name, ends[i]))
			return strlen(name) - strlen(ends[i]);
	if (data && sscanf(data, ".data-%5u-of-%5u%n", &one, &all, &end) == 2 &&
	    !data[end])
		return (size_t)(data - name);
	return 0;
}

bool checkpoint_scan_is_part(const char *file)
{
	return stem_length(file) > 0;
}

static int fail(const struct checkpoint_scan *scan, const char *path,
		struct error *err)
{
	return error_errno(err, "cannot read '%s/%s'", scan->path, path);
}

static int add(struct checkpoint_scan *scan, const char *name, const char *path,
	       const char *link, const struct stat *st, struct error *err)
{
	if (scan->count >= CHECKPOINT_FILES_MAX)
		return error_set(err, ERROR_FAILED,
				 "'%s' holds more than %d files", scan->path,
				 CHECKPOINT_FILES_MAX);
	if (scan->count == scan->room) {
		scan->room = scan->room * 2 + 64;
		scan->entries = mem_grow(scan->entries, scan->room,
					 sizeof(*scan->entries));
	}
	scan->entries[scan->count++] =
		(struct scan_entry){ name, path, link, *st };
	return 0;
}

/* Makes an absolute target in the directory relative to its link. */
static char *link_within(const struct checkpoint_scan *scan, const char *path,
			 const char *target)
{
	size_t len = strlen(scan->path);
	char *folder, *relative, *out;

	if (strncmp(target, scan->path, len) != 0 || target[len] != '/')
		return arena_strdup(scan->mem, target);
	folder = path_folder(path);
	relative = path_relative(folder, target + len + 1);
	out = arena_strdup(scan->mem, relative);
	free(relative);
	free(folder);
	return out;
}

static int walk(struct checkpoint_scan *scan, int parent, const char *file,
		const char *name, const char *path, unsigned depth,
		struct error *err);

static int walk_folder(struct checkpoint_scan *scan, int parent,
		       const char *file, const char *name, const char *path,
		       unsigned depth, struct error *err)
{
	struct dirent *item;
	int fd, ret = 0;
	DIR *dir;

	if (depth > DEPTH_MAX)
		return error_set(err, ERROR_FAILED,
				 "'%s/%s' is more than %d folders deep",
				 scan->path, path, DEPTH_MAX);
	fd = openat(parent, file,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : fail(scan, path, err);
	dir = fdopendir(fd);
	if (!dir) {
		fail(scan, path, err);
		close(fd);
		return -1;
	}
	while (ret == 0 && (item = readdir(dir))) {
		if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, ".."))
			continue;
		ret = walk(scan, dirfd(dir), item->d_name, name,
			   arena_printf(scan->mem, "%s/%s", path, item->d_name),
			   depth + 1, err);
	}
	closedir(dir);
	return ret;
}

static int add_link(struct checkpoint_scan *scan, int parent, const char *file,
		    const char *name, const char *path, const struct stat *st,
		    struct error *err)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(parent, file, target, sizeof(target) - 1);

	if (len < 0)
		return errno == ENOENT ? 0 : fail(scan, path, err);
	target[len] = '\0';
	return add(scan, name, path, link_within(scan, path, target), st, err);
}

static int walk(struct checkpoint_scan *scan, int parent, const char *file,
		const char *name, const char *path, unsigned depth,
		struct error *err)
{
	struct stat st;

	if (fstatat(parent, file, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fail(scan, path, err);
	if (S_ISREG(st.st_mode))
		return add(scan, name, path, NULL, &st, err);
	if (S_ISLNK(st.st_mode) && depth)
		return add_link(scan, parent, file, name, path, &st, err);
	if (!S_ISDIR(st.st_mode))
		return 0;
	if (add(scan, name, NULL, NULL, &st, err) < 0)
		return -1;
	return walk_folder(scan, parent, file, name, path, depth, err);
}

static int64_t compare_times(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec != b->st_mtim.tv_sec
		       ? a->st_mtim.tv_sec - b->st_mtim.tv_sec
		       : a->st_mtim.tv_nsec - b->st_mtim.tv_nsec;
}

/* Notes the folder that such a list names. */
static void take_list(struct checkpoint_scan *scan, const char *format,
		      const char *text, const struct stat *st)
{
	char word[LIST_MAX];

	if (scan->listed && compare_times(&scan->listed_at, st) > 0)
		return;
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, " \r\n"), text);
	scan->listed = strstr(format, "%s")
			       ? arena_strdup(scan->mem, word)
			       : arena_printf(scan->mem, "iter_%07ld",
					      strtol(word, NULL, 10));
	scan->listed_at = *st;
}

/* Whether the file is a list of checkpoints and none itself: TensorFlow's,
 * DeepSpeed's or Megatron's.  The latter two name the newest folder once that is
 * complete. */
static bool is_list(struct checkpoint_scan *scan, int folder, const char *name)
{
	static const struct {
		const char *name, *start;
		const char *format; /* of the folder's name, or NULL */
	} lists[] = {
		{ "checkpoint", "model_checkpoint_path:", NULL },
		{ "latest", "", "%s" },
		{ "latest_checkpointed_iteration.txt", "", "iter_%07ld" },
	};
	char text[LIST_MAX] = "";
	struct stat st;
	size_t i = 0;
	bool yes;
	int fd;

	while (i < COUNT(lists) && strcmp(lists[i].name, name) != 0)
		i++;
	if (i == COUNT(lists))
		return false;
	fd = openat(folder, name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	yes = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	      read(fd, text, sizeof(text) - 1) > 0 &&
	      text_starts(text, lists[i].start) &&
	      (!lists[i].format || st.st_size < LIST_MAX);
	if (yes && lists[i].format)
		take_list(scan, lists[i].format, text, &st);
	if (fd >= 0)
		close(fd);
	return yes;
}

static int look(struct checkpoint_scan *scan, int folder, const char *file,
		struct error *err)
{
	size_t stem = stem_length(file);
	const char *path, *name;

	if (is_in_the_making(file) || is_list(scan, folder, file))
		return 0;
	path = arena_strdup(scan->mem, file);
	name = stem ? arena_strndup(scan->mem, file, stem) : path;
	if (scan->only && strcmp(scan->only, name) != 0)
		return 0;
	return walk(scan, folder, file, name, path, 0, err);
}

static int by_name(const void *a, const void *b)
{
	const struct scan_entry *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	/* Within a checkpoint folders, which have no path here, come first. */
	if (order || !x->path || !y->path)
		return order ? order : (x->path != NULL) - (y->path != NULL);
	return strcmp(x->path, y->path);
}

static int64_t stat_ms(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000 +
	       st->st_mtim.tv_nsec / 1000000;
}

/* Whether a part is missing that a name like ".data-00000-of-00003"
 * promises. */
static bool is_partial(const struct checkpoint *what)
{
	unsigned one, all = 0, found = 0;
	bool index = false;

	if (!what->file_count || !strcmp(what->files[0].path, what->name) ||
	    strchr(what->files[0].path, '/'))
		return false;
	for (size_t i = 0; i < what->file_count; i++) {
		const char *rest = what->files[i].path + strlen(what->name);

		if (!strcmp(rest, ".index"))
			index = true;
		if (sscanf(rest, ".data-%5u-of-%5u", &one, &all) == 2)
			found++;
	}
	return !index || !all || found != all;
}

static void add_file(const struct scan_entry *from, struct checkpoint *what)
{
	uint64_t size = from->link ? 0 : (uint64_t)from->st.st_size;

	what->files[what->file_count++] = (struct checkpoint_file){
		.path = from->path,
		.link = from->link,
		.size_bytes = size,
		.crc32c = "",
	};
	what->size_bytes += size;
}

/* What the name of a file in a checkpoint's folder says. */
static enum checkpoint_word word_of(const struct checkpoint *what,
				    const char *path)
{
	static const struct {
		const char *file;
		enum checkpoint_word word;
	} words[] = {
		{ CHECKPOINT_COMMIT, CHECKPOINT_COMMITTED },
		/* torch.distributed.checkpoint */
		{ ".metadata", CHECKPOINT_COMMITTED },
		/* Orbax, where there is no rename */
		{ "commit_success.txt", CHECKPOINT_COMMITTED },
		/* transformers' Trainer, but for the states of random numbers
		 * of some versions */
		{ "trainer_state.json", CHECKPOINT_LAST_FILE },
	};
	const char *file = path + strlen(what->name);

	for (size_t i = 0; *file == '/' && i < COUNT(words); i++)
		if (!strcmp(file + 1, words[i].file))
			return words[i].word;
	return CHECKPOINT_NO_WORD;
}

/* Reads what the folder's files say: a word that is older than another file was
 * left by an earlier checkpoint of that name. */
static void read_word(const struct checkpoint_scan *scan,
		      const struct scan_entry *first, size_t count,
		      struct checkpoint_item *out)
{
	const struct stat *newest = NULL, *said = NULL;

	for (size_t i = 0; i < count; i++) {
		enum checkpoint_word word;

		if (!first[i].path) {
			out->is_folder = true;
			continue;
		}
		word = word_of(&out->what, first[i].path);
		if (word > out->word) {
			out->word = word;
			said = &first[i].st;
		}
		if (!newest || compare_times(&first[i].st, newest) > 0)
			newest = &first[i].st;
	}
	if (out->word == CHECKPOINT_COMMITTED &&
	    compare_times(said, newest) < 0)
		out->word = CHECKPOINT_NO_WORD;
	if (out->is_folder && newest && scan->listed &&
	    !strcmp(scan->listed, out->what.name) &&
	    compare_times(&scan->listed_at, newest) >= 0)
		out->word = CHECKPOINT_COMMITTED;
}

/* Makes a checkpoint from the entries with the same name. */
static void make_item(struct checkpoint_scan *scan,
		      const struct scan_entry *first, size_t count,
		      struct checkpoint_item *out)
{
	struct checkpoint *what = &out->what;
	struct buf text = { 0 };
	struct digest digest;

	*out = (struct checkpoint_item){
		.what = { .name = first->name,
			  .step = checkpoint_name_step(first->name),
			  .epoch = -1,
			  .value = NAN },
	};
	what->files = arena_alloc(scan->mem, count * sizeof(*what->files));
	for (size_t i = 0; i < count; i++) {
		const struct scan_entry *from = &first[i];

		int64_t time_ms = stat_ms(&from->st);

		if (time_ms > what->time_ms)
			what->time_ms = time_ms;
		if (!i || time_ms < out->first_ms)
			out->first_ms = time_ms;
		buf_printf(&text, "%s %llu %lld %lld.%09ld\n",
			   from->path ? from->path : "/",
			   (unsigned long long)from->st.st_ino,
			   from->path ? (long long)from->st.st_size : 0,
			   (long long)from->st.st_mtim.tv_sec,
			   from->st.st_mtim.tv_nsec);
		if (from->path)
			add_file(from, what);
		if (from->link &&
		    !checkpoint_link_is_inside(from->path, from->link))
			out->stray_link = from->path;
	}
	read_word(scan, first, count, out);
	out->is_partial = out->stray_link || is_partial(what);
	digest_bytes(buf_text(&text), text.len, &digest);
	out->signature = arena_strdup(scan->mem, digest.hex);
	buf_done(&text);
}

static void make_items(struct checkpoint_scan *scan,
		       struct checkpoint_items *out)
{
	size_t i, n;

	*out = (struct checkpoint_items){ 0 };
	if (!scan->count)
		return;
	qsort(scan->entries, scan->count, sizeof(*scan->entries), by_name);
	out->items = arena_alloc(scan->mem, scan->count * sizeof(*out->items));
	for (i = 0; i < scan->count; i += n) {
		struct checkpoint_item *item = &out->items[out->count];

		for (n = 1; i + n < scan->count; n++)
			if (strcmp(scan->entries[i].name,
				   scan->entries[i + n].name) != 0)
				break;
		make_item(scan, &scan->entries[i], n, item);
		/* An empty folder, or one of empty files, is no checkpoint
		 * yet. */
		if (item->what.size_bytes)
			out->count++;
	}
}

static int scan_all(struct checkpoint_scan *scan, int folder,
		    struct checkpoint_items *out, struct error *err)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *item;
	int ret = 0;

	if (!dir) {
		error_errno(err, "cannot read '%s'", scan->path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (ret == 0 && (item = readdir(dir)))
		ret = look(scan, folder, item->d_name, err);
	closedir(dir);
	if (ret == 0)
		make_items(scan, out);
	free(scan->entries);
	return ret;
}

int checkpoint_scan(int folder, const char *path, struct arena *mem,
		    struct checkpoint_items *out, struct error *err)
{
	struct checkpoint_scan scan = { .path = path, .mem = mem };

	return scan_all(&scan, folder, out, err);
}

int checkpoint_scan_one(int folder, const char *path, const char *name,
			struct arena *mem, struct checkpoint_item *out,
			struct error *err)
{
	struct checkpoint_scan scan = { .path = path,
					.mem = mem,
					.only = name };
	struct checkpoint_items found;

	if (scan_all(&scan, folder, &found, err) < 0)
		return -1;
	if (!found.count)
		return 1;
	*out = found.items[0];
	return 0;
}
