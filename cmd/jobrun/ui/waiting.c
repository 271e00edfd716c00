/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/waiting.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "cmd/jobrun/ui/interrupt.h"
#include "core/supervise/supervised.h"

#define FIRST_PAUSE 16 /* part of `poll_ms` before the second look */

struct waiting {
	struct session *session;
	struct loop *loop;
	struct arena *mem;
	struct run_record *run;
	loop_call *interrupt;
	void *arg;
	struct loop_event *timer;
	struct loop_event *reader;
	/* Until the next look: short at first, as what was just asked for may
	 * be done at once, then doubled up to the provider's `poll_ms`. */
	int pause_ms, poll_ms;
	int watch;
	/* Resources of an ended run that may not be deleted yet. */
	const struct resource *releases;
	void *ctx;
	bool over;
	int result;
	struct error err;
};

/* Looks whether a run whose attempt has ended is restarted. */
static void look_further(struct waiting *w)
{
	enum wait_state state = WAIT_DONE;
	int ret;

	do {
		ret = store_run_after(w->session->env.store, w->run, w->mem,
				      w->run, &w->err);
	} while (ret == 0 && run_state_is_final(w->run->state));
	if (ret == 0)
		return;
	if (ret > 0 && w->releases)
		ret = w->releases->kind->wait(w->ctx, w->releases, &state,
					      &w->err);
	if (ret >= 0 && state == WAIT_PENDING)
		return;
	w->over = true;
	w->result = ret < 0 ? -1 : 0;
	loop_stop(w->loop);
}

static void look(struct waiting *w)
{
	if (session_refresh(w->session, w->mem, w->run, &w->err) < 0) {
		w->result = -1;
		loop_stop(w->loop);
	} else if (run_state_is_final(w->run->state)) {
		look_further(w);
	} else if (w->session->app->out_closed) {
		w->result = 0;
		loop_stop(w->loop);
	}
}

static void on_timer(void *arg, uint32_t events)
{
	struct waiting *w = arg;

	(void)events;
	w->pause_ms *= 2;
	if (w->pause_ms > w->poll_ms)
		w->pause_ms = w->poll_ms;
	w->timer = loop_add_timer(w->loop, w->pause_ms, on_timer, w);
	look(w);
}

static void on_watch(void *arg, uint32_t events)
{
	struct waiting *w = arg;
	char drop[4096];

	(void)events;
	while (read(w->watch, drop, sizeof(drop)) > 0)
		;
	look(w);
}

/* Stops when a terminal has hung up, or the other end of a pipe was closed. */
static void on_reader_gone(void *arg, uint32_t events)
{
	struct waiting *w = arg;

	(void)events;
	loop_remove(w->loop, w->reader);
	w->reader = NULL;
	w->session->app->out_closed = true;
	look(w);
}

static void on_timeout(void *arg, uint32_t events)
{
	struct waiting *w = arg;

	(void)events;
	w->result = ERROR_TIMEOUT;
	loop_stop(w->loop);
}

static void on_signal(void *arg, uint32_t number)
{
	struct waiting *w = arg;

	w->result = ERROR_INTERRUPTED;
	w->interrupt(w->arg, number);
}

static bool has_releases(const struct provider *provider,
			 const struct resource *resource)
{
	return provider_makes_for_runs(provider) ||
	       resource->kind == &kind_supervised_run;
}

bool waiting_is_needed(const struct run_record *run)
{
	const struct provider *provider;
	struct resource resource = session_resource(run, &provider);

	return !run_state_is_final(run->state) ||
	       (provider && has_releases(provider, &resource));
}

int waiting_run(struct session *session, struct loop *loop, struct arena *mem,
		struct run_record *run, long timeout_s, loop_call *interrupt,
		void *arg, struct error *err)
{
	const struct provider *provider;
	struct resource resource = session_resource(run, &provider);
	struct waiting w = { .session = session,
			     .loop = loop,
			     .mem = mem,
			     .run = run,
			     .interrupt = interrupt,
			     .arg = arg,
			     .watch = -1,
			     .result = -1 };
	struct loop_event *watch = NULL, *timeout = NULL;
	struct interrupt *signals;
	void *ctx;

	ctx = provider ? session_context(session, provider, err) : NULL;
	if (!ctx)
		return -1;
	signals = interrupt_new(loop, 0, on_signal, &w, err);
	if (!signals)
		return -1;
	if (has_releases(provider, &resource)) {
		w.releases = &resource;
		w.ctx = ctx;
	}
	w.poll_ms = resource.kind->poll_ms ? resource.kind->poll_ms : 1000;
	w.pause_ms = w.poll_ms / FIRST_PAUSE + 1;
	if (resource.kind->watch &&
	    resource.kind->watch(ctx, &resource, &w.watch, &w.err) == 0)
		watch = loop_add_fd(loop, w.watch, EPOLLIN, on_watch, &w,
				    &w.err);
	w.timer = loop_add_timer(loop, w.pause_ms, on_timer, &w);
	if (session->app->only_shows)
		w.reader = loop_add_fd(loop, STDOUT_FILENO, 0, on_reader_gone,
				       &w, &w.err);
	if (timeout_s >= 0)
		timeout =
			loop_add_timer(loop, timeout_s * 1000, on_timeout, &w);
	/* The run may have ended before the watch began. */
	look(&w);
	if (!w.over && loop_run(loop, &w.err) < 0)
		w.result = -1;
	if (w.result == ERROR_TIMEOUT)
		timeout = NULL;
	loop_remove(loop, timeout);
	loop_remove(loop, w.timer);
	loop_remove(loop, w.reader);
	loop_remove(loop, watch);
	if (w.watch >= 0)
		close(w.watch);
	interrupt_free(signals);
	if (w.result < 0)
		*err = w.err;
	return w.result;
}
