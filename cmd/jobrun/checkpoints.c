/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/choose.h"
#include "cmd/jobrun/view/rows.h"
#include "cmd/jobrun/ui/session.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/checkpoint/checkpoint_store.h"
#include "core/checkpoint/checkpoint_watch.h"
#include "core/data/object_store.h"
#include "core/job/traits.h"
#include "core/spec/spec.h"
#include "core/spec/spec_checkpoints.h"
#include "providers/registry.h"
#include "providers/stores.h"

struct checkpoints_opts {
	struct choose_opts choose;
	const char *format;
	const char *output;
};

static const struct opt options[] = {
	{ 0, "format", OPT_CHOICE, offsetof(struct checkpoints_opts, format),
	  "text|json", "the output format; text is the default" },
	{ 'o', "output", OPT_STRING, offsetof(struct checkpoints_opts, output),
	  "FORM", ROWS_FORMATS },
	{ 0 },
};

/* The checkpoints of a job, and the objects that are none. */
struct listed_checkpoints {
	struct arena *mem;
	const char *job_id;
	const struct run_checkpoints *how;
	const char *place;
	struct checkpoint *items; /* newest first */
	size_t count;
	const struct checkpoint *next; /* resumed from at a start; or NULL */
	json_t *skipped;
};

static void add_skipped(void *arg, const char *what, const char *why)
{
	struct listed_checkpoints *all = arg;
	json_t *one = json_object();

	json_put_text(one, "what", what);
	json_put_text(one, "why", why);
	json_array_append_new(all->skipped, one);
}

static int by_age(const void *a, const void *b)
{
	return checkpoint_compare_age(a, b);
}

/* Finds checkpoints in the store, or without one where they were written. */
static int find(struct listed_checkpoints *all, const struct run_spec *spec,
		struct checkpoint_store *store, struct error *err)
{
	const struct checkpoint *kept;
	char *folder;
	int ret;

	if (store) {
		all->place = spec->checkpoints.to;
		ret = checkpoint_store_read(store, add_skipped, all, err);
		kept = checkpoint_store_all(store, &all->count);
		all->items =
			arena_alloc(all->mem, (all->count + 1) * sizeof(*kept));
		if (all->count)
			memcpy(all->items, kept, all->count * sizeof(*kept));
	} else if (spec->hosts.names.count) {
		ret = error_set(err, ERROR_FAILED,
				"the checkpoints of '%s' stay on its hosts; "
				"set jobrun.checkpoints.to to keep them "
				"elsewhere",
				all->job_id);
	} else {
		folder = spec_checkpoints_folder(spec);
		all->place = arena_strdup(all->mem, folder);
		ret = checkpoint_watch_recorded(folder, all->mem, &all->items,
						&all->count, err);
		free(folder);
	}
	if (ret == 0 && all->count)
		qsort(all->items, all->count, sizeof(*all->items), by_age);
	return ret;
}

static void choose_next(struct listed_checkpoints *all)
{
	const struct checkpoint_order order = {
		.metric = all->how->resume == CHECKPOINT_RESUME_BEST
				  ? all->how->metric
				  : NULL,
		.maximize = all->how->maximize,
	};

	if (all->how->resume == CHECKPOINT_RESUME_NONE)
		return;
	for (size_t i = 0; i < all->count; i++)
		if (!all->next ||
		    checkpoint_compare_worth(&all->items[i], all->next,
					     &order) < 0)
			all->next = &all->items[i];
}

/* Returns the path or URL of the trainer's file or folder, as a new string. */
static char *where(const struct listed_checkpoints *all,
		   const struct checkpoint_store *store,
		   const struct checkpoint *one)
{
	char *folder = store ? checkpoint_store_place(store, one)
			     : mem_strdup(all->place);
	char *out = mem_printf("%s/%s", folder, one->name);

	free(folder);
	return out;
}

static void put_number(bool known, double value, int width, struct buf *out)
{
	char text[32] = "-";

	if (known)
		snprintf(text, sizeof(text), "%.9g", value);
	buf_printf(out, "  %*s", width, text);
}

static void put_line(const struct listed_checkpoints *all,
		     const struct checkpoint_store *store,
		     const struct checkpoint *one, struct buf *out)
{
	char size[32], when[32];
	char *at = where(all, store, one);

	size_format(one->size_bytes, size, sizeof(size));
	time_format_log(one->time_ms, when, sizeof(when));
	buf_puts(out, one == all->next ? "*" : " ");
	put_number(one->step >= 0, (double)one->step, 10, out);
	put_number(one->epoch >= 0, one->epoch, 6, out);
	if (all->how->metric)
		put_number(one->metric && isfinite(one->value), one->value, 12,
			   out);
	buf_printf(out, "  %8s  %s  %s\n", size, when, at);
	free(at);
}

static void put_text(const struct listed_checkpoints *all,
		     const struct checkpoint_store *store, struct buf *out)
{
	const json_t *one;
	size_t i;

	if (!all->count)
		buf_printf(out, "no checkpoints in %s\n", all->place);
	else
		buf_printf(out, "%11s  %6s%s%12.12s  %8s  %-19s  WHERE\n",
			   "STEP", "EPOCH", all->how->metric ? "  " : "",
			   all->how->metric ? all->how->metric : "", "SIZE",
			   "WRITTEN");
	for (i = 0; i < all->count; i++)
		put_line(all, store, &all->items[i], out);
	if (all->next)
		buf_puts(out, "* marks the checkpoint that the next start "
			      "resumes from\n");
	json_array_foreach(all->skipped, i, one) buf_printf(
		out, "%s does not count: %s\n", json_get_text(one, "what", ""),
		json_get_text(one, "why", ""));
}

