/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor process of a run.  It takes the run over, handles signals and
 * the end of its guard, has the run attempted (run_context.h) until its end is
 * final (restart.h), and has everything recorded.
 */
#include "core/supervise/supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/checkpoint/log_uploader.h"
#include "core/process/process.h"
#include "core/process/reserve.h"
#include "core/spec/restart.h"
#include "core/process/run_lock.h"
#include "core/supervise/hosts.h"
#include "core/supervise/left_hosts.h"
#include "core/supervise/supervisor_internal.h"
#include "core/supervise/supervisor_process.h"

static void end_loop(struct supervisor *s)
{
	s->over = true;
	loop_stop(s->loop);
}

static void on_state_changed(void *arg)
{
	struct supervisor *s = arg;

	s->run.state = attempt_state(s->context.attempt);
	/* After a takeover the start time is known already. */
	if (s->run.state == RUN_RUNNING && !s->run.start_time_ms) {
		s->run.start_time_ms = time_now_ms();
		if (!s->running_since_ms)
			s->running_since_ms = s->run.start_time_ms;
	}
	if (s->run.state == RUN_CANCELLING)
		s->run.error = attempt_outcome(s->context.attempt).why;
	if (s->run.state == RUN_RUNNING && s->allocation)
		allocation_watch(s->allocation);
	recorder_run(&s->context.recorder);
}

static void on_progress(void *arg, size_t ready, size_t count)
{
	struct supervisor *s = arg;

	/* While one waits, what for is more important. */
	if (attempt_state(s->context.attempt) != RUN_PREPARING ||
	    s->run.state == RUN_QUEUED)
		return;
	snprintf(s->progress, sizeof(s->progress), "%zu/%zu hosts ready", ready,
		 count);
	s->run.note = s->progress;
	supervisor_publish(s->store, &s->run);
}

static void on_waits_there(void *arg, const char *what)
{
	struct supervisor *s = arg;

	if (attempt_state(s->context.attempt) == RUN_PREPARING)
		supervisor_wait_for_hosts(s, what);
}

/* Returns what is left of the time limit, which is for all attempts
 * together. */
static int64_t running_limit(const struct supervisor *s)
{
	int64_t limit_ms = s->context.spec.max_running_time_s * INT64_C(1000);
	int64_t used_ms =
		s->running_since_ms ? time_now_ms() - s->running_since_ms : 0;

	if (!limit_ms || used_ms <= 0)
		return limit_ms;
	return used_ms < limit_ms ? limit_ms - used_ms : 1;
}

void supervisor_attempt(struct supervisor *s)
{
	/* A run taken over from an earlier process may be cancelling
	 * already. */
	bool cancelling = s->run.state == RUN_CANCELLING;

	s->run.not_before_ms = 0;
	if (s->tuner) {
		tuner_begin(s->tuner);
		return;
	}
	run_context_begin(&s->context, running_limit(s));
	if (cancelling)
		attempt_cancel(s->context.attempt, "cancelled", false);
}

/* Begins an attempt.  Machines cannot be created from within the loop, so it is
 * stopped for that.  A cancelled run gets no new machines; the machines it
 * already has are still asked. */
void supervisor_begin(struct supervisor *s)
{
	bool cancelling = s->run.state == RUN_CANCELLING;

	if (s->allocation && cancelling && !s->context.spec.hosts.names.count) {
		supervisor_stop_waiting(s, RUN_CANCELLED, "cancelled");
		return;
	}
	if (!s->allocation || cancelling) {
		supervisor_attempt(s);
		return;
	}
	s->wants_machines = true;
	loop_stop(s->loop);
}

static void on_next(void *arg, uint32_t events)
{
	struct supervisor *s = arg;

	(void)events;
	s->next_timer = NULL;
	supervisor_begin(s);
}

static void wait_for_next(struct supervisor *s)
{
	int64_t delay_ms = s->run.not_before_ms - time_now_ms();

	s->next_timer = loop_add_timer(s->loop, delay_ms > 0 ? delay_ms : 0,
				       on_next, s);
}

void supervisor_stop_waiting(struct supervisor *s, enum run_state state,
			     const char *why)
{
	loop_remove(s->loop, s->next_timer);
	s->next_timer = NULL;
	s->waits = false;
	s->run.note = NULL;
	s->run.state = state;
	snprintf(s->why, sizeof(s->why), "%s", why);
	s->run.error = s->why;
	/* Drop the changes of the previous attempt. */
	s->context.recorder.count = 0;
	end_loop(s);
}

