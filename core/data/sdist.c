/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/sdist.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/beneath.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/archive_writer.h"
#include "core/data/tree.h"

#define SECRETS_MAX 20 /* the most names in a warning */
#define NAME_HEX 12    /* digits of the digest in the archive's name */
#define TEMPORARY ".jobrun-package."

/* Files that builds, tests and editors leave in a project. */
static const char left_behind[] = "/dist/\n"
				  "/build/\n"
				  "*.egg-info/\n"
				  ".eggs/\n"
				  ".venv/\n"
				  "/venv/\n"
				  ".tox/\n"
				  ".nox/\n"
				  ".mypy_cache/\n"
				  ".pytest_cache/\n"
				  ".ruff_cache/\n"
				  ".ipynb_checkpoints/\n" TEMPORARY "*\n";

struct sdist_packing {
	struct arena *mem;
	const char *folder; /* as the caller gave it, without links */
	const char *name;   /* of the package */
	const char *root;   /* the folder to pack */
	/* the package's folder in the archive: "trainer/", or "" */
	const char *below;
	struct tree tree;
	char *setup; /* the contents of setup.py, or NULL: the folder has one */
};

static bool has_file(const char *folder, const char *name)
{
	char *path = path_join(folder, name);
	struct stat st;
	bool is = stat(path, &st) == 0 && S_ISREG(st.st_mode);

	free(path);
	return is;
}

static bool is_project(const char *folder)
{
	return has_file(folder, "setup.py") ||
	       has_file(folder, "pyproject.toml");
}

