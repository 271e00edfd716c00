/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/source_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/beneath.h"
#include "core/base/file.h"
#include "core/base/repository.h"
#include "core/data/git_index.h"
#include "core/data/ignore.h"

#define GITIGNORE ".gitignore"
#define IGNORE_FILE_MAX 65536
#define REPOSITORY_COUNT_MAX 256 /* the most repositories below one source */
#define STEPS_MAX 500000000      /* some seconds */
#define STATE_FILE "jobrun.db"
#define PLAN_START "{\n  \"jobrunPlan\": "

struct source_scope {
	/* paths relative to the top of the repository */
	const struct ignore *files;
	const struct git_index *index; /* or NULL */
	/* to prepend to a path of the walk: "jobs/src/", or "" */
	const char *prefix;
	/* bytes to skip in a path of the walk, up to a nested repository */
	size_t skip;
	bool only_tracked;
};

struct source_rules {
	struct arena *mem;
	const char *folder; /* for messages */
	const char *real;   /* the same, absolute and without links */
	struct source_options options;
	const struct ignore *built_in, *also; /* paths relative to the folder */
	/* use Git's ignore files; else .jobrunignore, or only the above */
	bool by_git;
	bool tracks;         /* a repository exists */
	const char *ignored; /* see source_rules_ignored() */
	struct source_scope top;
	struct git_index *indexes[REPOSITORY_COUNT_MAX];
	size_t index_count;
	uint64_t steps; /* cost of matching patterns so far */
};

/* Reads an ignore file; NULL without an error if there is none.  Like Git,
 * follows no link to one; a pipe must not block. */
