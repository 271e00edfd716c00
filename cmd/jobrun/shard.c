/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/shard.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/interrupt.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/shard/samples.h"
#include "core/shard/shard_make.h"
#include "providers/stores.h"

#define SHARD_BYTES 256000000
#define NO_BYTES UINT64_MAX /* without --bytes */
#define SHOW_EVERY_MS 200
#define LIST_MAX ((size_t)1 << 34)
/* Threads that use the network mostly wait. */
#define REMOTE_THREADS 4
#define THREADS_MAX 1024

static const struct opt options[] = {
	{ 0, "bytes", OPT_SIZE, offsetof(struct shard_opts, bytes), "SIZE",
	  "at most 64MB, 1GiB ... per shard (256MB)" },
	{ 0, "samples", OPT_COUNT, offsetof(struct shard_opts, samples),
	  "COUNT", "at most this many samples per shard" },
	{ 0, "shards", OPT_COUNT, offsetof(struct shard_opts, shards), "COUNT",
	  "exactly this many shards, of equal sample count" },
	{ 0, "shuffle", OPT_NUMBER, offsetof(struct shard_opts, seed), "SEED",
	  "shuffle samples; same SEED, same order" },
	{ 0, "classes", OPT_FLAG, offsetof(struct shard_opts, classes), NULL,
	  "the top folder is the class, numbered in .cls" },
	{ 0, "name", OPT_STRING, offsetof(struct shard_opts, name), "NAME",
	  "name shards NAME-000000.tar (shard)" },
	{ 'C', "directory", OPT_STRING, offsetof(struct shard_opts, directory),
	  "DIR", "the folder that paths of a list start from" },
	{ 0, "null", OPT_FLAG, offsetof(struct shard_opts, null), NULL,
	  "paths of a list end with NUL, not a newline" },
	{ 0, "follow-links", OPT_FLAG,
	  offsetof(struct shard_opts, follow_links), NULL,
	  "follow symbolic links; else skip them" },
	{ 0, "sha256", OPT_FLAG, offsetof(struct shard_opts, sha256), NULL,
	  "also put the SHA-256 of each shard into the index" },
	{ 0, "sync", OPT_FLAG, offsetof(struct shard_opts, sync), NULL,
	  "sync each shard to disk" },
	{ 0, "force", OPT_FLAG, offsetof(struct shard_opts, force), NULL,
	  "replace existing shards" },
	{ 'j', "jobs", OPT_COUNT, offsetof(struct shard_opts, threads), "COUNT",
	  "shards at once (one per core)" },
	{ 0, "verify", OPT_FLAG, offsetof(struct shard_opts, verify), NULL,
	  "read shards back and compare them with their index" },
	{ 0, "list", OPT_FLAG, offsetof(struct shard_opts, list), NULL,
	  "list the samples of shards" },
	{ 0, "format", OPT_CHOICE, offsetof(struct shard_opts, format),
	  "text|json", "the output format; text is the default" },
	{ 0 },
};

/* ---- sources ----------------------------------------------------------- */

static bool is_url(const char *path)
{
	return strstr(path, "://");
}

static int add_list(const struct shard_opts *opts, struct samples *all,
		    const struct samples_how *how, struct error *err)
{
	size_t len;
	char *text = file_read_fd(STDIN_FILENO, "standard input", LIST_MAX,
				  &len, err);
	int ret;

	if (!text)
		return -1;
	ret = samples_add_list(all, text, len, opts->null ? '\0' : '\n',
			       opts->directory, how, err);
	free(text);
	return ret;
}

static int take_bytes(void *arg, const char *data, size_t len)
{
	return fd_write(*(const int *)arg, data, len);
}

/* Adds a tar archive in a bucket, of which it makes a copy. */
static int add_object(struct app *app, const char *url, struct samples *all,
		      const struct samples_how *how, struct error *err)
{
	const struct object_env env = { .trace_http = app->trace_http };
	struct object_store *store = object_store_new(object_schemes, &env);
	struct arena *mem = arena_new();
	struct object object;
	int copy = -1;
	int ret = object_stat(store, url, mem, &object, err);

	if (ret == 0 && !object.exists)
		ret = error_set(err, ERROR_FAILED, "'%s' does not exist", url);
	if (ret == 0)
		ret = copy = file_nameless("jobrun-tar", url, err);
	if (ret >= 0)
		ret = object_read(store, &object, 0, object.size_bytes,
				  take_bytes, &copy, err);
	if (ret == 0)
		ret = samples_add_copy(all, url, copy, how, err);
	else if (copy >= 0)
		close(copy);
	object_store_free(store);
	arena_free(mem);
	return ret;
}

