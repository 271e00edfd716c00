/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/package.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/text.h"

static bool has(const char *folder, const char *name, mode_t type)
{
	char *path = path_join(folder, name);
	struct stat st;
	bool is = stat(path, &st) == 0 && (st.st_mode & S_IFMT) == type;

	free(path);
	return is;
}

static bool is_source(const char *folder)
{
	return has(folder, "setup.py", S_IFREG) ||
	       has(folder, "pyproject.toml", S_IFREG) ||
	       has(folder, "PKG-INFO", S_IFREG);
}

static void add_path(struct buf *out, const char *folder)
{
	if (out->len)
		buf_putc(out, ':');
	buf_puts(out, folder);
}

/* A src/ with an __init__.py is itself a package called src, whose modules must
 * not become importable at the top level. */
static void add_source(struct buf *out, const char *folder)
{
	char *src = path_join(folder, "src");

	if (has(folder, "src", S_IFDIR) && !has(src, "__init__.py", S_IFREG))
		add_path(out, src);
	add_path(out, folder);
	free(src);
}

static void add_wheel_data(struct buf *out, const char *folder)
{
	static const char *const schemes[] = { "purelib", "platlib" };
	char *path;
	size_t i;

	for (i = 0; i < COUNT(schemes); i++) {
		if (!has(folder, schemes[i], S_IFDIR))
			continue;
		path = path_join(folder, schemes[i]);
		add_path(out, path);
		free(path);
	}
}

static int is_shown(const struct dirent *item)
{
	return item->d_name[0] != '.';
}

/* Compares bytes: alphasort() would depend on the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

char *package_root(const char *folder, struct error *err)
{
	struct buf out = { 0 };
	struct dirent **items;
	char *top = NULL;
	int count, i;

	count = scandir(folder, &items, is_shown, by_name);
	if (count < 0) {
		error_errno(err, "cannot read '%s'", folder);
		return NULL;
	}
	if (count == 1)
		top = path_join(folder, items[0]->d_name);
	if (top && is_source(top)) {
		add_source(&out, top);
	} else if (is_source(folder)) {
		add_source(&out, folder);
	} else {
		add_path(&out, folder);
		for (i = 0; i < count; i++) {
			char *data = path_join(folder, items[i]->d_name);

			if (text_ends(data, ".data"))
				add_wheel_data(&out, data);
			free(data);
		}
	}
	free(top);
	for (i = 0; i < count; i++)
		free(items[i]);
	free(items);
	return buf_take(&out);
}
