/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/saved.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/placeholder.h"
#include "core/plan/diff.h"
#include "core/plan/seal.h"
#include "core/plan/show.h"

#define SHOWN_MAX 5 /* differences of one job or one resource */
#define VALUE_WIDTH 60

/* ---- making ---------------------------------------------------------- */

/* Secrets count as being there, no more: who has the file could find a short
 * one from its digest.  What is to be deleted is sealed as its kind says. */
static int digest_observed(const struct action *action, struct digest *out,
			   struct error *err)
{
	const struct resource *it = action->want ? action->want : action->have;
	json_t *plain = NULL;
	char *text = NULL;
	int ret;

	if (action->have->properties) {
		plain = seal_properties(NULL, it, NULL,
					action->have->properties, err);
		if (!plain)
			return -1;
		text = json_canonical(plain);
	}
	ret = digest_bytes(text ? text : "", text ? strlen(text) : 0, out, err);
	free(text);
	json_decref(plain);
	return ret;
}

/* What decisions rest on, and no times. */
static json_t *observed_json(const struct action *action, struct error *err)
{
	const struct resource *have = action->have;
	json_t *out = json_object();
	struct digest digest;

	if (digest_observed(action, &digest, err) < 0) {
		json_decref(out);
		return NULL;
	}
	json_put_text(out, "sha256", digest.hex);
	if (have->kind->flags & KIND_RUN) {
		json_put_int(out, "attempt", have->run.attempt);
		json_put_text(out, "state", run_state_name(have->run.state));
		json_put_int(out, "exitCode", have->run.exit_code);
		json_put_text(out, "digest", have->run.digest.hex);
	}
	return out;
}

static int bind_job(const struct plan_job *job, json_t *out, struct error *err)
{
	json_t *observed = json_object();
	json_t *files;
	json_t *source;
	size_t i;

	/* What has no file any more is only deleted. */
	if (job->job->file) {
		json_put_text(out, "file", job->job->file);
		json_put(out, "job", job_json(job->job, MESSAGE_DIGEST));
	}
	if (job->job->source_digest.hex[0]) {
		source = json_object();
		files = source_files_json(job->job);
		json_put_text(source, "sha256", job->job->source_digest.hex);
		if (files)
			json_put(source, "files", files);
		json_put(out, "source", source);
	}
	json_put(out, "observed", observed);
	for (i = 0; i < job->action_count; i++) {
		const struct action *action = job->actions[i];
		json_t *one;

		if (!action->have)
			continue;
		one = observed_json(action, err);
		if (!one)
			return -1;
		json_put(observed, action->id, one);
	}
	return 0;
}

json_t *saved_json(const struct plan *plan, json_t *inputs, struct error *err)
{
	json_t *all = plan_json(plan);
	json_t *jobs = json_object_get(all, "jobs");
	json_t *out = json_object();
	size_t i;

	for (i = 0; i < plan_job_count(plan); i++)
		if (bind_job(plan_job_at(plan, i), json_array_get(jobs, i),
			     err) < 0) {
			json_decref(all);
			json_decref(out);
			return NULL;
		}
	json_put_int(out, "jobrunPlan", SAVED_VERSION);
	json_put(out, "formatVersion",
		 json_incref(json_object_get(all, "formatVersion")));
	json_put(out, "inputs", json_incref(inputs));
	json_put(out, "jobs", json_incref(jobs));
	json_put(out, "summary", json_incref(json_object_get(all, "summary")));
	json_decref(all);
	return out;
}

/* ---- comparing ------------------------------------------------------- */

struct compare {
	struct buf *why;
	struct arena *mem;
	const json_t *progress;
	const char *job_id; /* of the job at hand */
	bool stale;         /* something is in the way but what was done */
	size_t done;        /* actions that were done since */
	size_t foreign;     /* of these: by somebody else */
	size_t left;        /* actions that are still to be done */
	size_t begun;       /* of these: by an apply of this plan */
};

static const char *text_of(const json_t *object, const char *key)
{
	return json_get_text(object, key, "");
}

static bool is_same(const json_t *a, const json_t *b, const char *key)
{
	const json_t *x = json_object_get(a, key);
	const json_t *y = json_object_get(b, key);

	return x == y || (x && y && json_equal(x, y));
}

/* {"a": ...} from [{key: "a", ...}]; borrows nothing.  Only a job that is to
 * be deleted can be there twice, at two providers.  Returns new. */