/* Records the end of an attempt. */
static void set_end(struct supervisor *s, const char *why_not)
{
	struct attempt_outcome outcome = attempt_outcome(s->context.attempt);

	run_context_end(&s->context);
	s->run.state = attempt_state(s->context.attempt);
	s->run.end_time_ms = time_now_ms();
	s->run.exit_code = outcome.exit_code;
	s->run.error = outcome.why;
	if (outcome.why && *why_not) {
		snprintf(s->why, sizeof(s->why), "%s (not restarted: %s)",
			 outcome.why, why_not);
		s->run.error = s->why;
	}
}

/* Prepares the folder of the next attempt for its logs and for readers. */
static int prepare_next(void *arg, const char *folder, int attempt,
			struct error *err)
{
	struct supervisor *s = arg;
	struct run_spec next = s->context.spec;

	next.folder = folder;
	next.attempt = attempt;
	return spec_write(&next, err);
}

static int add_next(struct supervisor *s,
		    const struct restart_decision *decision, struct error *err)
{
	struct run_record next = {
		.restarts = decision->counts.failures,
		.preemptions = decision->counts.preemptions,
		.not_before_ms = time_now_ms() + decision->delay_ms,
	};
	char *folder;

	if (recorder_next(&s->context.recorder, &next, prepare_next, s, err) <
	    0)
		return -1;
	s->run = next;
	if (s->log_uploader)
		log_uploader_attempt(s->log_uploader, next.attempt);
	folder = store_run_folder(s->store, next.job_id, next.attempt);
	s->context.spec.folder = arena_strdup(s->mem, folder);
	s->context.spec.attempt = next.attempt;
	free(folder);
	return 0;
}

static void on_ended(void *arg)
{
	struct supervisor *s = arg;
	struct attempt_outcome outcome = attempt_outcome(s->context.attempt);
	const struct restart_counts counts = { s->run.restarts,
					       s->run.preemptions };
	struct restart_decision decision;
	struct error err;
	bool is_lost;

	restart_decide(&s->context.spec.restart, &counts, &outcome, &decision);
	/* Without a guard nobody would clean up after us.  A user who cancels
	 * while a failed attempt ends wants no other attempt. */
	if ((!s->guard_event && !spec_is_elsewhere(&s->context.spec)) ||
	    s->cancelled)
		decision.again = false;
	/* Another owner ends our tasks, so how they ended says little. */
	is_lost = (outcome.cause == OUTCOME_TASK ||
		   outcome.cause == OUTCOME_LOST) &&
		  !s->cancelled && claim_keeper_is_lost(s->claim);
	decision.again = decision.again && !is_lost;
	set_end(s, decision.why_not);
	if (is_lost)
		s->run.error = "another owner has claimed the job";
	if (s->allocation)
		allocation_unwatch(s->allocation);
	if (!decision.again) {
		end_loop(s);
	} else if (add_next(s, &decision, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		end_loop(s);
	} else {
		wait_for_next(s);
	}
}

static void on_tuner_changed(void *arg)
{
	struct supervisor *s = arg;

	s->run.state = tuner_state(s->tuner);
	s->run.error = tuner_why(s->tuner);
	if (s->run.state == RUN_RUNNING && !s->run.start_time_ms)
		s->run.start_time_ms = time_now_ms();
	recorder_run(&s->context.recorder);
}

static void on_tuner_ended(void *arg)
{
	struct supervisor *s = arg;

	s->run.state = tuner_state(s->tuner);
	s->run.error = tuner_why(s->tuner);
	s->run.exit_code = tuner_exit_code(s->tuner);
	end_loop(s);
}

static const struct tuner_hooks tuner_hooks = {
	.changed = on_tuner_changed,
	.ended = on_tuner_ended,
};

/* Cancels the run; the second time at once, without grace. */
static void cancel(struct supervisor *s, bool now)
{
	s->cancelled = true;
	if (s->reconciling)
		hosts_hurry(s->context.backend);
	else if (s->getting)
		allocation_interrupt(s->allocation);
	else if (s->wants_machines)
		return; /* checked before the next step */
	else if (s->next_timer || s->waits)
		supervisor_stop_waiting(s, RUN_CANCELLED, "cancelled");
	else if (s->tuner && !run_state_is_final(s->run.state))
		tuner_cancel(s->tuner, "cancelled",
			     now || s->run.state == RUN_CANCELLING);
	else if (!run_state_is_final(s->run.state) && s->context.attempt)
		attempt_cancel(s->context.attempt, "cancelled",
			       now || s->run.state == RUN_CANCELLING);
}

static void on_signal(void *arg, uint32_t events)
{
	struct supervisor *s = arg;
	struct signalfd_siginfo info;

	(void)events;
	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reaper_run(s->reaper);
		else if (info.ssi_signo != SIGHUP)
			cancel(s, info.ssi_signo == SIGINT);
	}
}