static int add_source(struct app *app, const struct shard_opts *opts,
		      const char *path, struct samples *all,
		      const struct samples_how *how, struct error *err)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return add_list(opts, all, how, err);
	if (is_url(path))
		return add_object(app, path, all, how, err);
	if (stat(path, &st) < 0)
		return error_errno(err, "cannot read '%s'", path);
	if (S_ISDIR(st.st_mode))
		return samples_add_folder(all, path, how, err);
	return samples_add_tar(all, path, how, err);
}

struct finding {
	struct app *app;
	int64_t shown_ms;
};

static void show_found(void *arg, size_t count)
{
	struct finding *finding = arg;
	int64_t now = time_monotonic_ms();
	char line[80];

	if (now - finding->shown_ms < SHOW_EVERY_MS)
		return;
	finding->shown_ms = now;
	snprintf(line, sizeof(line), "%zu files found", count);
	app_stand(finding->app, NULL, line);
}

static int gather(struct app *app, const struct shard_opts *opts, char **paths,
		  int count, const char *dest, struct samples *all,
		  struct error *err)
{
	struct finding finding = { .app = app };
	struct samples_how how = {
		.sizes = opts->bytes,
		.follow_links = opts->follow_links,
		.found = show_found,
		.arg = &finding,
	};
	struct stat st;
	int i, ret = 0;

	/* If the output is within the source, do not read it as input. */
	if (!is_url(dest) && stat(dest, &st) == 0) {
		how.avoid_device = st.st_dev;
		how.avoid_inode = st.st_ino;
	}
	for (i = 0; i < count && ret == 0; i++)
		ret = add_source(app, opts, paths[i], all, &how, err);
	app_stand(app, NULL, "");
	return ret;
}

static void say_skipped(const struct app *app, const struct samples *all)
{
	static const struct {
		const char *one, *many, *why;
	} words[SKIP_COUNT] = {
		[SKIP_LINK] = { "link", "links",
				"--follow-links takes what symbolic ones lead "
				"to" },
		[SKIP_SPECIAL] = { "device, pipe or socket",
				   "devices, pipes or sockets",
				   "only files go into shards" },
		[SKIP_HIDDEN] = { "hidden file or folder",
				  "hidden files or folders",
				  "WebDataset makes no samples of them" },
		[SKIP_NO_DOT] = { "file without a dot in its name",
				  "files without a dot in their names",
				  "WebDataset makes no samples of them" },
		[SKIP_META] = { "file below a folder like '__meta__'",
				"files below a folder like '__meta__'",
				"WebDataset makes no samples of them" },
		[SKIP_RESERVED] = { "file with a reserved name",
				    "files with reserved names",
				    "WebDataset has its own '__key__' and "
				    "'__url__'" },
	};
	size_t i;

	for (i = 0; i < SKIP_COUNT; i++) {
		const struct skipped *skipped = &all->skipped[i];
		char shown[200];

		if (!skipped->count)
			continue;
		snprintf(shown, sizeof(shown), "%s", skipped->first);
		text_make_printable(shown);
		if (skipped->count == 1)
			app_say(app, "skipped a %s, '%s': %s", words[i].one,
				shown, words[i].why);
		else
			app_say(app, "skipped %zu %s, such as '%s': %s",
				skipped->count, words[i].many, shown,
				words[i].why);
	}
}

/* ---- making ------------------------------------------------------------ */

struct show {
	struct app *app;
	struct loop *loop;
	struct shard_making *making;
	struct object_store *store;
	const struct samples *all;
	const struct shard_plan *plan;
	int64_t begun_ms;
	bool interrupted;
};

static void show_progress(void *arg, uint32_t events)
{
	struct show *show = arg;
	double elapsed_s =
		(double)(time_monotonic_ms() - show->begun_ms) / 1000;
	struct shard_progress now;
	char rate[32], left[32] = "", line[160];
	uint64_t todo;

	(void)events;
	shard_make_progress(show->making, &now);
	todo = show->all->count - now.samples - now.kept_samples;
	size_format(elapsed_s > 0 ? (uint64_t)((double)now.bytes / elapsed_s)
				  : 0,
		    rate, sizeof(rate));
	if (now.samples)
		duration_format(
			(long)(elapsed_s * (double)todo / (double)now.samples),
			left, sizeof(left));
	snprintf(line, sizeof(line),
		 "%zu/%zu shards  %llu/%zu samples  %s/s%s%s", now.shards,
		 show->plan->count,
		 (unsigned long long)(now.samples + now.kept_samples),
		 show->all->count, rate, *left ? "  time left " : "", left);
	if ((size_t)show->app->width < sizeof(line))
		line[show->app->width - 1] = '\0';
	app_stand(show->app, NULL, line);
	loop_add_timer(show->loop, SHOW_EVERY_MS, show_progress, show);
}