static json_t *index_by(const json_t *array, const char *key)
{
	json_t *out = json_object();
	size_t i;

	for (i = 0; i < json_array_size(array); i++) {
		json_t *one = json_array_get(array, i);
		char *name = mem_strdup(text_of(one, key));

		if (json_object_get(out, name)) {
			free(name);
			name = mem_printf("%s at %s", text_of(one, key),
					  text_of(one, "provider"));
		}
		json_object_set_nocheck(out, name, one);
		free(name);
	}
	return out;
}

static void show(struct buf *out, const json_t *value)
{
	struct buf text = { 0 };

	if (!value || json_is_null(value)) {
		buf_puts(out, "not there");
		return;
	}
	show_value(&text, value);
	show_cut(out, buf_text(&text), 0, VALUE_WIDTH);
	buf_done(&text);
}

static void say_field(struct buf *out, const char *path, const json_t *was,
		      const json_t *is)
{
	show_text(out, path);
	buf_puts(out, " was ");
	show(out, was);
	buf_puts(out, ", is ");
	show(out, is);
}

/* What of the job's file differs. */
static size_t say_job_fields(struct compare *compare, const json_t *was,
			     const json_t *is)
{
	struct diff diff;
	size_t i;

	diff_json(json_object_get(was, "job"), json_object_get(is, "job"),
		  compare->mem, &diff);
	for (i = 0; i < diff.count && i < SHOWN_MAX; i++) {
		buf_printf(compare->why, "job '%s': ", compare->job_id);
		say_field(compare->why, diff.items[i].path,
			  diff.items[i].before, diff.items[i].after);
		buf_putc(compare->why, '\n');
	}
	if (i < diff.count)
		buf_printf(compare->why,
			   "job '%s': and %zu more fields differ\n",
			   compare->job_id, diff.count - i);
	return diff.count;
}

static bool say_source(struct compare *compare, const json_t *was,
		       const json_t *is)
{
	const json_t *before = json_object_get(was, "source");
	const json_t *after = json_object_get(is, "source");
	const json_t *old = json_object_get(before, "files");
	const json_t *new = json_object_get(after, "files");
	struct file_changes files = { 0 };
	struct buf text = { 0 };

	if (!before || !after || is_same(before, after, "sha256"))
		return false;
	if (old && new)
		source_compare(old, new, compare->mem, &files);
	file_changes_text(&files, &text);
	buf_printf(compare->why, "job '%s': its source has changed",
		   compare->job_id);
	if (files.count) {
		buf_puts(compare->why, ": ");
		show_text(compare->why, buf_text(&text));
	}
	buf_putc(compare->why, '\n');
	buf_done(&text);
	return true;
}

static void say_job(struct compare *compare, const json_t *was,
		    const json_t *is)
{
	size_t n;

	compare->stale = true;
	if (!json_object_get(was, "job") || !json_object_get(is, "job")) {
		buf_printf(compare->why, "job '%s': %s\n", compare->job_id,
			   json_object_get(is, "job")
				   ? "it has a file again"
				   : "it was applied anew, or its file is "
				     "gone");
		return;
	}
	n = say_job_fields(compare, was, is);
	if (say_source(compare, was, is) || n)
		return;
	buf_printf(compare->why,
		   "job '%s': a package of it, or jobrun itself, is another "
		   "one now\n",
		   compare->job_id);
}

/* Which observed values made the changes other ones; false if none did. */
static bool say_world(struct compare *compare, const json_t *was,
		      const json_t *is)
{
	json_t *old = index_by(json_object_get(was, "changes"), "path");
	json_t *new = index_by(json_object_get(is, "changes"), "path");
	struct buf *out = compare->why;
	const char *path;
	json_t *one;
	size_t n = 0;

	/* What does not differ from what is wanted is as wanted: `after`. */
	json_object_foreach(new, path, one)
	{
		const json_t *before = json_object_get(old, path);

		if (before && is_same(before, one, "before"))
			continue;
		if (++n > SHOWN_MAX)
			break;
		buf_puts(out, n == 1 ? ": " : ", ");
		say_field(out, path,
			  json_object_get(before ? before : one,
					  before ? "before" : "after"),
			  json_object_get(one, "before"));
	}
	json_object_foreach(old, path, one)
	{
		if (json_object_get(new, path) || ++n > SHOWN_MAX)
			continue;
		buf_puts(out, n == 1 ? ": " : ", ");
		say_field(out, path, json_object_get(one, "before"),
			  json_object_get(one, "after"));
	}
	json_decref(old);
	json_decref(new);
	return n > 0;
}

/* A run was started since, for this very job. */
static bool was_run(const json_t *before, const json_t *after,
		    const char *digest)
{
	return json_get_int(after, "attempt", 0) >
		       json_get_int(before, "attempt", 0) &&
	       !strcmp(text_of(after, "digest"), digest);
}

