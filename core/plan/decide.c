/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/decide.h"

#include <stdio.h>
#include <string.h>

#include "core/plan/diff.h"

static void decide(struct action *action, enum action_type type,
		   const char *reason)
{
	action->type = type;
	action->reason = reason;
}

/* Says what a run that is not over is doing: "running". */
static const char *doing(enum run_state state)
{
	switch (state) {
	case RUN_QUEUED:
		return "queued";
	case RUN_PREPARING:
		return "being prepared";
	case RUN_CANCELLING:
		return "being cancelled";
	default:
		return "running";
	}
}

/* Says how a run ended: "failed, exit 3". */
static const char *ended(const struct run_status *run, struct arena *mem)
{
	if (run->state == RUN_SUCCEEDED)
		return "succeeded";
	if (run->state == RUN_CANCELLED)
		return "cancelled";
	if (run->exit_code < 0)
		return "failed";
	return arena_printf(mem, "failed, exit %d", run->exit_code);
}

static const char *ended_before(const struct run_status *run, struct arena *mem)
{
	if (run->state == RUN_SUCCEEDED)
		return "already succeeded";
	if (run->state == RUN_CANCELLED)
		return "cancelled before; --rerun runs it again";
	if (run->exit_code < 0)
		return "failed before; --rerun runs it again";
	return arena_printf(mem,
			    "failed before (exit %d); --rerun runs it again",
			    run->exit_code);
}

static void decide_same_run(struct action *action, bool rerun,
			    struct arena *mem)
{
	const struct run_status *run = &action->have->run;

	/* Jobs with the same digest are the same job, however they were
	 * written. */
	action->change_count = 0;
	action->files.count = 0;
	if (run->refusal) {
		decide(action, ACTION_RUN,
		       run->exit_code == ERROR_TRY_AGAIN
			       ? "not started before: another owner had it"
			       : arena_printf(mem, "not started before: %s",
					      run->error));
	} else if (run->unbegun && !rerun) {
		decide(action, ACTION_RUN, "cancelled before it began");
	} else if (run_state_is_final(run->state) && rerun) {
		decide(action, ACTION_RUN,
		       arena_printf(mem, "again, after attempt %d (%s)",
				    run->attempt, ended(run, mem)));
	} else if (run_state_is_final(run->state) &&
		   !origin_is_same(run->origin, action->job->job->origin)) {
		decide(action, ACTION_NOOP,
		       arena_printf(mem,
				    "%s, from %s: --rerun runs it again, from "
				    "here",
				    ended(run, mem), run->origin));
	} else if (run_state_is_final(run->state)) {
		decide(action, ACTION_NOOP, ended_before(run, mem));
	} else if (rerun) {
		action->follow = true;
		decide(action, ACTION_NOOP,
		       arena_printf(mem,
				    "is still %s, attempt %d; --rerun starts "
				    "no second one",
				    doing(run->state), run->attempt));
	} else {
		action->follow = true;
		decide(action, ACTION_NOOP,
		       arena_printf(mem, "is %s, attempt %d", doing(run->state),
				    run->attempt));
	}
}

static int decide_changed_run(struct action *action, struct arena *mem,
			      struct error *err)
{
	const struct run_status *run = &action->have->run;
	const struct job *job = action->job->job;
	const char *whose = "";

	if (!origin_is_same(run->origin, job->origin))
		whose = arena_printf(mem, ", from %s,", run->origin);

	if (run_state_is_final(run->state)) {
		decide(action, ACTION_RUN,
		       arena_printf(mem, "changed since attempt %d (%s)",
				    run->attempt, ended(run, mem)));
		return 0;
	}
	if (job->jobrun.on_change == ON_CHANGE_FAIL)
		return error_set(err, ERROR_FAILED,
				 "run '%s' is %s with other settings (attempt "
				 "%d), and onChange is 'fail': cancel it first",
				 action->have->name, doing(run->state),
				 run->attempt);
	decide(action, ACTION_REPLACE,
	       run->state == RUN_CANCELLING
		       ? "being cancelled with other settings: will run again "
			 "after that"
		       : arena_printf(mem,
				      "%s%s with other settings: will be "
				      "cancelled, then run again",
				      doing(run->state), whose));
	return 0;
}

int plan_check_origin(const char *job_id, const struct run_status *run,
		      const char *origin, struct error *err)
{
	bool over = run_state_is_final(run->state);

	if (origin_is_same(run->origin, origin))
		return 0;
	return error_set(err, ERROR_TRY_AGAIN,
			 "run '%s' (attempt %d) %s%s, and belongs to another "
			 "job of that name: that one is from %s, this one from "
			 "%s; use another jobId, or --take-over to take the "
			 "run over",
			 job_id, run->attempt, over ? "has " : "is ",
			 over ? run_state_name(run->state) : doing(run->state),
			 run->origin, origin);
}