/* Keeps the characters that a distribution's name may have: PEP 508. */
static const char *distribution_name(const char *base, struct arena *mem)
{
	char *name = arena_strdup(mem, base);
	char *p;

	for (p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			*p = '_';
	return isalnum((unsigned char)name[0]) ? name : "package";
}

/* Chooses the folder to pack, and whether it needs a setup.py. */
static int choose_root(struct sdist_packing *packing, const char *within,
		       bool *needs_setup, struct error *err)
{
	const char *folder = packing->folder;
	const char *base = path_base(folder);
	char *parent = path_folder(folder);

	packing->root = folder;
	packing->below = "";
	packing->name = distribution_name(base, packing->mem);
	*needs_setup = false;
	if (!is_project(folder) && has_file(folder, "__init__.py")) {
		if ((!within || path_below(within, parent)) &&
		    is_project(parent)) {
			packing->root = arena_strdup(packing->mem, parent);
		} else {
			packing->below =
				arena_printf(packing->mem, "%s/", base);
			*needs_setup = true;
		}
	} else if (!is_project(folder)) {
		*needs_setup = true;
	}
	free(parent);
	if (!base[0])
		return error_set(err, ERROR_USAGE,
				 "'%s' is not a valid name for a package",
				 folder);
	return 0;
}

static const struct tree_entry *find_file(const struct sdist_packing *packing,
					  const char *path)
{
	size_t below = strlen(packing->below);
	size_t low = 0, high = packing->tree.count;

	if (strncmp(path, packing->below, below) != 0)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct tree_entry *entry = &packing->tree.entries[middle];
		int order = strcmp(path + below, entry->path);

		if (order == 0)
			return entry->kind == TREE_FILE ? entry : NULL;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static bool has_entry(const struct sdist_packing *packing, const char *top,
		      const char *path, const char *end)
{
	char *name = mem_printf("%s%s%s", top, path, end);
	bool is = find_file(packing, name);

	free(name);
	return is;
}

/* Every folder down to the module needs an __init__.py, or find_packages()
 * leaves it out. */
static int check_packages(const struct sdist_packing *packing, char *path,
			  struct error *err)
{
	char *slash;
	int ret = 0;

	for (slash = strchr(path, '/'); slash && ret == 0;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (!has_entry(packing, "", path, "/__init__.py"))
			ret = error_set(err, ERROR_INVALID,
					"'%s/__init__.py' is missing: without "
					"it setuptools skips the package",
					path);
		*slash = '/';
	}
	return ret;
}

/* Checks that `python3 -m MODULE` will find the module. */
static int check_module(const struct sdist_packing *packing, const char *module,
			struct error *err)
{
	char *path = mem_strdup(module);
	bool found = false;
	int ret = 0;
	char *p;

	for (p = path; *p; p++)
		if (*p == '.')
			*p = '/';
	found = has_entry(packing, "", path, ".py") ||
		has_entry(packing, "", path, "/__main__.py") ||
		has_entry(packing, "src/", path, ".py") ||
		has_entry(packing, "src/", path, "/__main__.py");
	if (!found)
		ret = error_set(err, ERROR_INVALID,
				"module '%s' is not in '%s': it has neither "
				"%s.py nor %s/__main__.py",
				module, packing->root, path, path);
	else if (packing->setup)
		ret = check_packages(packing, path, err);
	free(path);
	return ret;
}

/* Whether a file is a module beside the packages, which setup.py must name.  A
 * name that is not an identifier cannot be imported, and would need quoting. */
static bool is_module(const struct sdist_packing *packing,
		      const struct tree_entry *entry)
{
	size_t len = strlen(entry->path);
	size_t i;

	if (packing->below[0] || entry->kind != TREE_FILE ||
	    !text_ends(entry->path, ".py"))
		return false;
	for (i = 0; i < len - 3; i++)
		if (!isalnum((unsigned char)entry->path[i]) &&
		    entry->path[i] != '_')
			return false;
	return true;
}

static int make_setup(struct sdist_packing *packing, struct error *err)
{
	struct buf text = { 0 };
	bool any = false;
	size_t i;

	buf_puts(&text, "# Made by jobrun: the folder has no setup.py.\n"
			"from setuptools import find_packages, setup\n"
			"\n"
			"setup(\n");
	buf_printf(&text, "    name=\"%s\",\n", packing->name);
	buf_puts(&text, "    version=\"0.0.0\",\n"
			"    packages=find_packages(),\n"
			"    package_data={\"\": [\"*\"]},\n"
			"    py_modules=[");
	for (i = 0; i < packing->tree.count; i++) {
		const struct tree_entry *entry = &packing->tree.entries[i];

		any = any || text_ends(entry->path, ".py");
		if (is_module(packing, entry))
			buf_printf(&text, "\"%.*s\", ",
				   (int)strlen(entry->path) - 3, entry->path);
	}
	buf_puts(&text, "],\n)\n");
	packing->setup = buf_take(&text);
	if (any)
		return 0;
	return error_set(err, ERROR_INVALID, "'%s' holds no Python files",
			 packing->folder);
}

/* Excludes earlier archives from the next one. */
static char *own_patterns(const struct sdist_packing *packing, const char *to)
{
	char *real = realpath(to, NULL);
	char *folder = real ? real : path_absolute(to);
	char *path = strcmp(folder, packing->root)
			     ? path_relative(packing->root, folder)
			     : mem_strdup("");
	struct buf text = { 0 };
	const char *p;

	buf_puts(&text, left_behind);
	if (path[0] != '/' && !text_starts(path, "..")) {
		buf_putc(&text, '/');
		for (p = path; *p; p++) {
			if (strchr("*?[\\", *p))
				buf_putc(&text, '\\');
			buf_putc(&text, *p);
		}
		if (path[0])
			buf_putc(&text, '/');
		buf_printf(&text, "%s-", packing->name);
		buf_fill(&text, '?', NAME_HEX);
		buf_puts(&text, ".tar.gz\n");
	}
	free(path);
	free(folder);
	return buf_take(&text);
}

static int write_entries(const struct sdist_packing *packing, const char *top,
			 int fd, const char *path, struct error *err)
{
	struct archive_writer *writer =
		archive_writer_new(fd, path, ARCHIVE_GZIP, err);
	char *prefix = mem_printf("%s/%s", top, packing->below);
	char *setup = mem_printf("%s/setup.py", top);
	int ret = -1;
	size_t i;

	if (!writer)
		goto out;
	prefix[strlen(prefix) - 1] = '\0';
	if (packing->setup &&
	    archive_writer_add(writer, setup, packing->setup,
			       strlen(packing->setup), err) < 0)
		goto out;
	for (i = 0; i < packing->tree.count; i++)
		if (archive_writer_add_entry(
			    writer, prefix, packing->tree.folder,
			    &packing->tree.entries[i], err) < 0)
			goto out;
	ret = archive_writer_finish(writer, err);
	writer = NULL;
out:
	archive_writer_free(writer);
	free(setup);
	free(prefix);
	return ret;
}

/* Names the archive by a digest of its contents, which also determine every
 * byte. */
static void name_contents(const struct sdist_packing *packing,
			  struct digest *out)
{
	struct digester *digester = digester_new();
	size_t i;

	digester_add_text(digester, "sdist 1");
	digester_add_text(digester, packing->name);
	digester_add_text(digester, packing->below);
	digester_add_text(digester, packing->setup ? packing->setup : "");
	for (i = 0; i < packing->tree.count; i++) {
		const struct tree_entry *entry = &packing->tree.entries[i];

		digester_add_text(digester, entry->path);
		digester_add_text(digester, entry->executable ? "x" : "");
		digester_add_text(digester, entry->target ? entry->target : "");
		digester_add_text(digester, entry->digest.hex);
	}
	digester_end(digester, out);
	digester_free(digester);
}

static int digest_archive(int fd, const char *path, struct sdist *out,
			  struct error *err)
{
	struct digester *digester;
	int ret;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_errno(err, "cannot read '%s'", path);
	digester = digester_new();
	out->size_bytes = 0;
	out->crc32c = 0;
	ret = digester_add_file(digester, fd, path, &out->size_bytes,
				&out->crc32c, err);
	if (ret == 0)
		digester_end(digester, &out->digest);
	digester_free(digester);
	return ret;
}

/* Writes beside the final archive, then renames. */
static int write_archive(const struct sdist_packing *packing, const char *to,
			 struct sdist *out, struct error *err)
{
	char *beside = path_join(to, TEMPORARY "XXXXXX");
	struct digest contents;
	char *top = NULL;
	int ret = -1;
	int fd = -1;

	name_contents(packing, &contents);
	top = mem_printf("%s-%.*s", packing->name, NAME_HEX, contents.hex);
	out->path = arena_printf(packing->mem, "%s/%s.tar.gz", to, top);
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0) {
		error_errno(err, "cannot write to '%s'", to);
		goto out;
	}
	if (write_entries(packing, top, fd, out->path, err) < 0 ||
	    digest_archive(fd, out->path, out, err) < 0)
		goto out;
	if (fsync(fd) < 0 || rename(beside, out->path) < 0) {
		error_errno(err, "cannot write '%s'", out->path);
		goto out;
	}
	ret = 0;
out:
	if (fd >= 0) {
		close(fd);
		if (ret < 0)
			unlink(beside);
	}
	free(top);
	free(beside);
	return ret;
}

/* The first of them; NULL if there is none. */
static const char *name_secrets(const struct tree *tree, struct arena *mem)
{
	struct buf names = { 0 };
	const char *out = NULL;
	size_t i, n = 0;

	for (i = 0; i < tree->count; i++)
		if (tree_entry_is_secret(&tree->entries[i]) &&
		    n++ < SECRETS_MAX)
			buf_printf(&names, "%s%s", names.len ? ", " : "",
				   tree->entries[i].path);
	if (n > SECRETS_MAX)
		buf_printf(&names, " and %zu more", n - SECRETS_MAX);
	if (n)
		out = arena_strdup(mem, names.data);
	buf_done(&names);
	return out;
}

/* Leaves out empty folders, as setuptools and Git do; the archive's own folder
 * may be one. */
static void drop_empty_folders(struct tree *tree)
{
	size_t i, count = 0;

	for (i = 0; i < tree->count; i++)
		if (tree->entries[i].kind != TREE_FOLDER)
			tree->entries[count++] = tree->entries[i];
	tree->count = count;
}

int sdist_make(const char *folder, const struct source_options *given,
	       const char *module, const char *to, struct arena *mem,
	       struct sdist *out, struct error *err)
{
	struct source_options options =
		given ? *given : (struct source_options){ 0 };
	struct sdist_packing packing = { .mem = mem };
	struct sdist made = { 0 };
	char *real = beneath_find(options.root, folder, err);
	char *patterns = NULL;
	bool needs_setup;
	int ret = -1;

	if (!real) {
		if (access(folder, F_OK) < 0)
			error_errno(err, "cannot read '%s'", folder);
		goto out;
	}
	packing.folder = real;
	if (choose_root(&packing, options.root, &needs_setup, err) < 0)
		goto out;
	patterns = own_patterns(&packing, to);
	options.also = patterns;
	if (tree_read(packing.root, &options, mem, &packing.tree, err) < 0)
		goto out;
	drop_empty_folders(&packing.tree);
	if (needs_setup && make_setup(&packing, err) < 0)
		goto out;
	if (module && check_module(&packing, module, err) < 0)
		goto out;
	if (folder_make(to, err) < 0 ||
	    write_archive(&packing, to, &made, err) < 0)
		goto out;
	made.root = arena_strdup(mem, packing.root);
	made.files = packing.tree.files + needs_setup;
	made.bytes = packing.tree.bytes;
	made.made_setup = needs_setup;
	made.secrets = name_secrets(&packing.tree, mem);
	*out = made;
	ret = 0;
out:
	free(packing.setup);
	free(patterns);
	free(real);
	return ret;
}
