/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/undo.h"

#include "cmd/jobrun/ui/interrupt.h"
#include "core/apply/executor.h"

struct undo {
	struct session *session;
	struct executor *executor;
	void (*each)(void *arg, const struct resource *gone);
	void *arg;
	int interrupts;
};

static void *context(void *arg, const struct provider *provider)
{
	struct undo *undo = arg;
	struct error ignored;

	return session_context(undo->session, provider, &ignored);
}

static void on_phase(void *arg, const struct action *action,
		     enum action_phase phase, const struct run_status *status,
		     const struct error *err)
{
	struct undo *undo = arg;

	(void)status;
	switch (phase) {
	case PHASE_RETRYING:
		app_say(undo->session->app, "%s; trying again", err->text);
		break;
	case PHASE_FAILED:
		app_fail(undo->session->app, err);
		break;
	case PHASE_SKIPPED:
		app_say(undo->session->app, "%s '%s': not deleted",
			action->have->kind->name, action->have->name);
		break;
	case PHASE_DONE:
		if (undo->each)
			undo->each(undo->arg, action->have);
		break;
	default:
		break;
	}
}

static void on_lacks(void *arg, const struct action *action, const char *what)
{
	const struct undo *undo = arg;

	app_say(undo->session->app, "%s '%s': %s", action->have->kind->name,
		action->have->name, what);
}

static void on_interrupt(void *arg, uint32_t number)
{
	struct undo *undo = arg;

	(void)number;
	undo->interrupts++;
	app_say(undo->session->app, "finishing the step under way");
	executor_cancel(undo->executor, undo->interrupts > 1);
}

int undo_execute(struct session *session, const struct plan *plan,
		 void (*each)(void *arg, const struct resource *gone),
		 void *arg, struct error *err)
{
	struct undo undo = { .session = session, .each = each, .arg = arg };
	struct journal journal = journal_in_store(session->env.store);
	struct executor_options how = { .context = context,
					.phase = on_phase,
					.lacks = on_lacks,
					.journal = &journal,
					.arg = &undo };
	struct interrupt *interrupt = NULL;
	struct loop *loop;
	int ret = -1;

	if (plan_is_empty(plan))
		return 0;
	loop = loop_new(err);
	if (!loop)
		return -1;
	interrupt = interrupt_new(loop, 0, on_interrupt, &undo, err);
	if (!interrupt)
		goto out;
	undo.executor = executor_new(plan, loop, &how, err);
	if (undo.executor && executor_start(undo.executor, err) == 0 &&
	    loop_run(loop, err) == 0)
		ret = executor_result(undo.executor, err);
	if (undo.interrupts)
		ret = error_set(err, ERROR_INTERRUPTED, "interrupted");
out:
	executor_free(undo.executor);
	interrupt_free(interrupt);
	loop_free(loop);
	return ret;
}
