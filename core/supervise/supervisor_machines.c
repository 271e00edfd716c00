/* SPDX-License-Identifier: Apache-2.0 */
/* The machines created for a run, as its supervisor handles them. */
#include <stdio.h>
#include <string.h>

#include "core/base/json.h"
#include "core/spec/restart.h"
#include "core/supervise/supervisor_internal.h"
#include "core/supervise/supervisor_process.h"

static void on_machines(void *arg, const char *text)
{
	struct supervisor *s = arg;

	snprintf(s->progress, sizeof(s->progress), "%s", text);
	s->run.note = s->progress;
	supervisor_publish(s->store, &s->run);
}

static void on_machines_lost(void *arg, const char *why)
{
	struct supervisor *s = arg;

	if (!run_state_is_final(s->run.state))
		attempt_lose(s->context.attempt, why);
}

/* Records the reason for those who follow; the next apply tries again. */
static void fail_to_start(struct supervisor *s, const struct error *err)
{
	if (s->run.attempt == s->run.origin)
		s->run.exit_code =
			run_refused_as((enum error_code)error_status(err));
	supervisor_stop_waiting(s, RUN_FAILED, err->text);
}

/* Deletes machines that never became usable, which may help, if the job wants
 * to be restarted after the loss of a machine.  Returns whether they are to be
 * made anew. */
static bool drop_unusable(struct supervisor *s, const struct error *why)
{
	const struct attempt_outcome outcome = { .cause = OUTCOME_LOST };
	const struct restart_counts counts = { s->run.restarts,
					       s->run.preemptions };
	struct restart_decision decision;
	struct error err;

	restart_decide(&s->context.spec.restart, &counts, &outcome, &decision);
	if (why->code != ERROR_TIMEOUT || !decision.again)
		return false;
	s->run.preemptions = decision.counts.preemptions;
	on_machines(s, why->text);
	return allocation_release(s->allocation, &err) == 0;
}

void supervisor_get_machines(struct supervisor *s)
{
	struct error err;
	int ret;

	s->wants_machines = false;
	s->getting = true;
	do {
		ret = run_context_settle(&s->context, s->allocation, s->mem,
					 &err);
	} while (ret < 0 && !s->cancelled && drop_unusable(s, &err));
	s->getting = false;
	if (s->cancelled)
		supervisor_stop_waiting(s, RUN_CANCELLED, "cancelled");
	else if (ret < 0)
		fail_to_start(s, &err);
	else
		supervisor_attempt(s);
}

void supervisor_release_machines(struct supervisor *s)
{
	struct error err;

	run_context_leave(&s->context);
	if (allocation_is_over(s->allocation, s->run.state) &&
	    allocation_release(s->allocation, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
}

int supervisor_open_machines(struct supervisor *s,
			     const struct provider *const *providers,
			     struct error *err)
{
	const struct allocation_deps deps = { .providers = providers,
					      .store = s->store,
					      .loop = s->loop,
					      .progress = on_machines,
					      .lost = on_machines_lost,
					      .arg = s };
	json_t *kept;

	if (!s->context.spec.allocation)
		return 0;
	kept = json_read(s->context.spec.allocation,
			 strlen(s->context.spec.allocation), "allocation", err);
	s->allocation = kept ? allocation_open(kept, &deps, err) : NULL;
	json_decref(kept);
	return s->allocation ? 0 : -1;
}
