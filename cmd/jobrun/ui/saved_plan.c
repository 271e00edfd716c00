/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/saved_plan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/apply/resume.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/opt.h"
#include "core/plan/plan_file.h"

#define SAVED_MAX ((size_t)1 << 30)

static json_t *inputs_json(const struct inputs *inputs)
{
	const struct opt_list *sets = &inputs->load.sets;
	json_t *out = json_object();
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < inputs->count; i++)
		json_array_append_new(list, json_text(inputs->paths[i]));
	json_put(out, "paths", list);
	if (inputs->load.job_id)
		json_put_text(out, "jobId", inputs->load.job_id);
	if (inputs->load.provider)
		json_put_text(out, "provider", inputs->load.provider);
	list = json_array();
	for (i = 0; i < sets->count; i++) {
		json_t *one = json_object();

		json_put_text(one, sets->items[i].opt->name,
			      sets->items[i].value);
		json_array_append_new(list, one);
	}
	json_put(out, "sets", list);
	json_put(out, "rerun", json_boolean(inputs->rerun));
	if (inputs->take_over)
		json_put(out, "takeOver", json_true());
	json_put(out, "prune", json_boolean(inputs->prune));
	if (inputs->applyset)
		json_put_text(out, "applyset", inputs->applyset);
	if (!inputs->targets.count)
		return out;
	list = json_array();
	for (i = 0; i < inputs->targets.count; i++)
		json_array_append_new(
			list, json_text(inputs->targets.items[i].value));
	json_put(out, "targets", list);
	return out;
}

const struct opt input_rows[] = {
	{ 0, "rerun", OPT_FLAG, offsetof(struct inputs, rerun), NULL,
	  "run again even if the job ended and did not change" },
	{ 0, "take-over", OPT_FLAG, offsetof(struct inputs, take_over), NULL,
	  "also take over a run of this id from elsewhere" },
	{ 0, "target", OPT_LIST, offsetof(struct inputs, targets), "ACTION",
	  "only this action, and what it depends on" },
	{ 0, "prices", OPT_STRING, offsetof(struct inputs, prices), "FILE",
	  "a price list, to estimate the cost of runs" },
	{ 0, "prune", OPT_FLAG, offsetof(struct inputs, prune), NULL,
	  "delete jobs that are gone from the directory" },
	{ 0, "applyset", OPT_STRING, offsetof(struct inputs, applyset), "NAME",
	  "name of the directory's set of jobs, for --prune" },
	{ 0, "allow-connect", OPT_FLAG, offsetof(struct inputs, load.connect),
	  NULL, "contact hosts in files; default on a terminal" },
	{ 0 },
};

struct plan_options inputs_options(const struct inputs *inputs,
				   const char **names)
{
	size_t i;

	for (i = 0; i < inputs->targets.count; i++)
		names[i] = inputs->targets.items[i].value;
	return (struct plan_options){ .rerun = inputs->rerun,
				      .take_over = inputs->take_over,
				      .targets = names,
				      .target_count = inputs->targets.count };
}

/* Reads a plan, which is recognized by its key, as job files may be JSON, too.
 * Returns 1 if the file is no plan. */
static int read_plan(const char *path, json_t **out, struct error *err)
{
	struct error why;
	struct stat st;
	char *text;
	json_t *value;
	size_t len;
	int ret = 1;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return 1;
	text = file_read(path, SAVED_MAX, &len, &why);
	if (!text)
		return 1;
	if (text[0] != '{' || !strstr(text, "\"jobrunPlan\"")) {
		free(text);
		return 1;
	}
	value = json_read(text, len, path, &why);
	if (json_object_get(value, "jobrunPlan")) {
		*out = json_incref(value);
		ret = 0;
	} else if (!value) {
		ret = error_set(err, ERROR_INVALID,
				"the saved plan is damaged: %s", why.text);
	}
	json_decref(value);
	free(text);
	return ret;
}

int saved_check_out(const char *out, const struct inputs *inputs,
		    struct error *err)
{
	struct error ignored;
	json_t *plan = NULL;
	struct stat st;
	size_t i;