static void on_guard(void *arg, uint32_t events)
{
	struct supervisor *s = arg;

	(void)events;
	loop_remove(s->loop, s->guard_event);
	s->guard_event = NULL;
	/* Tasks on hosts need no guard here: they go on even without us. */
	if (spec_is_elsewhere(&s->context.spec))
		return;
	if (s->next_timer || s->waits)
		supervisor_stop_waiting(s, RUN_FAILED,
					"the run's guard was killed");
	else if (s->tuner && !run_state_is_final(s->run.state))
		tuner_fail(s->tuner, "the run's guard was killed");
	else if (!run_state_is_final(s->run.state))
		attempt_fail(s->context.attempt, "the run's guard was killed");
}

/* Releases machines and copies the last logs when the run is over. */
static void end_all(struct supervisor *s)
{
	if (!s->allocation && !s->log_uploader)
		return;
	/* Machines come first, as they cost money. */
	if (s->allocation)
		supervisor_release_machines(s);
	supervisor_keep_end(s);
	claim_keeper_end(s->claim, &s->run);
	s->claim = NULL;
	supervisor_keep_last_logs(s);
	supervisor_mark(s->context.spec.home, false);
	s->run.note = NULL;
	supervisor_publish(s->store, &s->run);
}

/* Ends what may still run on hosts as soon as they can be reached.  Machines
 * created for the run are gone by now. */