/* Refuses to replace a run that another owner drives. */
static int refuse_held(const struct resource *run, struct error *err)
{
	return error_set(err, ERROR_TRY_AGAIN,
			 "%s, with other settings: it is free when that run "
			 "ends, or when nothing was heard of it for its lease",
			 resource_held_why(run));
}

static int decide_run(struct action *action, const struct plan_options *options,
		      struct arena *mem, struct error *err)
{
	if (!action->have) {
		decide(action, ACTION_RUN,
		       action->unseen ? "unless it was run: not checked"
				      : "not run yet");
		return 0;
	}
	/* A run that has ended can be run again, whoever started it. */
	if (!options->take_over &&
	    !run_state_is_final(action->have->run.state) &&
	    plan_check_origin(action->have->name, &action->have->run,
			      action->job->job->origin, err) < 0)
		return -1;
	if (!job_was_run(action->job->job, action->have->run.digest.hex,
			 action->have->run.digest2.hex))
		return resource_is_held(action->have)
			       ? refuse_held(action->have, err)
			       : decide_changed_run(action, mem, err);
	decide_same_run(action, options->rerun, mem);
	return 0;
}

static bool forces(const struct kind *kind, const char *path)
{
	const char *const *field = kind->replace_on;

	if (!kind->update)
		return true;
	for (; field && *field; field++)
		if (diff_touches(path, *field))
			return true;
	return false;
}

static void decide_thing(struct action *action, struct change *changes,
			 struct arena *mem)
{
	const struct change *first = NULL;
	size_t i, n = 0;

	if (!action->have) {
		decide(action, ACTION_CREATE,
		       action->unseen ? "unless it exists: not checked"
				      : "does not exist yet");
		return;
	}
	for (i = 0; i < action->change_count; i++) {
		changes[i].forces = forces(action->want->kind, changes[i].path);
		if (changes[i].forces) {
			first = first ? first : &changes[i];
			n++;
		}
	}
	if (!action->change_count)
		decide(action, ACTION_NOOP, "is up to date");
	else if (first && n > 1)
		decide(action, ACTION_REPLACE,
		       arena_printf(mem,
				    "%s and %zu more cannot change in place",
				    first->path, n - 1));
	else if (first)
		decide(action, ACTION_REPLACE,
		       arena_printf(mem, "%s cannot change in place",
				    first->path));
	else if (action->change_count == 1)
		decide(action, ACTION_UPDATE, "1 field differs");
	else
		decide(action, ACTION_UPDATE,
		       arena_printf(mem, "%zu fields differ",
				    action->change_count));
}

static const json_t *files_of(const struct resource *resource)
{
	const json_t *value = resource->properties;
	char key[64];
	const char *p = resource->kind->files;
	size_t n;

	for (; value && *p; p += n + (p[n] == '.')) {
		n = strcspn(p, ".");
		snprintf(key, sizeof(key), "%.*s", (int)n, p);
		value = json_object_get(value, key);
	}
	return value;
}

/* A change per file would hide the other changes: the changes of files are
 * taken out, and the files are listed in the action instead. */
static void fold_files(struct action *action, struct arena *mem,
		       struct diff *diff)
{
	const char *path = action->want->kind->files;
	const json_t *before = NULL, *after = NULL;
	size_t i, n = 0, len;

	if (!path)
		return;
	len = strlen(path);
	for (i = 0; i < diff->count; i++)
		if (strncmp(diff->items[i].path, path, len) != 0 ||
		    !diff_touches(diff->items[i].path, path))
			diff->items[n++] = diff->items[i];
	diff->count = n;
	if (action->have) {
		before = files_of(action->have);
		after = files_of(action->want);
	}
	/* Without the earlier list of files every file would seem new. */
	if (before && after)
		source_compare(before, after, mem, &action->files);
}

int rules_decide(struct action *action, const struct plan_options *options,
		 struct compare *compare, struct error *err)
{
	struct arena *mem = compare->mem;
	struct diff diff;

	if (compare_resource(compare, action, &diff, err) < 0)
		return -1;
	fold_files(action, mem, &diff);
	action->changes = diff.items;
	action->change_count = diff.count;
	if (action->want->kind->flags & KIND_RUN)
		return decide_run(action, options, mem, err);
	decide_thing(action, diff.items, mem);
	return 0;
}

bool rules_rests(const struct action *action)
{
	return action->type == ACTION_NOOP && !action->follow &&
	       (action->want->kind->flags & KIND_RUN);
}
