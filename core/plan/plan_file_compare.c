/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the plan made now with the saved one: which actions are done, left
 * or in conflict. */
#include "core/plan/plan_file.h"

#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/provider/placeholder.h"
#include "core/plan/plan_file_words.h"
#include "core/base/show.h"

struct file_compare {
	struct buf *why;
	const json_t *progress;
	const char *job_id; /* of the current job */
	bool stale;  /* something changed that no apply of the plan explains */
	size_t done; /* actions that were done since */
	size_t foreign; /* actions in `done` that somebody else did */
	size_t left;    /* actions that are still to do */
	size_t begun;   /* actions in `left` that an apply of this plan began */
	bool unseen;    /* an action depends on something not looked at */
};

/* Whether a run was started since, for this very job. */
static bool was_run(const json_t *before, const json_t *after,
		    const char *digest)
{
	return json_get_int(after, "attempt", 0) >
		       json_get_int(before, "attempt", 0) &&
	       !strcmp(saved_text(after, "digest"), digest);
}

/* Whether a key holds a remark, which may differ on another machine or later.
 * The dependencies of an action follow from the job, and a deletion that is
 * done is no longer among them. */
static bool is_remark(const char *key)
{
	return !strcmp(key, "drift") || !strcmp(key, "cause") ||
	       !strcmp(key, "unknown") || !strcmp(key, "dependsOn") ||
	       !strcmp(key, "jobrun-digest-2");
}

/*
 * Whether an action is the planned one.  A value that was known only after
 * apply may have become any value once the resource it comes from exists.
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

/* Whether the action was to change only values that were not known then. */
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

/* Whether an apply was interrupted within the action: it leaves half of a
 * replacement, or a run being cancelled. */
static bool is_half_done(const json_t *was, const json_t *is)
{
	const char *now = saved_text(is, "action");

	return !strcmp(saved_text(was, "action"), "replace") &&
	       (!strcmp(now, "create") || !strcmp(now, "run") ||
		!strcmp(now, "replace"));
}

/* Whether an apply of this plan began the action and did not end it; such an
 * action goes on. */
static bool goes_on(const json_t *was, const json_t *is, bool begun, bool open,
		    bool ran)
{
	bool is_noop = !strcmp(saved_text(is, "action"), "noop");

	return (open && (is_noop || ran)) || (begun && is_half_done(was, is));
}

static void compare_action(struct file_compare *compare, const json_t *was,
			   const json_t *is, const json_t *before,
			   const json_t *after, const char *digest)
{
	bool is_noop = !strcmp(saved_text(is, "action"), "noop");
	bool was_noop = !strcmp(saved_text(was, "action"), "noop");
	bool same_world = before == after ||
			  (before && after && json_equal(before, after));
	const char *mine =
		json_get_text(compare->progress, saved_text(was, "id"), NULL);
	bool begun = mine && strcmp(mine, "done") != 0;
	bool open = begun && strcmp(mine, "failed") != 0;

	if (was_noop && is_noop)
		return;
	/* The saved plan said that this action could turn out otherwise. */
	if (!begun && json_is_true(json_object_get(was, "notLookedAt"))) {
		compare->left += !is_noop;
		return;
	}
	if (same_world && is_as_planned(was, is)) {
		compare->left++;
		compare->begun += mine != NULL;
		return;
	}
	if (goes_on(was, is, begun, open, was_run(before, after, digest))) {
		compare->left++;
		compare->begun++;
		return;
	}
	/* Report an action that was done since, by this plan or by somebody
	 * else.  A deletion that is done leaves nothing to compare and is
	 * handled by compare_gone(). */
	if (!was_noop && strcmp(saved_text(was, "action"), "delete") != 0 &&
	    (is_noop || was_run(before, after, digest))) {
		compare->done++;
		compare->foreign += !mine && !was_only_unknown(was);
	} else {
		compare->stale = true;
	}
	saved_say_action(compare->why, compare->job_id, was, is,
			 before && after);
}

/* Compares an action whose resource is gone.  Returns true if there is nothing
 * to report. */
static bool compare_gone(struct file_compare *compare, const json_t *was)
{
	const char *mine =
		json_get_text(compare->progress, saved_text(was, "id"), NULL);

	if (strcmp(saved_text(was, "action"), "delete") != 0) {
		compare->stale = true;
		return false;
	}
	/* The intent is still open, so the end of the action is not yet
	 * recorded. */
	if (mine && !strcmp(mine, "open")) {
		compare->left++;
		compare->begun++;
		return true;
	}
	compare->done++;
	compare->foreign += !mine;
	return false;
}

static void compare_actions(struct file_compare *compare, const json_t *was,
			    const json_t *is)
{
	json_t *old = saved_index(json_object_get(was, "actions"), "id");
	json_t *new = saved_index(json_object_get(is, "actions"), "id");
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
				       saved_text(is, "digest"));
			continue;
		}
		if (compare_gone(compare, one))
			continue;
		buf_puts(compare->why, "'");
		show_text(compare->why, id);
		buf_puts(compare->why, "' no longer exists\n");
	}
	json_object_foreach(new, id, one)
	{
		if (json_object_get(old, id))
			continue;
		compare->stale = true;
		buf_puts(compare->why, "'");
		show_text(compare->why, id);
		buf_puts(compare->why, "' is new\n");
	}
	json_decref(old);
	json_decref(new);
}