static void reconcile(struct supervisor *s)
{
	struct error err;

	if (s->tuner || s->allocation || !left_hosts_any(s->context.spec.home))
		return;
	s->reconciling = true;
	if (run_context_reconcile(&s->context, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	s->reconciling = false;
}

/* Returns -1 if the end could not be recorded. */
static int finish(struct supervisor *s)
{
	struct error err;

	supervisor_leave_queue(s);
	reserve_drop(s->context.spec.home);
	s->run.end_time_ms = time_now_ms();
	if (s->allocation || s->log_uploader)
		supervisor_mark(s->context.spec.home, true);
	if (recorder_end(&s->context.recorder, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	end_all(s);
	reconcile(s);
	return 0;
}

static int watch_signals_and_guard(struct supervisor *s, pid_t guard,
				   struct error *err)
{
	s->signal_fd = signalfd(-1, &s->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signal_fd < 0)
		return error_errno(err, "cannot receive signals");
	if (!loop_add_fd(s->loop, s->signal_fd, EPOLLIN, on_signal, s, err))
		return -1;
	s->guard_fd = (int)syscall(SYS_pidfd_open, guard, 0);
	if (s->guard_fd < 0)
		return error_errno(err, "cannot watch the run's guard");
	/* The pid is certain to be the guard's only while it is our parent. */
	if (getppid() != guard)
		return error_set(err, ERROR_FAILED,
				 "the run's guard was killed");
	s->guard_event =
		loop_add_fd(s->loop, s->guard_fd, EPOLLIN, on_guard, s, err);
	return s->guard_event ? 0 : -1;
}

static int read_run(struct supervisor *s, const char *job_id, int attempt,
		    struct error *err)
{
	struct run_record first;
	char *folder;
	int ret;

	s->store = store_open(err);
	if (!s->store)
		return -1;
	if (supervisor_newest(s->store, job_id, attempt, s->mem, &s->run,
			      err) != 0)
		return error_set(err, ERROR_FAILED, "run %s.%d is not recorded",
				 job_id, attempt);
	if (store_run_get(s->store, job_id, s->run.origin, s->mem, &first,
			  err) == 0)
		s->running_since_ms = first.start_time_ms;
	folder = store_run_folder(s->store, job_id, s->run.attempt);
	ret = spec_read(folder, s->mem, &s->context.spec, err);
	free(folder);
	s->over = run_state_is_final(s->run.state);
	/* A command that looked before we had the lock may have abandoned the
	 * run. */
	if (ret == 0 && s->over &&
	    !supervisor_is_marked(s->context.spec.home) &&
	    !left_hosts_any(s->context.spec.home))
		return error_set(err, ERROR_FAILED,
				 "run %s.%d took too long to start", job_id,
				 attempt);
	return ret;
}

/* Opens the tuner: each trial has a context of its own, the run's record stays
 * here. */
static void open_tuner(struct supervisor *s)
{
	const struct tuner_deps deps = { .context = &s->deps,
					 .spec = &s->context.spec,
					 .run = &s->run,
					 .mem = s->mem };

	s->context.recorder = (struct recorder){ .store = s->store,
						 .loop = s->loop,
						 .run = &s->run };
	s->tuner = tuner_new(&deps, &tuner_hooks, s);
}

static int take_over(struct supervisor *s, const struct supervisor_start *start,
		     pid_t guard, struct error *err)
{
	struct error ignored;

	if (read_run(s, start->job_id, start->attempt, err) < 0)
		return -1;
	s->no_files = reserve_files();
	s->reaper = reaper_new();
	s->loop = loop_new(err);
	if (!s->loop || watch_signals_and_guard(s, guard, err) < 0 ||
	    supervisor_open_machines(s, start->providers, err) < 0)
		return -1;
	s->schemes = start->schemes;
	supervisor_keep_logs(s, start->schemes);
	if (s->over && !left_hosts_any(s->context.spec.home))
		return run_lock_set_pid(SUPERVISOR_LOCK_FD, getpid(), err);
	s->deps = (struct run_context_deps){ .store = s->store,
					     .loop = s->loop,
					     .reaper = s->reaper,
					     .no_files = &s->no_files };
	s->context.deps = &s->deps;
	s->context.run = &s->run;
	s->context.state_changed = on_state_changed;
	s->context.ended = on_ended;
	s->context.progress = on_progress;
	s->context.waits = on_waits_there;
	s->context.arg = s;
	if (s->context.spec.tuning.params.count)
		open_tuner(s);
	else if (run_context_open(&s->context, s->mem, err) < 0)
		return -1;
	if (run_lock_set_pid(SUPERVISOR_LOCK_FD, getpid(), err) < 0)
		return -1;
	/* A resumed run began long ago and goes on without a reserve. */
	if (!s->over) {
		reserve_take(s->context.spec.home, &ignored);
		supervisor_keep_claim(s);
	}
	return 0;
}

/* Writes the first record, and only then reports that the run has begun. */
static void report(struct supervisor *s)
{
	struct error err;

	if (recorder_flush(&s->context.recorder, &err) < 0)
		fprintf(stderr, "cannot record the run: %s\n", err.text);
	if (write(SUPERVISOR_REPORT_FD, &(char){ SUPERVISOR_READY }, 1) < 0)
		fprintf(stderr, "nobody waits for this run to start\n");
	close(SUPERVISOR_REPORT_FD);
}

/* Runs until the run has a final end. */
static int go_on(struct supervisor *s, struct error *err)
{
	while (!s->over) {
		if (s->wants_machines)
			supervisor_get_machines(s);
		else if (loop_run(s->loop, err) < 0)
			return -1;
	}
	return 0;
}

/* Does the rest for a run whose end an earlier process recorded before it was
 * killed. */
static int only_release(struct supervisor *s)
{
	if (write(SUPERVISOR_REPORT_FD, &(char){ SUPERVISOR_READY }, 1) < 0)
		fprintf(stderr, "nobody waits for it\n");
	close(SUPERVISOR_REPORT_FD);
	end_all(s);
	reconcile(s);
	return 0;
}

static int supervise(struct supervisor *s)
{
	struct error err;

	if (supervisor_enter_queue(s)) {
		if (s->run.not_before_ms)
			wait_for_next(s);
		else
			supervisor_begin(s);
	}
	report(s);
	/* If even that fails, the guard cleans up. */
	if (go_on(s, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return finish(s) < 0 ? SUPERVISOR_UNRECORDED : 0;
}

int supervisor_run(const struct supervisor_start *start, pid_t guard)
{
	struct supervisor s = { .mem = arena_new(),
				.signals = *start->signals,
				.signal_fd = -1,
				.guard_fd = -1 };
	struct error err = { 0 };
	struct error ignored;
	int ret = 1;

	setpgid(0, 0);
	prctl(PR_SET_NAME, "jobrun");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (take_over(&s, start, guard, &err) == 0) {
		ret = s.over ? only_release(&s) : supervise(&s);
	} else {
		/* Our parent may be gone, so we write the record. */
		if (s.store)
			supervisor_abandon(s.store, start->job_id,
					   start->attempt, err.text, &ignored);
		if (write(SUPERVISOR_REPORT_FD, err.text, strlen(err.text)) < 0)
			fprintf(stderr, "%s\n", err.text);
	}
	claim_keeper_end(s.claim, NULL);
	supervisor_keep_last_logs(&s);
	supervisor_leave_queue(&s);
	tuner_free(s.tuner);
	run_context_done(&s.context);
	allocation_close(s.allocation);
	loop_free(s.loop);
	reaper_free(s.reaper);
	if (s.signal_fd >= 0)
		close(s.signal_fd);
	if (s.guard_fd >= 0)
		close(s.guard_fd);
	store_close(s.store);
	arena_free(s.mem);
	return ret;
}
