/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/boundary.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/beneath.h"
#include "core/base/file.h"
#include "core/base/repository.h"

#define LINKS_MAX 40

/* Whether a switch variable is on: CI=false is off. */
static bool variable_is_on(const char *name)
{
	const char *value = getenv(name);

	return value && *value && strcmp(value, "false") != 0 &&
	       strcmp(value, "0") != 0;
}

int boundary_allow(struct boundary *boundary, const char *folder,
		   struct error *err)
{
	char *real = realpath(folder, NULL);

	if (!real)
		return error_set(err, ERROR_USAGE, "cannot allow '%s': %s",
				 folder, strerror(errno));
	boundary->allowed =
		mem_grow(boundary->allowed, boundary->allowed_count + 1,
			 sizeof(*boundary->allowed));
	boundary->allowed[boundary->allowed_count++] = real;
	return 0;
}

int boundary_init(struct boundary *boundary, struct error *err)
{
	const char *all = getenv("JOBRUN_ALLOW_OUTSIDE");
	char *copy, *rest = NULL, *one;
	int ret = 0;

	*boundary = (struct boundary){
		.untrusted = variable_is_on("CI"),
		.connect = variable_is_on("JOBRUN_ALLOW_CONNECT"),
	};
	copy = mem_strdup(all ? all : "");
	for (one = strtok_r(copy, ":", &rest); one && ret == 0;
	     one = strtok_r(NULL, ":", &rest)) {
		/* Machines may share such a variable without having the same
		 * folders. */
		if (access(one, F_OK) < 0)
			continue;
		ret = boundary_allow(boundary, one, err);
	}
	if (ret < 0)
		error_prefix(err, "JOBRUN_ALLOW_OUTSIDE");
	free(copy);
	return ret;
}

void boundary_done(struct boundary *boundary)
{
	while (boundary->allowed_count)
		free(boundary->allowed[--boundary->allowed_count]);
	free(boundary->allowed);
	*boundary = (struct boundary){ 0 };
}

char *boundary_root(const char *folder)
{
	struct repository found = { 0 };
	char *root;

	if (!repository_find(folder, &found))
		return realpath(folder, NULL);
	root = mem_strdup(found.top);
	repository_done(&found);
	return root;
}

const char *boundary_root_name(const char *root)
{
	struct repository found = { 0 };
	bool is_one = root && repository_find(root, &found);

	repository_done(&found);
	return is_one ? "the repository" : "the folder of the file";
}

/* ---- paths ----------------------------------------------------------- */

static char *resolve(const char *path, int links);

/* The target of a link, even if nothing is there. */
static char *resolve_link(const char *folder, const char *path, int links)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	char *next, *out;

	if (n < 0 || links >= LINKS_MAX)
		return NULL;
	target[n] = '\0';
	next = path_join(folder, target);
	out = resolve(next, links + 1);
	free(next);
	return out;
}

/* The path without links, even if its last parts do not exist yet.  NULL if
 * that can't be determined.  Returns new. */
static char *resolve(const char *path, int links)
{
	char *real = realpath(path, NULL), *folder, *parent;
	const char *base = path_base(path);
	struct stat st;

	if (real || (errno != ENOENT && errno != ENOTDIR))
		return real;
	if (!strcmp(base, "..") || !*path || !strcmp(path, "/"))
		return NULL;
	folder = path_folder(path);
	parent = resolve(folder, links);
	if (parent && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		real = resolve_link(parent, path, links);
	else if (parent)
		real = path_join(parent, *base ? base : ".");
	free(parent);
	free(folder);
	return real;
}

const char *boundary_holder(const struct boundary *boundary, const char *root,
			    const char *path)
{
	char *real = resolve(path, 0);
	const char *out = NULL, *rest;
	size_t i;

	if (!real)
		return NULL;
	rest = root ? path_below(root, real) : NULL;
	if (rest && !path_has_git(rest))
		out = root;
	for (i = 0; !out && i < boundary->allowed_count; i++)
		if (path_below(boundary->allowed[i], real))
			out = boundary->allowed[i];
	free(real);
	return out;
}

enum boundary_side boundary_side(const struct boundary *boundary,
				 const char *root, const char *path)
{
	const char *holder = boundary_holder(boundary, root, path);

	if (!holder)
		return BOUNDARY_OUTSIDE;
	return holder == root ? BOUNDARY_WITHIN : BOUNDARY_ALLOWED;
}

/* Whether the text contains "..", other than in a range: {0..9}. */
static bool has_way_up(const char *text)
{
	const char *at = text;

	for (; (at = strstr(at, "..")); at += 2)
		if (at == text || !isdigit((unsigned char)at[-1]) ||
		    !(isdigit((unsigned char)at[2]) || at[2] == '-'))
			return true;
	return false;
}

enum boundary_side boundary_side_of_pattern(const struct boundary *boundary,
					    const char *root,
					    const char *pattern)
{
	size_t plain = strcspn(pattern, "{\\");
	enum boundary_side side;
	char *start, *folder;

	if (!pattern[plain])
		return boundary_side(boundary, root, pattern);
	/* "{/etc,a}" could begin anywhere. */
	if (!plain || has_way_up(pattern + plain))
		return boundary_side(boundary, NULL, "/");
	start = mem_printf("%.*sx", (int)plain, pattern);
	folder = path_folder(start);
	side = boundary_side(boundary, root, folder);
	free(folder);
	free(start);
	return side;
}