static void say_reasons(struct buf *out, const json_t *was, const json_t *is)
{
	buf_printf(out, ": planned was %s (", text_of(was, "action"));
	show_text(out, text_of(was, "reason"));
	buf_printf(out, "), now it is %s (", text_of(is, "action"));
	show_text(out, text_of(is, "reason"));
	buf_putc(out, ')');
}

/* `seen`: it existed then and does now, so that fields can be compared. */
static void say_action(struct compare *compare, const json_t *was,
		       const json_t *is, bool seen)
{
	bool planned = is_same(was, is, "action") && is_same(was, is, "reason");
	struct buf *out = compare->why;

	show_text(out, text_of(is, "kind"));
	buf_puts(out, " '");
	show_text(out, text_of(is, "name"));
	buf_printf(out, "' of job '%s'", compare->job_id);
	if (!planned)
		say_reasons(out, was, is);
	if (!(seen && say_world(compare, was, is)) && planned)
		buf_puts(out, ": it is not what it was, or would be done in "
			      "another way");
	buf_putc(out, '\n');
}

/* How the same thing may be said on another machine, or later.  What an action
 * depends on follows from the job; but what is gone already needs not be
 * deleted first. */
static bool is_remark(const char *key)
{
	return !strcmp(key, "drift") || !strcmp(key, "cause") ||
	       !strcmp(key, "unknown") || !strcmp(key, "dependsOn");
}

/*
 * The same, but for what the plan could not know: a value that was known only
 * after apply is any value once what it comes from is there.
 */
static bool is_as_planned(const json_t *was, const json_t *is)
{
	json_t *old = (json_t *)was, *new = (json_t *)is;
	const char *key;
	json_t *one;
	size_t i;

	if (json_is_string(was) &&
	    !strcmp(json_string_value(was), placeholder_unknown()))
		return true;
	if (json_typeof(was) != json_typeof(is))
		return false;
	if (json_is_object(was)) {
		json_object_foreach(old, key, one)
		{
			json_t *other = json_object_get(is, key);

			if (!is_remark(key) &&
			    (!other || !is_as_planned(one, other)))
				return false;
		}
		json_object_foreach(new, key, one)
		{
			if (!is_remark(key) && !json_object_get(was, key))
				return false;
		}
		return true;
	}
	if (json_is_array(was)) {
		if (json_array_size(was) != json_array_size(is))
			return false;
		json_array_foreach(old, i, one)
		{
			if (!is_as_planned(one, json_array_get(is, i)))
				return false;
		}
		return true;
	}
	return json_equal(was, is);
}

/* All that it was to change are values that were not known then. */
static bool was_only_unknown(const json_t *was)
{
	json_t *changes = json_object_get(was, "changes");
	json_t *one;
	size_t i;

	json_array_foreach(changes, i, one)
	{
		if (!json_is_true(json_object_get(one, "unknown")))
			return false;
	}
	return json_array_size(changes) > 0;
}

/* What an apply that was ended in the middle of an action leaves: the half of
 * a replacement, or a run that is on its way to being ended. */
static bool is_half_done(const json_t *was, const json_t *is)
{
	const char *now = text_of(is, "action");

	return !strcmp(text_of(was, "action"), "replace") &&
	       (!strcmp(now, "create") || !strcmp(now, "run") ||
		!strcmp(now, "replace"));
}

static void compare_action(struct compare *compare, const json_t *was,
			   const json_t *is, const json_t *before,
			   const json_t *after, const char *digest)
{
	bool is_noop = !strcmp(text_of(is, "action"), "noop");
	bool was_noop = !strcmp(text_of(was, "action"), "noop");
	bool same_world = before == after ||
			  (before && after && json_equal(before, after));
	const char *mine =
		json_get_text(compare->progress, text_of(was, "id"), NULL);
	bool begun = mine && strcmp(mine, "done") != 0;
	bool open = begun && strcmp(mine, "failed") != 0;

	if (was_noop && is_noop)
		return;
	if (same_world && is_as_planned(was, is)) {
		compare->left++;
		compare->begun += mine != NULL;
		return;
	}
	/* Begun by an apply of this plan, and not ended: that goes on. */
	if ((open && (is_noop || was_run(before, after, digest))) ||
	    (begun && is_half_done(was, is))) {
		compare->left++;
		compare->begun++;
		return;
	}
	/* Done since, by this plan or by another: both is said.  A deletion
	 * is done when there is nothing to compare. */
	if (!was_noop && strcmp(text_of(was, "action"), "delete") != 0 &&
	    (is_noop || was_run(before, after, digest))) {
		compare->done++;
		compare->foreign += !mine && !was_only_unknown(was);
	} else {
		compare->stale = true;
	}
	say_action(compare, was, is, before && after);
}