static json_t *one_json(const struct listed_checkpoints *all,
			const struct checkpoint_store *store,
			const struct checkpoint *one)
{
	json_t *out = checkpoint_json(one);
	char *at = where(all, store, one);

	json_object_del(out, "formatVersion");
	json_object_del(out, "files");
	json_put_int(out, "size", (long long)one->size_bytes);
	json_put_int(out, "fileCount", (long long)one->file_count);
	json_put_text(out, "where", at);
	json_put(out, "isNext", json_boolean(one == all->next));
	free(at);
	return out;
}

static int put_rows(const struct listed_checkpoints *all,
		    const struct checkpoint_store *store, const char *format,
		    struct buf *out, struct error *err)
{
	json_t *value = json_object(), *list = json_array();
	int ret;

	for (size_t i = 0; i < all->count; i++)
		json_array_append_new(list,
				      one_json(all, store, &all->items[i]));
	json_put_int(value, "formatVersion", 1);
	json_put_text(value, "jobId", all->job_id);
	json_put_text(value, "place", all->place);
	json_put(value, "checkpoints", list);
	json_put(value, "skipped", json_incref(all->skipped));
	ret = rows_put(value, "checkpoints", "where", format, out, err);
	json_decref(value);
	return ret;
}

static int read_spec(struct session *session, const char *job_id,
		     struct arena *mem, struct run_spec *out, struct error *err)
{
	const struct provider *provider;
	struct run_record record;
	char *folder, *path;
	int ret = 0;

	if (session_run(session, job_id, 0, mem, &record, err) < 0)
		return -1;
	folder = store_run_folder(session->env.store, job_id, record.attempt);
	path = path_join(folder, "spec.json");
	/* Only runs whose tasks we start have a specification. */
	if (access(path, F_OK) == 0)
		ret = spec_read(folder, mem, out, err);
	free(path);
	free(folder);
	provider = provider_find(record.provider);
	if (ret == 0 && out->checkpoints.is_used && !out->checkpoints.to &&
	    !(provider && provider->traits & TRAIT_THIS_MACHINE))
		ret = error_set(err, ERROR_FAILED,
				"the checkpoints of '%s' stay where it runs; "
				"set jobrun.checkpoints.to to keep them "
				"elsewhere",
				job_id);
	if (ret == 0 && !out->checkpoints.is_used)
		ret = error_set(err, ERROR_FAILED,
				"'%s' keeps no checkpoints: its file has no "
				"jobrun.checkpoints",
				job_id);
	return ret;
}

static int show(struct app *app, struct session *session,
		struct listed_checkpoints *all, const char *format,
		struct error *err)
{
	const struct object_env env = { .trace_http = app->trace_http };
	struct object_store *objects = object_store_new(object_schemes, &env);
	struct checkpoint_store *store = NULL;
	struct run_spec spec = { 0 };
	struct buf text = { 0 };
	int ret = read_spec(session, all->job_id, all->mem, &spec, err);

	if (ret == 0 && spec.checkpoints.to)
		store = checkpoint_store_open(objects, spec.checkpoints.to);
	all->how = &spec.checkpoints;
	if (ret == 0)
		ret = find(all, &spec, store, err);
	if (ret == 0) {
		choose_next(all);
		if (rows_is_text(format))
			put_text(all, store, &text);
		else
			ret = put_rows(all, store, format, &text, err);
		app_print(app, &text);
	}
	buf_done(&text);
	checkpoint_store_close(store);
	object_store_free(objects);
	return ret;
}

/* Shows the checkpoints of a job; returns the exit status. */
static int show_one(struct app *app, struct session *session,
		    const char *job_id, const char *format)
{
	struct listed_checkpoints all = { .mem = arena_new(),
					  .skipped = json_array(),
					  .job_id = job_id };
	struct error err;
	int status = 0;

	if (show(app, session, &all, format, &err) < 0)
		status = app_fail(app, &err);
	json_decref(all.skipped);
	arena_free(all.mem);
	return status;
}

static int run(struct app *app, int argc, char **argv)
{
	struct checkpoints_opts opts = { .format = "text" };
	struct choice choice = { .opts = &opts.choose };
	struct session session = { 0 };
	struct arena *mem = arena_new();
	struct strings names;
	struct error err;
	int status = 0;
	size_t i;
	int first;

	first = options_parse(app, &cmd_checkpoints, argc, argv, &opts, 0,
			      INT_MAX, &status);
	if (first < 0)
		goto out;
	if (opts.output)
		opts.format = opts.output;
	if (rows_check(opts.format, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	choice_take(&choice, argc - first, argv + first);
	if (!choice_is_made(&choice)) {
		status = command_misused(app, &cmd_checkpoints,
					 "missing argument JOB...");
		goto out;
	}
	if (session_open(&session, app, 0, &err) < 0 ||
	    choose_names(&session, &choice, mem, &names, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	for (i = 0; i < names.count; i++) {
		int one = show_one(app, &session, names.items[i], opts.format);

		status = status ? status : one;
	}
out:
	session_close(&session);
	arena_free(mem);
	return status;
}

const struct command cmd_checkpoints = {
	.name = "checkpoints",
	.group = GROUP_WATCH,
	.args = "[--format text|json] [-o FORM] [-l LABEL=VALUE] JOB...",
	.summary = "list the checkpoints of jobs",
	.help = CHOOSE_HELP
	"Shows where they are, and marks the one that the next start resumes "
	"from.\n"
	"  jobrun checkpoints quickstart\n",
	.options = options,
	.more = choose_rows,
	.more_offset = offsetof(struct checkpoints_opts, choose),
	.remote = true,
	.run = run,
};