static void on_interrupt(void *arg, uint32_t number)
{
	struct show *show = arg;

	(void)number;
	if (!show->interrupted)
		app_say(show->app, "interrupted; run the same command to "
				   "resume");
	show->interrupted = true;
	if (show->making)
		shard_make_stop(show->making);
	if (show->store)
		object_store_stop(show->store);
}

static void on_end(void *arg, uint32_t events)
{
	(void)events;
	loop_stop(arg);
}

/* Shows progress until all threads have ended. */
static int follow(struct show *show, struct error *err)
{
	struct loop_event *event =
		loop_add_fd(show->loop, shard_make_fd(show->making), EPOLLIN,
			    on_end, show->loop, err);
	int ret = event ? 0 : -1;

	if (event && show->app->live)
		show_progress(show, 0);
	if (event)
		ret = loop_run(show->loop, err);
	if (ret < 0)
		shard_make_stop(show->making);
	app_stand(show->app, NULL, "");
	return ret;
}

unsigned shard_threads(const struct shard_opts *opts, bool remote)
{
	unsigned least = remote ? REMOTE_THREADS : 1, count = 1;
	cpu_set_t set;

	if (opts->threads)
		return (unsigned)opts->threads;
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		count = (unsigned)CPU_COUNT(&set);
	return count < least ? least : count;
}

static void say_made(const struct app *app, const struct shard_index *index,
		     const struct shard_progress *made, int64_t taken_ms)
{
	char size[32], rate[32], kept[64] = "";

	size_format(index->bytes, size, sizeof(size));
	size_format(made->bytes * 1000 / (uint64_t)(taken_ms ? taken_ms : 1),
		    rate, sizeof(rate));
	if (made->kept)
		snprintf(kept, sizeof(kept), "; %zu existed already",
			 made->kept);
	app_say(app, "%llu sample%s in %zu shard%s, %s, at %s/s%s",
		(unsigned long long)index->samples,
		index->samples == 1 ? "" : "s", index->count,
		index->count == 1 ? "" : "s", size, rate, kept);
}

static void print_made(struct app *app, const struct shard_opts *opts,
		       const char *dest, const struct shard_index *index)
{
	struct buf text = { 0 };
	size_t len = strlen(dest);

	while (len > 1 && dest[len - 1] == '/')
		len--;
	if (!strcmp(opts->format, "json"))
		shard_index_print(index, &text);
	else
		buf_printf(&text, "%.*s/%s\n", (int)len, dest,
			   SHARD_INDEX_NAME);
	app_print(app, &text);
	buf_done(&text);
}

static int write_shards(struct app *app, const struct shard_opts *opts,
			const char *dest, const struct samples *all,
			const struct shard_plan *plan, struct error *err)
{
	const struct shard_target_how how = { .force = opts->force,
					      .sync = opts->sync };
	const struct object_env env = { .trace_http = app->trace_http };
	const struct shard_settings settings = {
		.prefix = opts->name,
		.sha256 = opts->sha256,
		.threads = shard_threads(opts, is_url(dest)),
	};
	struct show show = { .app = app, .all = all, .plan = plan };
	struct shard_target *target = NULL;
	struct interrupt *interrupt = NULL;
	struct arena *mem = arena_new();
	struct shard_progress made;
	struct shard_index index;
	struct error ignored;
	int ret = -1;

	show.begun_ms = time_monotonic_ms();
	show.loop = loop_new(err);
	if (!show.loop)
		goto out;
	interrupt = interrupt_new(show.loop, 0, on_interrupt, &show, err);
	if (!interrupt)
		goto out;
	if (is_url(dest)) {
		show.store = object_store_new(object_schemes, &env);
		target = shard_objects_open(show.store, dest, &how);
	} else {
		target = shard_folder_open(dest, &how, err);
	}
	if (!target)
		goto out;
	show.making = shard_make_start(all, plan, &settings, target, err);
	if (!show.making)
		goto out;
	ret = follow(&show, err);
	shard_make_progress(show.making, &made);
	/* If following failed, its error matters more than the interruption. */
	if (shard_make_end(show.making, mem, &index,
			   ret == 0 ? err : &ignored) < 0)
		ret = -1;
	if (ret == 0) {
		say_made(app, &index, &made,
			 time_monotonic_ms() - show.begun_ms);
		print_made(app, opts, dest, &index);
	}
out:
	if (target)
		target->calls->free(target);
	object_store_free(show.store);
	interrupt_free(interrupt);
	loop_free(show.loop);
	arena_free(mem);
	return ret;
}

