/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/validate_fix.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/jobrun/ui/app.h"
#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/job/boundary.h"

#define JOB_FILE_MAX ((size_t)8 << 20)

struct mended {
	char *path; /* the file itself if it was a link */
	char *text;
	unsigned mode;
};

struct mending {
	struct mended *files;
	size_t count;
	size_t edits;
	struct buf diff;
};

static size_t count_duplicates(const struct problems *found)
{
	size_t i, n = 0;

	for (i = 0; i < found->count; i++)
		n += !strcmp(found->items[i].rule, "duplicate-key");
	return n;
}

/* Whether a fix leaves fewer problems in the file than before. */
static bool is_better(const struct schema_options *options, const char *path,
		      const char *before, const char *after)
{
	const char *const texts[] = { before, after };
	size_t counts[2], twice[2];
	struct error err;
	int i;

	for (i = 0; i < 2; i++) {
		struct problems found = { 0 };
		struct jobs jobs = { 0 };

		schema_load_text(path, texts[i], strlen(texts[i]), options,
				 &jobs, &found, &err);
		counts[i] = found.errors + found.warnings;
		twice[i] = count_duplicates(&found);
		problems_done(&found);
		jobs_done(&jobs);
	}
	return counts[1] < counts[0] && twice[1] <= twice[0];
}

/* Whether the path is a link that leads out of its folder. */
static bool leads_out(const char *path)
{
	const struct boundary nothing = { 0 };
	char *folder = path_folder(path);
	char *root = boundary_root(folder);
	bool out = boundary_side(&nothing, root, path) != BOUNDARY_WITHIN;

	free(root);
	free(folder);
	return out;
}

static int add_file(struct app *app, struct mending *all,
		    const struct schema_options *options,
		    const struct problems *found, const char *path,
		    struct error *err)
{
	char *before, *after;
	struct mended one = { 0 };
	size_t len, count = 0;
	struct stat st;

	if (!strcmp(path, "-"))
		return 0;
	if (leads_out(path)) {
		app_say(app,
			"'%s' left unchanged: it is a link that leads "
			"elsewhere",
			path);
		return 0;
	}
	before = file_read(path, JOB_FILE_MAX, &len, err);
	if (!before)
		return -1;
	after = problems_mend(found, path, before, len, &count);
	one.path = realpath(path, NULL);
	if (!after || !one.path || stat(one.path, &st) < 0 ||
	    !is_better(options, path, before, after)) {
		free(one.path);
		free(after);
		free(before);
		return 0;
	}
	lines_diff(path, before, after, &all->diff);
	one.text = after;
	one.mode = st.st_mode & 07777;
	all->files = mem_grow(all->files, all->count + 1, sizeof(one));
	all->files[all->count++] = one;
	all->edits += count;
	free(before);
	return 0;
}

static int write_all(const struct mending *all, struct error *err)
{
	size_t i;

	for (i = 0; i < all->count; i++) {
		const struct mended *one = &all->files[i];

		if (file_write(one->path, one->text, strlen(one->text), err) <
		    0)
			return -1;
		if (chmod(one->path, one->mode) < 0)
			return error_errno(err,
					   "cannot restore the mode of "
					   "'%s'",
					   one->path);
	}
	return 0;
}

int validate_fix(struct app *app, const struct schema_options *options,
		 const struct problems *found, bool yes, struct error *err)
{
	struct mending all = { 0 };
	const char *last = "";
	int ret = -1;
	size_t i;

	for (i = 0; i < found->count; i++) {
		const char *file = found->items[i].at.file;

		if (!found->items[i].edit_count || !strcmp(file, last))
			continue;
		last = file;
		if (add_file(app, &all, options, found, file, err) < 0)
			goto out;
	}
	app_print(app, &all.diff);
	ret = 0;
	if (!all.edits)
		app_say(app, "nothing can be fixed automatically");
	else if (!yes && !app->err_terminal)
		app_say(app, "nothing written; pass --yes to write this");
	else if (!yes && !app_confirm(app, "Write these changes?"))
		app_say(app, "nothing written");
	else
		ret = write_all(&all, err) < 0 ? -1 : (int)all.edits;
out:
	for (i = 0; i < all.count; i++) {
		free(all.files[i].path);
		free(all.files[i].text);
	}
	free(all.files);
	buf_done(&all.diff);
	return ret;
}
