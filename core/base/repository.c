/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/repository.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/beneath.h"
#include "core/base/file.h"
#include "core/base/text.h"

#define LINK_FILE_MAX 8192
#define CONFIG_MAX (1 << 20)

char *repository_read(const char *folder, const char *name, size_t max,
		      size_t *len)
{
	char *path = path_join(folder, name);
	struct error ignored;
	char *text = NULL;
	struct stat st;
	int fd = -1;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
		fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		text = file_read_fd(fd, path, max, len, &ignored);
	if (fd >= 0)
		close(fd);
	free(path);
	return text;
}

/* The rest of the first line after `prefix` in a small file, as a path relative
 * to that file's folder.  Returns new, or NULL. */
static char *follow(const char *folder, const char *file, const char *prefix)
{
	size_t len;
	char *text = repository_read(folder, file, LINK_FILE_MAX, &len);
	char *out = NULL, *named;

	if (text && text_starts(text, prefix)) {
		text[strcspn(text, "\r\n")] = '\0';
		named = path_join(folder, text + strlen(prefix));
		out = realpath(named, NULL);
		free(named);
	}
	free(text);
	return out;
}

/* When `.git` is a file, Git's own ones lead below a folder whose name ends in
 * ".git"; any other path is a trick, or --separate-git-dir. */
static bool is_git_folder(const char *path)
{
	size_t n;

	for (; *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		if (n >= 4 && !strncmp(path + n - 4, ".git", 4))
			return true;
	}
	return false;
}

/* The path in the line `worktree = PATH` of its configuration; new. */
static char *worktree_of(const char *git)
{
	size_t len;
	char *text = repository_read(git, "config", CONFIG_MAX, &len);
	char *at = text, *named, *out = NULL;

	while (at && (at = strstr(at, "worktree"))) {
		at += strlen("worktree");
		at += strspn(at, " \t");
		if (*at++ != '=')
			continue;
		at += strspn(at, " \t");
		at[strcspn(at, "\r\n")] = '\0';
		named = path_join(git, at);
		out = realpath(named, NULL);
		free(named);
		break;
	}
	free(text);
	return out;
}

/* A repository elsewhere belongs to the work tree only if it says so itself: a
 * stranger's `.git` could name any repository. */
static bool knows(const char *git, const char *top)
{
	char *own = path_join(top, ".git"), *real = realpath(own, NULL);
	char *back = follow(git, "gitdir", ""), *tree = NULL;
	bool known = real && path_below(top, git) != NULL;

	/* A linked work tree: its folder names the `.git` file that leads to
	 * it. */
	known = known || (back && real && !strcmp(back, real));
	if (!known)
		tree = worktree_of(git);
	known = known || (tree && !strcmp(tree, top));
	free(tree);
	free(back);
	free(real);
	free(own);
	return known;
}

bool repository_at(const char *top, struct repository *out)
{
	char *path = path_join(top, ".git");
	char *git = NULL;
	struct stat st;

	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			git = realpath(path, NULL);
		else /* a submodule or a linked work tree */
			git = follow(top, ".git", "gitdir: ");
		if (git && (!is_git_folder(git) || !knows(git, top))) {
			free(git);
			git = NULL;
		}
	}
	free(path);
	if (!git)
		return false;
	out->top = mem_strdup(top);
	out->git = git;
	out->common = follow(git, "commondir", "");
	if (!out->common)
		out->common = mem_strdup(git);
	return true;
}

static bool is_home(const char *top)
{
	const char *home = getenv("HOME");
	struct stat a, b;

	return home && home[0] == '/' && stat(home, &a) == 0 &&
	       stat(top, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

bool repository_find(const char *folder, struct repository *out)
{
	char *top = realpath(folder, NULL);
	char *slash;
	bool found = false;

	while (top && top[1] && !is_home(top)) {
		found = repository_at(top, out);
		if (found)
			break;
		slash = strrchr(top, '/');
		slash[slash == top] = '\0';
	}
	free(top);
	return found;
}

void repository_done(struct repository *repository)
{
	free(repository->top);
	free(repository->git);
	free(repository->common);
	memset(repository, 0, sizeof(*repository));
}
