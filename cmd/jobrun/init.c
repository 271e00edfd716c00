/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a starter repository: the files of examples/gitops, and the schema for
 * editors.  Each file is written whole or not at all, and a second 'init' adds
 * missing ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/init_job.h"
#include "cmd/jobrun/ui/embedded.h"
#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/describe/json_schema.h"
#include "schema/describe/json_schema_values.h"

#define SCHEMA_FILE "job.schema.json"
#define EXISTING_MAX ((size_t)16 << 20)

struct init_opts {
	const char *ci;
	bool force;
	struct init_job job;
};

static const struct opt options[] = {
	{ 0, "ci", OPT_CHOICE, offsetof(struct init_opts, ci),
	  "both|github|gitlab|none",
	  "which CI workflow to write; both is the "
	  "default" },
	{ 0, "force", OPT_FLAG, offsetof(struct init_opts, force), NULL,
	  "overwrite existing files" },
	{ 0, "script", OPT_STRING, offsetof(struct init_opts, job.script),
	  "FILE", "the training script, below DIR" },
	{ 0, "provider", OPT_STRING, offsetof(struct init_opts, job.provider),
	  "NAME", "where the job runs; local is the default" },
	{ 0, "from", OPT_STRING, offsetof(struct init_opts, job.from), "FILE",
	  "convert this file; see 'jobrun import'" },
	{ 0 },
};

struct init {
	struct app *app;
	const struct init_opts *opts;
	const char *folder; /* "" for the current folder */
	unsigned umask;
	size_t made, kept;
	char *job; /* the job file, if it is the user's own */
};

static bool is_wanted(const struct init *init, const char *path)
{
	const char *ci = init->opts->ci;

	if (init->job &&
	    (text_starts(path, "hello/") || !strcmp(path, "jobs/hello.yaml")))
		return false;
	if (text_starts(path, ".github/"))
		return !strcmp(ci, "github") || !strcmp(ci, "both");
	if (!strcmp(path, ".gitlab-ci.yml"))
		return !strcmp(ci, "gitlab") || !strcmp(ci, "both");
	if (text_starts(path, "ci/"))
		return strcmp(ci, "none") != 0;
	return true;
}

static bool has_text(const char *path, const char *text)
{
	struct error ignored;
	struct stat st;
	char *there = NULL;
	size_t len;
	bool same;

	/* Only regular files are read, as a pipe could block. */
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		there = file_read(path, EXISTING_MAX, &len, &ignored);
	same = there && len == strlen(text) && !memcmp(there, text, len);
	free(there);
	return same;
}

/* Replaces an existing file, with --force. */
static int replace(const char *path, unsigned mode, const char *text,
		   struct error *err)
{
	if (file_write(path, text, strlen(text), err) < 0)
		return -1;
	if (chmod(path, mode) < 0)
		return error_errno(err, "cannot change the mode of '%s'", path);
	return 0;
}

static int write_one(struct init *init, const char *name, bool executable,
		     const char *text, struct error *err)
{
	unsigned mode = (executable ? 0777 : 0666) & ~init->umask;
	char *path = path_join(init->folder, name);
	char *folder = path_folder(path);
	struct buf line = { 0 };
	const char *done = "made";
	int ret;

	ret = folder_make_mode(folder, 0777, err);
	if (ret == 0)
		ret = file_create(path, mode, text, strlen(text), err);
	if (ret == 1 && has_text(path, text)) {
		done = "there";
		ret = 0;
	} else if (ret == 1 && init->opts->force) {
		done = "replaced";
		ret = replace(path, mode, text, err);
	}
	if (ret == 1) {
		init->kept++;
		app_say(init->app, "'%s' exists already; left unchanged", path);
		ret = 0;
	} else if (ret == 0) {
		init->made++;
		buf_printf(&line, "%-8s  %s\n", done, path);
		app_print(init->app, &line);
	}
	buf_done(&line);
	free(folder);
	free(path);
	return ret;
}