/* Whether the job was only to be deleted: once it is, no action on it is
 * planned any more. */
static bool is_deletion(const json_t *was)
{
	const json_t *actions = json_object_get(was, "actions");
	size_t i;

	for (i = 0; i < json_array_size(actions); i++)
		if (strcmp(saved_text(json_array_get(actions, i), "action"),
			   "delete") != 0)
			return false;
	return json_array_size(actions) > 0;
}

static void compare_gone_job(struct file_compare *compare, const json_t *was)
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
	buf_puts(compare->why, "' no longer exists\n");
}

/* A plan saved by an older jobrun has no digest 2. */
static bool is_same_job(const json_t *was, const json_t *is)
{
	return saved_is_same(
		was, is, *saved_text(was, "digest2") ? "digest2" : "digest");
}

/* Whether something was not looked at, so that another action may be
 * planned. */
static bool is_unseen(const json_t *job)
{
	const json_t *actions = json_object_get(job, "actions");
	size_t i;

	for (i = 0; i < json_array_size(actions); i++)
		if (json_is_true(json_object_get(json_array_get(actions, i),
						 "notLookedAt")))
			return true;
	return false;
}

/* Returns the notes, except the one that something was not looked at: apply may
 * look at it. */
static json_t *lasting_notes(const json_t *job)
{
	const json_t *notes = json_object_get(job, "notes");
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < json_array_size(notes); i++) {
		json_t *one = json_array_get(notes, i);
		const char *text = json_string_value(one);

		if (!text || !text_starts(text, PLAN_NOT_LOOKED_AT))
			json_array_append(out, one);
	}
	return out;
}

static bool has_same_notes(const json_t *was, const json_t *is)
{
	json_t *old = lasting_notes(was), *new = lasting_notes(is);
	bool same = json_equal(old, new) &&
		    json_is_array(json_object_get(was, "notes"));

	json_decref(old);
	json_decref(new);
	return same;
}

/* Compares everything else that a reviewer saw of the job, but not the estimate
 * of a run that was begun.  An older jobrun has not saved all of it. */
static void compare_shown(struct file_compare *compare, const json_t *was,
			  const json_t *is, bool begun)
{
	static const struct {
		const char *key, *text;
	} shown[] = {
		{ "file", "its file was renamed" },
		{ "job", "its fields have changed" },
		{ "fields", "its file's settings have changed" },
		{ "missing", "what it lacks has changed" },
		{ "warnings", "its warnings have changed" },
		{ "ships", "the files that it ships or excludes have changed" },
		{ "reads", "the contents of its source have changed" },
		{ "source", "its source has changed" },
		{ "estimate", "its estimate has changed" },
	};
	size_t i;

	if (!*saved_text(was, "digest2"))
		return;
	if (!has_same_notes(was, is)) {
		compare->stale = true;
		buf_printf(compare->why, "job '%s': its notes have changed\n",
			   compare->job_id);
	}
	for (i = 0; i < COUNT(shown) - begun; i++) {
		if (saved_is_same(was, is, shown[i].key))
			continue;
		compare->stale = true;
		buf_printf(compare->why, "job '%s': %s\n", compare->job_id,
			   shown[i].text);
	}
}

static void compare_jobs(struct file_compare *compare, const json_t *old,
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
		} else if (!is_same_job(was, is) ||
			   !saved_is_same(was, is, "provider")) {
			compare->stale = true;
			saved_say_job(compare->why, id, was, is);
		} else {
			size_t before = compare->done + compare->begun;

			compare_actions(compare, was, is);
			compare_shown(compare, was, is,
				      compare->done + compare->begun > before ||
					      is_unseen(was));
			compare->unseen = compare->unseen || is_unseen(was);
		}
	}
	json_object_foreach(others, id, was)
	{
		if (json_object_get(old, id))
			continue;
		compare->stale = true;
		buf_printf(compare->why, "job '%s' is new\n", id);
	}
}

/* Compares what the plan says of all jobs together, as long as no action is
 * done. */
static void compare_whole(struct file_compare *compare, const json_t *was,
			  const json_t *is)
{
	static const char *const keys[] = { "jobrunPlan", "formatVersion",
					    "summary", "estimate", "targets" };
	size_t i;

	for (i = 0; i < COUNT(keys); i++) {
		if (saved_is_same(was, is, keys[i]))
			continue;
		compare->stale = true;
		buf_printf(compare->why, "its %s has changed\n", keys[i]);
	}
}

enum saved_verdict saved_compare(const json_t *saved, const json_t *now,
				 const json_t *progress, struct buf *why)
{
	struct file_compare compare = { .why = why, .progress = progress };
	json_t *old, *new;

	old = saved_index(json_object_get(saved, "jobs"), "jobId");
	new = saved_index(json_object_get(now, "jobs"), "jobId");
	compare_jobs(&compare, old, new);
	json_decref(old);
	json_decref(new);
	if (!compare.done && !compare.begun && !compare.unseen)
		compare_whole(&compare, saved, now);
	if (compare.stale || (compare.foreign && compare.left))
		return SAVED_STALE;
	if (!compare.left && compare.done)
		return SAVED_APPLIED;
	return compare.done || compare.begun ? SAVED_RESUMES : SAVED_SAME;
}