static char *read_file(int folder, const char *name, const char *path,
		       size_t *len, struct error *err)
{
	int fd = openat(folder, name,
			O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	char *text = NULL;
	struct stat st;

	if (fd < 0) {
		if (errno != ENOENT && errno != ELOOP && errno != ENXIO)
			error_errno(err, "cannot read '%s'", path);
		return NULL;
	}
	if (fstat(fd, &st) < 0)
		error_errno(err, "cannot read '%s'", path);
	else if (S_ISREG(st.st_mode))
		text = file_read_fd(fd, path, IGNORE_FILE_MAX, len, err);
	close(fd);
	return text;
}

static int put_file(struct source_rules *rules, const struct ignore **list,
		    int folder, const char *below, const char *path,
		    struct error *err)
{
	struct error read = { 0 };
	char *text;
	size_t len;

	text = read_file(folder, path_base(path), path, &len, &read);
	if (!text) {
		if (!read.text[0])
			return 0;
		*err = read;
		return -1;
	}
	*list = ignore_put(*list, below, text, len, path, rules->mem, err);
	free(text);
	return *list ? 0 : -1;
}

/* Examines a folder on the way down to the source, at this path in its
 * repository. */
static void look_at_folder(struct source_rules *rules, const char *path)
{
	if (rules->ignored || !*path ||
	    ignore_decide(rules->top.files, path, true, &rules->steps) !=
		    IGNORE_OUT ||
	    git_index_has_folder(rules->top.index, path))
		return;
	rules->ignored = arena_strdup(rules->mem, path);
}

/* Adds the ignore files of the folders above the source, from the top down. */
static int put_above(struct source_rules *rules, const char *top,
		     const char *below, struct error *err)
{
	const char *end = below;
	int ret = 0;

	while (ret == 0 && *end) {
		char *at =
			arena_strndup(rules->mem, below, (size_t)(end - below));
		char *folder = path_join(top, *at ? at : ".");
		char *path = path_join(folder, GITIGNORE);
		int fd = beneath_open(top, folder, O_RDONLY | O_DIRECTORY, err);

		ret = fd < 0 ? -1
			     : put_file(rules, &rules->top.files, fd, at, path,
					err);
		if (fd >= 0)
			close(fd);
		free(path);
		free(folder);
		end += *end == '/';
		end += strcspn(end, "/");
		look_at_folder(rules, arena_strndup(rules->mem, below,
						    (size_t)(end - below)));
	}
	return ret;
}

static const struct git_index *add_index(struct source_rules *rules,
					 const char *git, struct error *err)
{
	struct git_index *index;

	if (rules->index_count == REPOSITORY_COUNT_MAX) {
		error_set(err, ERROR_INVALID,
			  "'%s' holds more than %d Git repositories",
			  rules->folder, REPOSITORY_COUNT_MAX);
		return NULL;
	}
	index = git_index_read(git, err);
	if (index)
		rules->indexes[rules->index_count++] = index;
	return index;
}

/* Finds the repository of the source, which may be at any depth in it. */
static int find_repository(struct source_rules *rules, struct error *err)
{
	struct repository repository;
	const char *below;
	int ret = -1;

	rules->by_git = true;
	rules->tracks = repository_find(rules->real, &repository);
	if (!rules->tracks)
		return 0;
	below = rules->real + strlen(repository.top);
	below += *below == '/';
	rules->top.prefix =
		*below ? arena_printf(rules->mem, "%s/", below) : "";
	rules->top.index = add_index(rules, repository.git, err);
	if (rules->top.index &&
	    put_above(rules, repository.top, below, err) == 0)
		ret = 0;
	repository_done(&repository);
	return ret;
}

/* Reads a list that several sources may share through a link, which must not
 * lead out. */
static char *read_own_list(const struct source_rules *rules, int fd,
			   const char *path, size_t *len, struct error *err)
{
	const char *root = rules->options.root;
	struct stat st;

	if (fstatat(fd, IGNORE_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode))
		return beneath_read(root, path, IGNORE_FILE_MAX, len, err);
	return read_file(fd, IGNORE_FILE, path, len, err);
}

static int read_rules(struct source_rules *rules, int fd, struct error *err)
{
	char *path = path_join(rules->folder, IGNORE_FILE);
	struct error read = { 0 };
	size_t len;
	char *text = read_own_list(rules, fd, path, &len, &read);
	int ret = -1;

	rules->built_in = ignore_built_in(rules->mem, err);
	if (rules->options.also)
		rules->also = ignore_put(NULL, "", rules->options.also,
					 strlen(rules->options.also), "ours",
					 rules->mem, err);
	if (!rules->built_in || (rules->options.also && !rules->also))
		goto out;
	if (text) {
		rules->top.files =
			ignore_put(NULL, "", text, len, path, rules->mem, err);
		ret = rules->top.files ? 0 : -1;
	} else if (read.text[0]) {
		*err = read;
	} else if (rules->options.version == SOURCE_VERSION_1) {
		ret = 0;
	} else {
		ret = find_repository(rules, err);
	}
	if (ret == 0 && rules->by_git) {
		char *below = mem_strdup(rules->top.prefix);

		if (*below)
			below[strlen(below) - 1] = '\0';
		free(path);
		path = path_join(rules->folder, GITIGNORE);
		ret = put_file(rules, &rules->top.files, fd, below, path, err);
		free(below);
	}
out:
	free(text);
	free(path);
	return ret;
}

struct source_rules *source_rules_new(const char *folder, const char *real,
				      int fd,
				      const struct source_options *options,
				      struct error *err)
{
	struct source_rules *rules = mem_alloc(sizeof(*rules));

	rules->mem = arena_new();
	rules->folder = folder;
	rules->real = real;
	rules->top.prefix = "";
	if (options)
		rules->options = *options;
	if (read_rules(rules, fd, err) < 0) {
		source_rules_free(rules);
		return NULL;
	}
	return rules;
}

void source_rules_free(struct source_rules *rules)
{
	size_t i;

	if (!rules)
		return;
	for (i = 0; i < rules->index_count; i++)
		git_index_free(rules->indexes[i]);
	arena_free(rules->mem);
	free(rules);
}

const struct source_scope *source_rules_top(const struct source_rules *rules)
{
	return &rules->top;
}

/* Enters a nested repository, such as a submodule: inside, only its own rules
 * count, as for Git. */
static int enter_repository(struct source_rules *rules, const char *path,
			    struct source_scope *scope, struct error *err)
{
	const char *at = arena_printf(rules->mem, "%s/%s", rules->real, path);
	struct repository repository;
	int ret = 0;

	if (!repository_at(at, &repository))
		return 0;
	*scope =
		(struct source_scope){ .prefix = "", .skip = strlen(path) + 1 };
	scope->index = add_index(rules, repository.git, err);
	if (!scope->index)
		ret = -1;
	repository_done(&repository);
	return ret;
}

/* The path relative to the top of the scope's repository; in `mem` if it
 * differs. */
static const char *from_top(const struct source_scope *scope, const char *path,
			    char room[PATH_MAX])
{
	if (strlen(path) < scope->skip)
		return "";
	path += scope->skip;
	if (!scope->prefix[0])
		return path;
	snprintf(room, PATH_MAX, "%s%s", scope->prefix, path);
	return room;
}

const struct source_scope *source_rules_enter(struct source_rules *rules,
					      const struct source_scope *outer,
					      const char *path, int fd,
					      enum source_reason reason,
					      struct error *err)
{
	struct source_scope *scope;
	char room[PATH_MAX];
	char *file;
	int ret = 0;

	if (!rules->by_git)
		return outer;
	scope = arena_alloc(rules->mem, sizeof(*scope));
	*scope = *outer;
	if (reason == SOURCE_ONLY_TRACKED)
		scope->only_tracked = true;
	if (faccessat(fd, ".git", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		ret = enter_repository(rules, path, scope, err);
	file = mem_printf("%s/%s/" GITIGNORE, rules->folder, path);
	if (ret == 0)
		ret = put_file(rules, &scope->files, fd,
			       from_top(scope, path, room), file, err);
	free(file);
	return ret == 0 ? scope : NULL;
}

/* Whether jobrun itself writes the path.  It can't be a part of what it runs,
 * as each look would find another source.  A state directory is recognized by
 * its contents. */
static bool is_own(const struct source_rules *rules, const char *path,
		   int parent, bool is_folder)
{
	size_t n = strlen(rules->real), i;
	char inside[NAME_MAX + 16];
	struct stat st;

	if (rules->options.version == SOURCE_VERSION_1)
		return false;
	for (i = 0; i < rules->options.never_count; i++) {
		const char *never = rules->options.never[i];

		if (!strncmp(never, rules->real, n) &&
		    !strcmp(never + n + strspn(never + n, "/"), path))
			return true;
	}
	if (!is_folder)
		return false;
	snprintf(inside, sizeof(inside), "%s/" STATE_FILE, path_base(path));
	return fstatat(parent, inside, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode);
}

static bool is_tracked(const struct source_scope *scope, const char *path,
		       bool is_folder)
{
	if (!scope->index)
		return false;
	if (is_folder)
		return git_index_has_folder(scope->index, path);
	return git_index_find(scope->index, path);
}

/* Decides by the ignore files, and if they say nothing, by the built-in
 * rules. */
static enum source_reason decide(struct source_rules *rules,
				 const struct source_scope *scope,
				 const char *path, const char *at,
				 bool is_folder)
{
	enum ignore_verdict verdict =
		ignore_decide(scope->files, at, is_folder, &rules->steps);

	if (verdict == IGNORE_IN)
		return SOURCE_SHIPS;
	if (ignore_decide(rules->also, path, is_folder, &rules->steps) ==
	    IGNORE_OUT)
		return SOURCE_ALSO;
	/* A path not worth reporting stays so, whichever rule excludes it. */
	if (ignore_decide(rules->built_in, path, is_folder, &rules->steps) ==
	    IGNORE_OUT)
		return SOURCE_BUILT_IN;
	if (verdict == IGNORE_OUT)
		return rules->by_git ? SOURCE_GITIGNORE : SOURCE_IGNORE_FILE;
	return SOURCE_SHIPS;
}

enum source_reason source_rules_decide(struct source_rules *rules,
				       const struct source_scope *scope,
				       const char *path, int parent,
				       bool is_folder)
{
	enum source_reason out;
	char room[PATH_MAX];
	const char *at = from_top(scope, path, room);

	if (is_own(rules, path, parent, is_folder))
		return SOURCE_OWN;
	if (rules->by_git && !strcmp(path_base(path), ".git"))
		return SOURCE_BUILT_IN;
	out = decide(rules, scope, path, at, is_folder);
	if (out == SOURCE_SHIPS && scope->only_tracked)
		out = SOURCE_GITIGNORE;
	if (out == SOURCE_SHIPS || out == SOURCE_ALSO)
		return out;
	if (is_tracked(scope, at, is_folder))
		return is_folder ? SOURCE_ONLY_TRACKED : SOURCE_SHIPS;
	return out;
}

int source_rules_check(const struct source_rules *rules, struct error *err)
{
	if (rules->steps <= STEPS_MAX)
		return 0;
	return error_set(err, ERROR_INVALID,
			 "the patterns of the ignore files in '%s' take too "
			 "long to be matched with its files",
			 rules->folder);
}

bool source_rules_is_plan(const struct source_rules *rules, const char *start,
			  size_t len)
{
	if (rules->options.version == SOURCE_VERSION_1)
		return false;
	return len >= strlen(PLAN_START) &&
	       !memcmp(start, PLAN_START, strlen(PLAN_START));
}

const char *source_rules_ignored(const struct source_rules *rules)
{
	return rules->ignored;
}

bool source_rules_keep_folders(const struct source_rules *rules)
{
	return !rules->by_git || !rules->tracks;
}

const char *source_reason_text(enum source_reason reason)
{
	static const char *const texts[SOURCE_REASON_COUNT] = {
		[SOURCE_IGNORE_FILE] = "by " IGNORE_FILE,
		[SOURCE_GITIGNORE] = "by " GITIGNORE,
	};

	return texts[reason];
}