	for (i = 0; i < inputs->count; i++)
		if (!strcmp(inputs->paths[i], "-"))
			return error_set(err, ERROR_USAGE,
					 "--out needs files that 'apply' can "
					 "read again, not '-'");
	if (stat(out, &st) < 0 || (S_ISREG(st.st_mode) && !st.st_size))
		return 0;
	if (read_plan(out, &plan, &ignored) == 1)
		return error_set(err, ERROR_USAGE,
				 "--out: '%s' exists and is not a saved plan",
				 out);
	json_decref(plan);
	return 0;
}

int saved_write(const char *out, const struct plan *plan,
		const struct inputs *inputs, struct error *err)
{
	json_t *given = inputs_json(inputs);
	json_t *value = saved_json(plan, given, err);
	struct buf text = { 0 };
	int ret = -1;

	if (value) {
		json_print(value, &text);
		ret = file_write(out, text.data, text.len, err);
	}
	buf_done(&text);
	json_decref(value);
	json_decref(given);
	return ret;
}

static int damaged(const struct saved *saved, const char *what,
		   struct error *err)
{
	return error_set(err, ERROR_INVALID,
			 "the saved plan '%s' is damaged: %s", saved->file,
			 what);
}

static const struct opt *find_row(const char *name)
{
	const struct opt *row;

	for (row = load_rows; row->name; row++)
		if (row->offset == offsetof(struct load_opts, sets) &&
		    !strcmp(row->name, name))
			return row;
	return NULL;
}

static int read_sets(struct saved *saved, const json_t *sets, struct error *err)
{
	struct opt_list *out = &saved->inputs.load.sets;
	const char *name;
	json_t *value;
	size_t i;

	for (i = 0; i < json_array_size(sets); i++) {
		json_t *one = json_array_get(sets, i);

		json_object_foreach(one, name, value)
		{
			const struct opt *row = find_row(name);

			if (!row || !json_is_string(value) ||
			    out->count == OPT_LIST_MAX)
				return damaged(saved, "inputs.sets", err);
			out->items[out->count].opt = row;
			out->items[out->count++].value =
				json_string_value(value);
		}
	}
	return 0;
}

static int read_targets(struct saved *saved, const json_t *targets,
			struct error *err)
{
	struct opt_list *out = &saved->inputs.targets;
	size_t i, n = json_array_size(targets);

	if (n > OPT_LIST_MAX)
		return damaged(saved, "inputs.targets", err);
	for (i = 0; i < n; i++) {
		json_t *one = json_array_get(targets, i);

		if (!json_is_string(one))
			return damaged(saved, "inputs.targets", err);
		out->items[i].value = json_string_value(one);
	}
	out->count = n;
	return 0;
}

static int read_inputs(struct saved *saved, struct error *err)
{
	json_t *from = json_object_get(saved->plan, "inputs");
	json_t *paths = json_object_get(from, "paths");
	struct inputs *out = &saved->inputs;
	size_t i;

	out->load.job_id = json_get_text(from, "jobId", NULL);
	out->load.provider = json_get_text(from, "provider", NULL);
	out->rerun = json_is_true(json_object_get(from, "rerun"));
	out->take_over = json_is_true(json_object_get(from, "takeOver"));
	out->prune = json_is_true(json_object_get(from, "prune"));
	out->applyset = json_get_text(from, "applyset", NULL);
	out->paths =
		mem_alloc((json_array_size(paths) + 1) * sizeof(*out->paths));
	for (i = 0; i < json_array_size(paths); i++) {
		const char *path = json_string_value(json_array_get(paths, i));

		if (!path || !strcmp(path, "-"))
			return damaged(saved, "inputs.paths", err);
		out->paths[out->count++] = (char *)path;
	}
	if (!out->count)
		return damaged(saved, "inputs.paths", err);
	if (read_targets(saved, json_object_get(from, "targets"), err) < 0)
		return -1;
	return read_sets(saved, json_object_get(from, "sets"), err);
}