/* It is not there any more.  Returns true if nothing is to be said of that. */
static bool compare_gone(struct compare *compare, const json_t *was)
{
	const char *mine =
		json_get_text(compare->progress, text_of(was, "id"), NULL);

	if (strcmp(text_of(was, "action"), "delete") != 0) {
		compare->stale = true;
		return false;
	}
	/* Whoever began it has still to hear that it is done. */
	if (mine && !strcmp(mine, "open")) {
		compare->left++;
		compare->begun++;
		return true;
	}
	compare->done++;
	compare->foreign += !mine;
	return false;
}

static void compare_actions(struct compare *compare, const json_t *was,
			    const json_t *is)
{
	json_t *old = index_by(json_object_get(was, "actions"), "id");
	json_t *new = index_by(json_object_get(is, "actions"), "id");
	const json_t *before = json_object_get(was, "observed");
	const json_t *after = json_object_get(is, "observed");
	const char *id;
	json_t *one;

	json_object_foreach(old, id, one)
	{
		const json_t *other = json_object_get(new, id);

		if (other) {
			compare_action(compare, one, other,
				       json_object_get(before, id),
				       json_object_get(after, id),
				       text_of(is, "digest"));
			continue;
		}
		if (compare_gone(compare, one))
			continue;
		buf_puts(compare->why, "'");
		show_text(compare->why, id);
		buf_puts(compare->why, "' is not there any more\n");
	}
	json_object_foreach(new, id, one)
	{
		if (json_object_get(old, id))
			continue;
		compare->stale = true;
		buf_puts(compare->why, "'");
		show_text(compare->why, id);
		buf_puts(compare->why, "' was not there\n");
	}
	json_decref(old);
	json_decref(new);
}

/* It was to be deleted, and so it was: nothing of it is planned any more. */
static bool is_deletion(const json_t *was)
{
	const json_t *actions = json_object_get(was, "actions");
	size_t i;

	for (i = 0; i < json_array_size(actions); i++)
		if (strcmp(text_of(json_array_get(actions, i), "action"),
			   "delete") != 0)
			return false;
	return json_array_size(actions) > 0;
}

static void compare_gone_job(struct compare *compare, const json_t *was)
{
	const json_t *actions = json_object_get(was, "actions");
	bool quiet = is_deletion(was);
	size_t i;

	if (!quiet)
		compare->stale = true;
	else
		for (i = 0; i < json_array_size(actions); i++)
			if (!compare_gone(compare, json_array_get(actions, i)))
				quiet = false;
	if (quiet)
		return;
	buf_puts(compare->why, "job '");
	show_text(compare->why, compare->job_id);
	buf_puts(compare->why, "' is not there any more\n");
}

static void compare_jobs(struct compare *compare, const json_t *old,
			 const json_t *new)
{
	json_t *all = (json_t *)old, *others = (json_t *)new;
	const char *id;
	json_t *was;

	json_object_foreach(all, id, was)
	{
		const json_t *is = json_object_get(new, id);

		compare->job_id = id;
		if (!is) {
			compare_gone_job(compare, was);
		} else if (!is_same(was, is, "digest") ||
			   !is_same(was, is, "provider")) {
			say_job(compare, was, is);
		} else {
			compare_actions(compare, was, is);
		}
	}
	json_object_foreach(others, id, was)
	{
		if (json_object_get(old, id))
			continue;
		compare->stale = true;
		buf_printf(compare->why, "job '%s' was not there\n", id);
	}
}

int saved_id(const json_t *saved, struct digest *out, struct error *err)
{
	char *text = json_canonical(saved);
	int ret = digest_bytes(text, strlen(text), out, err);

	free(text);
	return ret;
}

enum saved_verdict saved_compare(const json_t *saved, const json_t *now,
				 const json_t *progress, struct buf *why)
{
	struct compare compare = { .why = why, .progress = progress };
	json_t *old, *new;

	compare.mem = arena_new();
	old = index_by(json_object_get(saved, "jobs"), "jobId");
	new = index_by(json_object_get(now, "jobs"), "jobId");
	compare_jobs(&compare, old, new);
	json_decref(old);
	json_decref(new);
	arena_free(compare.mem);
	if (compare.stale || (compare.foreign && compare.left))
		return SAVED_STALE;
	if (!compare.left && compare.done)
		return SAVED_APPLIED;
	return compare.done || compare.begun ? SAVED_RESUMES : SAVED_SAME;
}