static int write_schema(struct init *init, struct error *err)
{
	struct buf text = { 0 };
	const struct catalogue *catalogue;
	struct outline all;
	json_t *schema;
	int ret;

	catalogue = catalogue_get(err);
	if (!catalogue)
		return -1;
	outline_init(&all, providers);
	schema = json_schema(&all, JOBRUN_VERSION);
	json_schema_values(schema, catalogue);
	json_print(schema, &text);
	json_decref(schema);
	ret = write_one(init, SCHEMA_FILE, false, buf_text(&text), err);
	buf_done(&text);
	return ret;
}

/* Writes the job of the user's own script or file, if there is one. */
static int write_job(struct init *init, struct error *err)
{
	const struct init_job *how = &init->opts->job;
	struct buf text = { 0 };
	char *name = NULL;
	int ret =
		init_job_make(init->app, init->folder, how, &name, &text, err);

	if (ret == 0) {
		init->job = mem_printf("jobs/%s.yaml", name);
		ret = write_one(init, init->job, false, buf_text(&text), err);
	}
	free(name);
	buf_done(&text);
	return ret < 0 ? -1 : 0;
}

static int write_all(struct init *init, struct error *err)
{
	const struct embedded *file;

	if (write_job(init, err) < 0)
		return -1;
	for (file = starter_files; file->path; file++)
		if (is_wanted(init, file->path) &&
		    write_one(init, file->path, file->executable, file->text,
			      err) < 0)
			return -1;
	return write_schema(init, err);
}

/* Writes a path that can be pasted into a shell. */
static void put_quoted(const char *path, struct buf *out)
{
	const char *p;

	if (!path[strspn(path, "abcdefghijklmnopqrstuvwxyz0123456789_./-"
			       "ABCDEFGHIJKLMNOPQRSTUVWXYZ")]) {
		buf_puts(out, path);
		return;
	}
	buf_putc(out, '\'');
	for (p = path; *p; p++) {
		if (*p == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *p);
	}
	buf_putc(out, '\'');
}

static void print_next(const struct init *init)
{
	char *jobs = path_join(init->folder, init->job ? init->job : "jobs");
	struct buf text = { 0 };

	buf_puts(&text, "\nNow:\n  jobrun plan ");
	put_quoted(jobs, &text);
	buf_puts(&text, "\n  jobrun apply ");
	put_quoted(jobs, &text);
	buf_putc(&text, '\n');
	app_print(init->app, &text);
	buf_done(&text);
	free(jobs);
}

static int run(struct app *app, int argc, char **argv)
{
	struct init_opts opts = { .ci = "both" };
	struct init init = { .app = app, .opts = &opts, .folder = "" };
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_init, argc, argv, &opts, 0, 1, &status);
	if (first < 0)
		return status;
	if (first < argc && !argv[first][0]) {
		error_set(&err, ERROR_USAGE, "the name of the folder is empty");
		return app_fail(app, &err);
	}
	if (first < argc && strcmp(argv[first], ".") != 0)
		init.folder = argv[first];
	init.umask = umask(0);
	umask(init.umask);
	if (write_all(&init, &err) < 0)
		return app_fail(app, &err);
	if (init.kept)
		app_say(app, "%zu file%s left unchanged; --force overwrites %s",
			init.kept, init.kept == 1 ? "" : "s",
			init.kept == 1 ? "it" : "them");
	print_next(&init);
	free(init.job);
	return 0;
}

const struct command cmd_init = {
	.name = "init",
	.group = GROUP_FILES,
	.args = "[--ci both|github|gitlab|none] [--force] [--script FILE] "
		"[--provider NAME] [--from FILE] [DIR]",
	.summary = "write a starter repository: a job and its review in CI",
	.help = "DIR may be empty, new, or a repository; existing files "
		"stay.  The job is that\n"
		"of the training script that it has, or an example.\n"
		"  jobrun init my-training\n"
		"  jobrun init --from train.sbatch\n",
	.options = options,
	.run = run,
};