int saved_open(struct saved *saved, struct inputs *inputs, struct error *err)
{
	const struct load_opts *load = &inputs->load;
	long long version;
	int ret = 1;
	size_t i;

	*saved = (struct saved){ 0 };
	for (i = 0; i < inputs->count && ret == 1; i++) {
		saved->file = inputs->paths[i];
		ret = read_plan(saved->file, &saved->plan, err);
	}
	if (ret != 0)
		return ret < 0 ? -1 : 0;
	if (inputs->count > 1 || inputs->rerun || inputs->prune ||
	    inputs->take_over || inputs->applyset || inputs->targets.count ||
	    load->job_id || load->provider || load->sets.count)
		return error_set(err, ERROR_USAGE,
				 "'%s' is a saved plan, which takes no other "
				 "files or options: it holds its own",
				 saved->file);
	version = json_get_int(saved->plan, "jobrunPlan", 0);
	if (version != SAVED_VERSION)
		return error_set(err, ERROR_TRY_AGAIN,
				 "the saved plan '%s' has format %lld, this "
				 "jobrun reads %d: plan again",
				 saved->file, version, SAVED_VERSION);
	if (read_inputs(saved, err) < 0)
		return -1;
	/* A plan file cannot grant permissions; the options do. */
	saved->inputs.load.untrusted = load->untrusted;
	saved->inputs.load.connect = load->connect;
	saved->inputs.load.outside = load->outside;
	*inputs = saved->inputs;
	return 0;
}

void saved_done(struct saved *saved)
{
	json_decref(saved->plan);
	free(saved->inputs.paths);
}

static void say_lines(const struct app *app, struct buf *lines)
{
	char *line, *rest = NULL;

	if (!lines->data)
		return;
	for (line = strtok_r(lines->data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		app_say(app, "%s", line);
}

static int refuse(const struct app *app, const struct saved *saved,
		  struct buf *why, const char *what)
{
	struct error err;

	say_lines(app, why);
	error_set(&err, ERROR_TRY_AGAIN, "the saved plan '%s' %s", saved->file,
		  what);
	return app_fail(app, &err);
}

static int act_on(const struct app *app, const struct saved *saved,
		  const struct plan *plan, enum saved_verdict verdict,
		  struct buf *why)
{
	switch (verdict) {
	case SAVED_RESUMES:
		app_say(app, "an earlier 'apply %s' did not finish; resuming",
			saved->file);
		return 0;
	case SAVED_STALE:
		return refuse(app, saved, why,
			      "is stale; nothing done: plan again");
	case SAVED_APPLIED:
		return refuse(app, saved, why,
			      plan_follow_count(plan)
				      ? "was already applied; nothing done "
					"('jobrun wait' waits for its runs)"
				      : "was already applied; nothing done");
	default:
		return 0;
	}
}

int saved_check(const struct app *app, const struct saved *saved,
		struct session *session)
{
	struct store *store = session->env.store;
	json_t *inputs = json_object_get(saved->plan, "inputs");
	json_t *now = NULL, *progress = NULL;
	struct buf why = { 0 };
	struct digest id;
	struct error err;
	int status;

	if (!saved->plan)
		return 0;
	saved_id(saved->plan, &id);
	progress = resume_progress(store, id.hex, &err);
	now = progress ? saved_json(session->plan, inputs, &err) : NULL;
	if (now) {
		store_name_plan(store, id.hex);
		status = act_on(app, saved, session->plan,
				saved_compare(saved->plan, now, progress, &why),
				&why);
	} else {
		status = app_fail(app, &err);
	}
	json_decref(now);
	json_decref(progress);
	buf_done(&why);
	return status;
}

int saved_fail(const struct app *app, const struct saved *saved, int status)
{
	struct error err;

	if (!saved->plan || (status != ERROR_FAILED && status != ERROR_INVALID))
		return status;
	error_set(&err, ERROR_TRY_AGAIN,
		  "the saved plan '%s' is stale: its job files can't be "
		  "planned any more",
		  saved->file);
	return app_fail(app, &err);
}
