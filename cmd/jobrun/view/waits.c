/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/waits.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/show.h"
#include "core/plan/after.h"

bool waits_any(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan_count(plan); i++)
		if (after_waits(plan_at(plan, i)))
			return true;
	return false;
}

static int put(const struct session *session, const struct action *action,
	       bool skipped, const char *why, struct error *err)
{
	const struct wait_record wait = { .job_id = action->job->job->job_id,
					  .skipped = skipped,
					  .why = why };

	return store_wait_put(session->env.store, &wait, err);
}

/* Writes "after 'a' and 'b'". */
static void put_names(const struct action *action, struct buf *out)
{
	const char *before = "after '";
	size_t i;

	for (i = 0; i < action->need_count; i++) {
		if (action->needs[i]->job == action->job)
			continue;
		buf_printf(out, "%s%s'", before,
			   action->needs[i]->job->job->job_id);
		before = " and '";
	}
}

int waits_begin(const struct session *session, struct error *err)
{
	const struct plan *plan = session->plan;
	struct buf why = { 0 };
	int ret = 0;
	size_t i;

	for (i = 0; i < plan_count(plan) && ret == 0; i++) {
		const struct action *action = plan_at(plan, i);

		if (!action_is_run(action))
			continue;
		if (action->skipped) {
			ret = put(session, action, true,
				  action->reason + strlen("skipped: "), err);
		} else if (after_waits(action)) {
			buf_clear(&why);
			put_names(action, &why);
			ret = put(session, action, false, buf_text(&why), err);
		}
	}
	buf_done(&why);
	return ret;
}

int waits_end(const struct session *session, const struct action *action,
	      struct error *err)
{
	if (!after_waits(action))
		return 0;
	return store_wait_drop(session->env.store, action->job->job->job_id,
			       err);
}

bool waits_is_cancelled(const struct session *session, const char *job_id)
{
	struct arena *mem = arena_new();
	struct wait_list list = { 0 };
	const struct wait_record *wait;
	struct error ignored;
	bool is;

	store_wait_list(session->env.store, mem, &list, &ignored);
	wait = waits_find(&list, job_id);
	is = wait && wait->cancelled;
	arena_free(mem);
	return is;
}

int waits_phase(const struct session *session, const struct action *action,
		enum action_phase phase, const struct error *why,
		struct error *err)
{
	if (!action_is_run(action) || !after_waits(action))
		return 0;
	switch (phase) {
	case PHASE_SKIPPED:
		/* Whoever cancelled it has recorded that. */
		if (waits_is_cancelled(session, action->job->job->job_id))
			return 0;
		if (why)
			return put(session, action, true, why->text, err);
		return waits_end(session, action, err);
	case PHASE_DONE:
	case PHASE_FAILED:
		return waits_end(session, action, err);
	default:
		return 0;
	}
}

const char *waits_state(const struct wait_record *wait)
{
	return wait->cancelled ? "CANCELLED"
	       : wait->skipped ? "SKIPPED"
			       : "QUEUED";
}

bool waits_are_over(const struct wait_record *wait)
{
	return wait->cancelled || wait->skipped;
}

const struct wait_record *waits_find(const struct wait_list *list,
				     const char *job_id)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].job_id, job_id))
			return &list->items[i];
	return NULL;
}

void waits_text(const struct session *session, const struct wait_list *list,
		struct buf *out)
{
	char since[32];
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct wait_record *one = &list->items[i];

		time_format_log(one->time_ms, since, sizeof(since));
		buf_puts(out, i ? "" : "\nnot started:\n");
		buf_printf(out, "  %s  %s  ", one->job_id, waits_state(one));
		show_text(out, one->why);
		if (waits_are_over(one))
			buf_printf(out, "  %s\n", since);
		else if (session_is_locked(session, one->job_id))
			buf_printf(out, "; process %lld on %s starts it\n",
				   (long long)one->pid, one->host);
		else
			buf_puts(out, "; the process that was to start it is "
				      "gone: 'jobrun apply' again\n");
	}
}

json_t *waits_json(const struct session *session, const struct wait_list *list)
{
	json_t *out = json_array();
	char since[40];
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct wait_record *one = &list->items[i];
		json_t *item = json_object();

		json_put_text(item, "jobId", one->job_id);
		json_put_text(item, "state", waits_state(one));
		json_put_text(item, "reason", one->why);
		if (!waits_are_over(one))
			json_put(item, "kept",
				 json_boolean(session_is_locked(session,
								one->job_id)));
		json_put_text(item, "host", one->host);
		json_put_int(item, "pid", one->pid);
		time_format(one->time_ms, since, sizeof(since));
		json_put_text(item, "time", since);
		json_array_append_new(out, item);
	}
	return out;
}