static int make(struct app *app, const struct shard_opts *opts, char **paths,
		int count, struct error *err)
{
	struct samples *all = samples_new();
	const struct shard_limits limits = {
		.samples = (uint64_t)opts->samples,
		.bytes = opts->bytes,
		.shards = (uint64_t)opts->shards,
	};
	const char *dest = paths[count - 1];
	struct shard_plan plan = { 0 };
	int ret = gather(app, opts, paths, count - 1, dest, all, err);

	if (ret == 0) {
		say_skipped(app, all);
		if (opts->classes)
			ret = samples_add_classes(all, err);
	}
	if (ret == 0)
		ret = samples_order(all, err);
	if (ret == 0 && opts->seed >= 0)
		samples_shuffle(all, (uint64_t)opts->seed);
	if (ret == 0)
		ret = shard_plan_make(all, &limits, &plan, err);
	if (ret == 0)
		ret = write_shards(app, opts, dest, all, &plan, err);
	shard_plan_done(&plan);
	samples_free(all);
	return ret;
}

/* ---- options ----------------------------------------------------------- */

static int check_name(const char *name, struct error *err)
{
	const char *p;

	if (!*name || *name == '.' || *name == '-' || strlen(name) > 200)
		return error_set(err, ERROR_USAGE, "--name cannot be '%s'",
				 name);
	for (p = name; *p; p++)
		if (*p == '/' || (unsigned char)*p <= ' ' || *p == 127)
			return error_set(err, ERROR_USAGE,
					 "--name: '%s' cannot start a file "
					 "name",
					 name);
	return 0;
}

static int check_options(struct shard_opts *opts, struct error *err)
{
	if (opts->verify && opts->list)
		return error_set(err, ERROR_USAGE,
				 "--verify and --list exclude each other");
	if (opts->threads > THREADS_MAX)
		return error_set(err, ERROR_USAGE, "--jobs: %d is the maximum",
				 THREADS_MAX);
	if (opts->bytes == NO_BYTES)
		opts->bytes = 0;
	else if (!opts->bytes)
		return error_set(err, ERROR_USAGE,
				 "--bytes: '0' is too small for a shard");
	if (opts->verify || opts->list)
		return 0;
	if (opts->shards && (opts->samples || opts->bytes))
		return error_set(err, ERROR_USAGE,
				 "--shards excludes --samples and --bytes");
	if (!opts->shards && !opts->samples && !opts->bytes)
		opts->bytes = SHARD_BYTES;
	return check_name(opts->name, err);
}

static int run(struct app *app, int argc, char **argv)
{
	struct shard_opts opts = {
		.name = "shard",
		.directory = ".",
		.seed = -1,
		.bytes = NO_BYTES,
		.format = "text",
	};
	struct error err;
	int status = 0;
	int first = options_parse(app, &cmd_shard, argc, argv, &opts, 1,
				  INT_MAX, &status);

	if (first < 0)
		return status;
	argv += first;
	argc -= first;
	if (argc < 2 && !opts.verify && !opts.list)
		return command_misused(app, &cmd_shard, "missing argument DIR");
	if (check_options(&opts, &err) < 0) {
		status = app_fail(app, &err);
		app_say(app, "see 'jobrun help shard'");
		return status;
	}
	if (opts.verify || opts.list)
		status = shard_look(app, &opts, argv, argc, &err);
	else
		status = make(app, &opts, argv, argc, &err);
	return status < 0 ? app_fail(app, &err) : 0;
}

const struct command cmd_shard = {
	.name = "shard",
	.group = GROUP_DATA,
	.args = "[OPTION]... PATH... DIR",
	.summary = "make WebDataset shards from files; verify and list them",
	.help = "  jobrun shard --classes --shuffle 1 --bytes 256MB photos "
		"shards\n"
		"  find . -name '*.jpg' | jobrun shard - gs://bucket/train\n"
		"  jobrun shard --verify shards\n\n"
		"PATH is a folder, a tar archive (to reshard it), or '-' for a "
		"list of\n"
		"files; DIR is a directory, a gs:// or s3:// URL.  Files that "
		"share a "
		"name up to\n"
		"the first dot form one sample and stay together.  Equal "
		"samples give equal\n"
		"bytes.  An interrupted command resumes.  Prints the path of "
		"the index,\n"
		"shards.json.\n",
	.options = options,
	.remote = true,
	.run = run,
};
