/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/files.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/text.h"

/* A file, whatever its name. */
struct file_id {
	dev_t device;
	ino_t inode;
	size_t entry; /* index in `items` */
};

static uint64_t id_hash(const struct stat *st)
{
	uint64_t hash = (uint64_t)st->st_ino * 0x9e3779b97f4a7c15u;

	return hash ^ hash >> 32;
}

static struct file_entry *add(struct files *files, const char *path, bool named)
{
	struct file_entry *entry;

	if (files->count == files->size) {
		files->size = files->size ? files->size * 2 : 16;
		files->items = mem_grow(files->items, files->size,
					sizeof(*files->items));
	}
	entry = &files->items[files->count++];
	*entry = (struct file_entry){
		.path = arena_strdup(files->mem, path),
		.named = named,
	};
	return entry;
}

/* Adds a problem; it is stored after the path. */
static void add_problem(struct files *files, const char *path,
			const char *problem)
{
	struct file_entry *entry = add(files, "", true);
	size_t len = strlen(path) + 1;
	char *both = arena_alloc(files->mem, len + strlen(problem) + 1);

	memcpy(both, path, len);
	strcpy(both + len, problem);
	entry->path = both;
	entry->bad = true;
}

const char *file_problem(const struct file_entry *entry)
{
	return entry->bad ? entry->path + strlen(entry->path) + 1 : NULL;
}

static void remember(struct files *files, const struct stat *st, size_t entry)
{
	if (files->id_count == files->id_size) {
		files->id_size = files->id_size ? files->id_size * 2 : 16;
		files->ids = mem_grow(files->ids, files->id_size,
				      sizeof(*files->ids));
	}
	slots_add(&files->by_id, id_hash(st), (uint32_t)files->id_count);
	files->ids[files->id_count++] = (struct file_id){
		.device = st->st_dev,
		.inode = st->st_ino,
		.entry = entry,
	};
}

/* Prepares for files that may be known under another name. */
static void expect_twins(struct files *files)
{
	struct stat st;
	size_t i;

	if (!files->unique)
		return;
	files->unique = false;
	for (i = 0; i < files->count; i++)
		if (!files->items[i].bad &&
		    stat(files->items[i].path, &st) == 0)
			remember(files, &st, i);
}

/* Adds the file unless it is known under any name.  `named` stays set once it
 * was set. */
static void add_once(struct files *files, const char *path, bool named,
		     const struct stat *st)
{
	uint64_t hash = id_hash(st);
	uint32_t number;
	size_t at = 0;

	while (slots_next(&files->by_id, hash, &at, &number)) {
		const struct file_id *known = &files->ids[number];

		if (known->device != st->st_dev || known->inode != st->st_ino)
			continue;
		if (named)
			files->items[known->entry].named = true;
		return;
	}
	if (!files->unique)
		remember(files, st, files->count);
	add(files, path, named);
}

static bool is_job_file_name(const char *name)
{
	return text_ends(name, ".yaml") || text_ends(name, ".yml");
}

/* Hidden files, such as .git, .github and .venv, are no job files. */
static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static size_t add_folder(struct files *files, const char *folder);

/* Returns the number of job files, including those known already.  Links to
 * folders are not followed, as they may lead back. */
static size_t add_below(struct files *files, const char *folder, dev_t device,
			const struct dirent *entry)
{
	char *path = path_join(folder, entry->d_name);
	bool is_yaml = is_job_file_name(entry->d_name);
	/* The directory entry already has the inode of a regular file. */
	struct stat st = { .st_dev = device, .st_ino = entry->d_ino };
	unsigned char type = entry->d_type;
	size_t n = 1;

	if (type == DT_UNKNOWN && lstat(path, &st) == 0)
		type = S_ISDIR(st.st_mode)   ? DT_DIR
		       : S_ISLNK(st.st_mode) ? DT_LNK
					     : DT_REG;
	if (type == DT_DIR) {
		n = add_folder(files, path);
	} else if (is_yaml && type == DT_REG) {
		add_once(files, path, false, &st);
	} else if (is_yaml && type == DT_LNK) {
		expect_twins(files);
		if (stat(path, &st) < 0)
			add(files, path, false);
		else if (S_ISREG(st.st_mode))
			add_once(files, path, false, &st);
	} else {
		n = 0;
	}
	free(path);
	return n;
}

static size_t add_folder(struct files *files, const char *folder)
{
	struct dirent **entries = NULL;
	size_t count = 0;
	struct stat st = { 0 };
	char *problem;
	int i, n;

	n = stat(folder, &st) < 0
		    ? -1
		    : scandir(folder, &entries, is_visible, by_name);
	if (n < 0) {
		problem = mem_printf("cannot read the directory: %s",
				     strerror(errno));
		add_problem(files, folder, problem);
		free(problem);
		return 1;
	}
	for (i = 0; i < n; i++) {
		count += add_below(files, folder, st.st_dev, entries[i]);
		free(entries[i]);
	}
	free(entries);
	return count;
}

static void add_path(struct files *files, const char *path);

/* Expands a pattern that the shell left alone because it was quoted. */
static bool add_pattern(struct files *files, const char *pattern)
{
	glob_t found = { 0 };
	size_t i;

	if (!strpbrk(pattern, "*?["))
		return false;
	if (glob(pattern, 0, NULL, &found) != 0) {
		globfree(&found);
		add_problem(files, pattern, "no file matches");
		return true;
	}
	expect_twins(files);
	for (i = 0; i < found.gl_pathc; i++)
		add_path(files, found.gl_pathv[i]);
	globfree(&found);
	return true;
}

static void add_path(struct files *files, const char *path)
{
	/* Standard input has no device. */
	struct stat st = { .st_dev = (dev_t)-1 };

	if (!strcmp(path, "-")) {
		add_once(files, path, true, &st);
	} else if (stat(path, &st) < 0) {
		/* If this is no pattern either, reading the file will tell
		 * why. */
		if (errno != ENOENT || !add_pattern(files, path))
			add(files, path, true);
	} else if (!S_ISDIR(st.st_mode)) {
		add_once(files, path, true, &st);
	} else if (!add_folder(files, path) && !files->may_be_empty) {
		add_problem(files, path,
			    "no *.yaml or *.yml file in this directory");
	}
}

void files_init(struct files *files, char *const *paths, size_t count,
		bool may_be_empty)
{
	size_t i;

	*files = (struct files){ .mem = arena_new(),
				 .may_be_empty = may_be_empty,
				 .unique = count == 1 };
	for (i = 0; i < count; i++)
		add_path(files, paths[i]);
}

void files_init_one(struct files *files, const char *name)
{
	*files = (struct files){ .mem = arena_new() };
	add(files, name, true);
}

void files_done(struct files *files)
{
	slots_done(&files->by_id);
	free(files->ids);
	free(files->items);
	arena_free(files->mem);
	*files = (struct files){ 0 };
}
