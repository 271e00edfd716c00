/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/leaving.h"

#include <signal.h>
#include <stdlib.h>

#include "cmd/jobrun/ui/interrupt.h"
#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/job/job.h"
#include "core/job/traits.h"

/* Within this time a second Ctrl-C ends the runs. */
#define AGAIN_MS 3000

struct leaving {
	struct app *app;
	struct loop *loop;
	struct tally *tally;
	struct executor *executor;
	struct interrupt *interrupt;
	struct loop_event *again; /* a second Ctrl-C counts until then */
	bool *follows;            /* by index of the action */
	size_t remote, local;     /* number of such runs */
	bool left;
	bool hung_up;
	bool interrupted; /* by Ctrl-C or a cancel */
	int cancels;
};

/* ---- which runs -------------------------------------------------------- */

static bool is_remote(const struct action *action)
{
	return !(action->job->provider->traits & TRAIT_THIS_MACHINE) ||
	       action->job->job->jobrun.hosts.count;
}

static bool goes_on(const struct leaving *leaving, const struct action *action)
{
	return leaving->hung_up || is_remote(action);
}

/* Writes what costs money while the run goes on: "3 machines, 12 cores, …". */
static void add_bill(const struct action *action, struct buf *out)
{
	const struct plan_job *job = action->job;

	if (!(job->provider->traits & TRAIT_GOOGLE_CLOUD))
		return;
	buf_puts(out, "; it is billed until it ends");
	if (job->estimate) {
		buf_puts(out, ": ");
		estimate_text(job->estimate, out);
	}
}

static void say_left(const struct leaving *leaving, const struct action *action)
{
	const char *name = action_resource(action)->name;
	struct buf bill = { 0 };

	add_bill(action, &bill);
	app_say(leaving->app,
		"%s: continues; 'jobrun logs -f %s' follows it, 'jobrun cancel "
		"%s' stops it%s",
		name, name, name, buf_text(&bill));
	buf_done(&bill);
}

/* ---- signals ----------------------------------------------------------- */

static void cancel(struct leaving *leaving)
{
	leaving->interrupted = true;
	leaving->cancels++;
	app_say(leaving->app, leaving->cancels == 1
				      ? "cancelling; press Ctrl-C again to "
					"kill at once"
				      : "killing");
	executor_cancel(leaving->executor, leaving->cancels > 1);
}

static bool leaves(void *arg, const struct action *action)
{
	return goes_on(arg, action);
}

static void leave(struct leaving *leaving)
{
	leaving->left = true;
	if (!leaving->hung_up && (leaving->local || !leaving->remote))
		cancel(leaving);
	executor_leave(leaving->executor, leaves, leaving);
}

static void on_again_over(void *arg, uint32_t events)
{
	struct leaving *leaving = arg;

	(void)events;
	leaving->again = NULL;
	leaving->interrupted = true;
	leave(leaving);
}

static void on_ctrl_c(struct leaving *leaving)
{
	if (leaving->remote && !leaving->left && !leaving->again &&
	    !leaving->cancels) {
		app_say(leaving->app, "press Ctrl-C again to cancel; else runs "
				      "elsewhere continue");
		leaving->again = loop_add_timer(leaving->loop, AGAIN_MS,
						on_again_over, leaving);
		return;
	}
	loop_remove(leaving->loop, leaving->again);
	leaving->again = NULL;
	cancel(leaving);
}

static void on_signal(void *arg, uint32_t number)
{
	struct leaving *leaving = arg;

	if (!leaving->executor)
		return;
	leaving->hung_up = leaving->hung_up || number == SIGHUP;
	if ((number == SIGINT && !leaving->hung_up) || leaving->left)
		on_ctrl_c(leaving);
	else
		leave(leaving);
}

/* ---- the whole --------------------------------------------------------- */

struct leaving *leaving_new(struct app *app, struct loop *loop,
			    struct tally *tally, size_t actions,
			    struct error *err)
{
	struct leaving *leaving = mem_alloc(sizeof(*leaving));

	leaving->app = app;
	leaving->loop = loop;
	leaving->tally = tally;
	leaving->follows = mem_alloc((actions + 1) * sizeof(bool));
	leaving->interrupt =
		interrupt_new(loop, INTERRUPT_HANGUP, on_signal, leaving, err);
	if (!leaving->interrupt) {
		leaving_free(leaving);
		return NULL;
	}
	return leaving;
}

void leaving_free(struct leaving *leaving)
{
	if (!leaving)
		return;
	loop_remove(leaving->loop, leaving->again);
	interrupt_free(leaving->interrupt);
	free(leaving->follows);
	free(leaving);
}

void leaving_attach(struct leaving *leaving, struct executor *executor)
{
	leaving->executor = executor;
}

void leaving_stay(struct leaving *leaving)
{
	leaving->hung_up = true;
}

bool leaving_phase(struct leaving *leaving, const struct action *action,
		   enum action_phase phase, const struct run_status *status)
{
	size_t *count = is_remote(action) ? &leaving->remote : &leaving->local;
	bool *follows = &leaving->follows[action->index];

	if (!action_is_run(action) || !action->want)
		return false;
	if (phase == PHASE_FOLLOWING && !*follows) {
		*follows = true;
		++*count;
	}
	if (phase < PHASE_DONE || !*follows)
		return false;
	*follows = false;
	--*count;
	if (phase != PHASE_DONE || status || !leaving->left ||
	    !goes_on(leaving, action))
		return false;
	tally_leave(leaving->tally, action);
	say_left(leaving, action);
	return true;
}

int leaving_status(const struct leaving *leaving, bool done)
{
	return leaving->interrupted || (leaving->left && !done)
		       ? ERROR_INTERRUPTED
		       : 0;
}
